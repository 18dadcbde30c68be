#pragma once

#include <cstddef>
#include <functional>

namespace tilerail::study {

/// Threads that run tasks simultaneously.
struct Workers {
  size_t count = 1;
  /// Called after each task, by one thread at a time: completed tasks, all tasks.
  std::function<void(size_t, size_t)> ended = [](size_t, size_t) {};
  /// If it returns true, no further task begins.
  std::function<bool()> stop_asked = [] { return false; };
};

/// Calls work(0) ... work(tasks - 1), each at most once, and returns when all started
/// tasks have ended. Threads that fail to start are ignored. After an exception of
/// `work`, no further task starts, and the first exception is thrown.
void in_parallel(const Workers& workers, size_t tasks,
                 const std::function<void(size_t)>& work);

}  // namespace tilerail::study
