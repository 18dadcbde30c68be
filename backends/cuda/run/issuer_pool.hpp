#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace tilerail::cuda {

/// Threads that are created once and parked between runs.
class IssuerPool {
 public:
  IssuerPool() = default;
  ~IssuerPool();
  IssuerPool(const IssuerPool&) = delete;
  IssuerPool& operator=(const IssuerPool&) = delete;

  /// Adds threads until there are `threads`. Throws ThreadShortage; the pool then has as
  /// many threads as the system allowed.
  void grow(size_t threads);

  /// Calls job(0) ... job(count - 1), each on a separate thread, and returns when all
  /// have returned. `job` must not throw; `count` threads must exist.
  void run(size_t count, const std::function<void(size_t)>& job);

 private:
  void work(size_t index, uint64_t seen);

  std::vector<std::thread> threads_;
  const std::function<void(size_t)>* job_ = nullptr;
  size_t count_ = 0;
  std::atomic<uint64_t> generation_{0};
  std::atomic<size_t> running_{0};
  bool stop_ = false;
};

/// Waits until `ready()`: spins at first, then lets other threads run.
template <class Ready>
void spin_until(Ready ready) {
  for (int spins = 0; !ready();) {
    if (++spins < 1000) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace tilerail::cuda
