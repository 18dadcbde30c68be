#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilerail::host {

/// One thread of a pool: the `worker`-th of `device`, and its number among all threads.
struct WorkerId {
  int device = 0, worker = 0, overall = 0;
};

/// Groups of threads, one group a device, created once and parked between jobs.
class WorkerPool {
 public:
  /// `workers[d]` threads for device d, at least one each.
  explicit WorkerPool(std::vector<int> workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls `job` once on every thread and returns when all have returned. `job` must not throw.
  void run(const std::function<void(WorkerId)>& job);

  int devices() const { return static_cast<int>(workers_.size()); }
  int workers(int device) const { return workers_[static_cast<std::size_t>(device)]; }
  int size() const { return static_cast<int>(threads_.size()); }

 private:
  void serve(WorkerId id);
  void close();

  std::vector<int> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  const std::function<void(WorkerId)>* job_ = nullptr;
  std::uint64_t jobs_ = 0;  // how many were started; a thread runs each once
  int running_ = 0;
  bool closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tilerail::host
