#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail {

/// The system starts no more threads for this process or user.
struct ThreadShortage : InputError {
  using InputError::InputError;
};

/// Starts a thread. `work` does not throw. Throws ThreadShortage.
std::thread start_thread(std::function<void()> work);

/// Calls work(0) ... work(parts - 1), each once, on at most so many threads, of which the
/// caller's is one. Threads that cannot be started are done without. Returns when no part
/// runs any more. Throws the first exception of `work`; parts that have not begun by then
/// are left out.
void share_work(size_t parts, size_t threads, const std::function<void(size_t)>& work);

/// The same on as many threads as parts.
inline void share_work(size_t parts, const std::function<void(size_t)>& work) {
  share_work(parts, parts, work);
}

/// Calls work(0) ... work(count - 1) simultaneously, the first on the caller's thread,
/// and returns when all have returned. Throws ThreadShortage if a thread cannot be
/// started, else the first exception of `work`; either after all threads have ended.
void run_together(size_t count, const std::function<void(size_t)>& work);

/// While it lives, start_thread and what uses it start at most so many threads. For tests
/// of what happens without.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  /// Counts one more thread; false if the limit is reached.
  static bool admits_one();
};

/// Runs `work` on a thread of its own or, if none can be started, on the thread that asks
/// for the result. The destructor of the result waits for the thread.
template <class Work>
auto in_background(Work work) {
  const std::launch either =
      std::launch::async | std::launch::deferred;  // in this order, in libstdc++
  return std::async(ThreadLimit::admits_one() ? either : std::launch::deferred,
                    std::move(work));
}

}  // namespace tilerail
