#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/error.hpp"

namespace tilerail {

/// The system refuses more threads for this process or user.
struct ThreadShortage : InputError {
  using InputError::InputError;
};

/// The numbers of the cores that this process may use, at least one.
std::vector<int> usable_cores();

/// Starts a thread. `work` must not throw. Throws ThreadShortage.
std::thread start_thread(std::function<void()> work);

/// Calls work(0) ... work(parts - 1), each once, on at most this many threads including
/// the caller's. Continues with fewer threads if some cannot be started. Returns when all
/// parts have ended. Throws the first exception of `work`; parts that have not begun by
/// then are skipped.
void share_work(size_t parts, size_t threads, const std::function<void(size_t)>& work);

/// The same with one thread per part.
inline void share_work(size_t parts, const std::function<void(size_t)>& work) {
  share_work(parts, parts, work);
}

/// Calls work(0) ... work(count - 1) simultaneously, the first on the caller's thread,
/// and returns when all have returned. Throws ThreadShortage if a thread cannot be
/// started, else the first exception of `work`; either after all threads have ended.
void run_together(size_t count, const std::function<void(size_t)>& work);

/// Limits the number of threads that start_thread and its callers start, until
/// destruction. For tests of thread shortage.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  /// Counts one more thread; false if the limit is reached.
  static bool admits_one();
};

/// Runs `work` on a new thread or, if none can be started, on the thread that requests
/// the result. The destructor of the result waits for the thread.
template <class Work>
auto in_background(Work work) {
  const std::launch either =
      std::launch::async | std::launch::deferred;  // tried in this order by libstdc++
  return std::async(ThreadLimit::admits_one() ? either : std::launch::deferred,
                    std::move(work));
}

}  // namespace tilerail
