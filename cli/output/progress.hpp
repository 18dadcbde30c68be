#pragma once

#include <condition_variable>
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

}  // namespace tilerail::cli
