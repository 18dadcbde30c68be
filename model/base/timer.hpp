#pragma once

#include <chrono>

namespace tilerail {

/// Measures time from its construction.
class Timer {
 public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace tilerail
