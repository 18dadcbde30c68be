#pragma once

#include <cstddef>
#include <functional>

namespace tilerail::study {

/// Threads that do tasks simultaneously.
struct Workers {
  size_t count = 1;
  /// Called after each task, by one thread at a time: how many tasks have ended, of how
  /// many.
  std::function<void(size_t, size_t)> ended = [](size_t, size_t) {};
  /// If it returns true, no further task begins.
  std::function<bool()> stop_asked = [] { return false; };
};

/// The cores that this process may use.
size_t usable_cores();

/// Calls work(0) ... work(tasks - 1), each at most once, and returns when all that have
/// begun have ended. Threads that cannot be started are done without. Throws the first
/// exception of `work`; tasks that have not begun by then are left out.
void in_parallel(const Workers& workers, size_t tasks,
                 const std::function<void(size_t)>& work);

}  // namespace tilerail::study
