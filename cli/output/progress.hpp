#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace tilerail::cli {

/// While it lives, and from its third second on, shows "what ... seconds" on stderr when that is a terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show_until_done();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool done_ = false;
  std::thread thread_;
};

/// Shows "what ... 312 of 1000, 41 s left" in the same way, whenever it is called. One thread at a time may call it.
class CountedProgress {
 public:
  explicit CountedProgress(std::string what);
  ~CountedProgress();
  CountedProgress(const CountedProgress&) = delete;
  CountedProgress& operator=(const CountedProgress&) = delete;

  void show(size_t done, size_t all);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_, counting_ = begin_;  // counting: of this `all`
  size_t done_ = 0, all_ = 0;
  bool visible_ = false;
};

}  // namespace tilerail::cli
