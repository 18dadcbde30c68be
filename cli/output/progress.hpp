#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tilerail::cli {

/// While it exists, shows "what ... " on stderr if stderr is a terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows "what ... 312 of 1000, 41 s left", at most twice per second. Not thread-safe.
  void show(size_t done, size_t all);

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& text) const;

  std::string what_;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
  size_t done_ = 0, all_ = 0;
};

}  // namespace tilerail::cli
