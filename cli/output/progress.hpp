#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tilerail::cli {

/// While it lives, shows "what ... " on stderr when that is a terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows "what ... 312 of 1000, 41 s left", twice a second at most. One thread at a
  /// time may call it.
  void show(size_t done, size_t all);

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& text) const;

  std::string what_;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
  size_t done_ = 0, all_ = 0;
};

}  // namespace tilerail::cli
