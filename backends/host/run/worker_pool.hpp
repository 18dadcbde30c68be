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

/// Groups of threads, one group per device, created once and parked between jobs.
class WorkerPool {
 public:
  /// `workers[d]` threads for device d, at least one per device. Throws ThreadShortage.
  explicit WorkerPool(std::vector<int> workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Calls `job` once on every thread and returns after all have returned. No thread
  /// starts before all are ready and the last of them has called `start`. Meanwhile, the
  /// caller's thread calls `beside`. The functions must not
  /// throw.
  void run(
      const std::function<void(WorkerId)>& job,
      const std::function<void()>& start = [] {},
      const std::function<void()>& beside = [] {});

  int devices() const { return int(workers_.size()); }
  int workers(int device) const { return workers_[size_t(device)]; }
  int size() const { return int(threads_.size()); }

 private:
  void serve(WorkerId id);
  void wait_for_all(std::unique_lock<std::mutex>& lock);
  void close();

  std::vector<int> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, all_ready_, finished_;
  const std::function<void(WorkerId)>* job_ = nullptr;
  const std::function<void()>* start_ = nullptr;
  uint64_t jobs_ = 0;     // number of submitted jobs; each thread runs each job once
  uint64_t started_ = 0;  // number of started jobs
  int ready_ = 0,
      running_ = 0;  // threads that have reached the job and have not returned from it
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tilerail::host
