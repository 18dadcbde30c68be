#include "backends/host/run/worker_pool.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "model/base/threads.hpp"

namespace tilerail::host {

WorkerPool::WorkerPool(std::vector<int> workers) : workers_{std::move(workers)} {
  const int wanted = std::accumulate(workers_.begin(), workers_.end(), 0);
  threads_.reserve(size_t(wanted));
  try {
    for (int device = 0; device < devices(); ++device) {
      for (int worker = 0; worker < this->workers(device); ++worker) {
        const WorkerId id{device, worker, size()};
        threads_.push_back(start_thread([this, id] { serve(id); }));
      }
    }
  } catch (const ThreadShortage& error) {  // running threads would wait forever
    const int started = size();
    close();
    throw ThreadShortage{
        "the host backend",
        {},
        fmt::format("{} of {} worker threads: {}", started, wanted, error.what())};
  } catch (...) {
    close();
    throw;
  }
}

WorkerPool::~WorkerPool() { close(); }

void WorkerPool::close() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerPool::run(const std::function<void(WorkerId)>& job,
                     const std::function<void()>& start,
                     const std::function<void()>& beside) {
  std::unique_lock lock{mutex_};
  job_ = &job;
  start_ = &start;
  ready_ = 0;
  running_ = size();
  ++jobs_;
  wake_.notify_all();
  lock.unlock();
  beside();
  lock.lock();
  finished_.wait(lock, [this] { return running_ == 0; });
  job_ = nullptr;
  start_ = nullptr;
}

/// Uses a mutex and a condition variable instead of std::barrier: a barrier is made of
/// atomic operations and futexes, in which helgrind detects no order, so it would report
/// everything that `start` writes.
void WorkerPool::wait_for_all(std::unique_lock<std::mutex>& lock) {
  const uint64_t job = jobs_;
  if (++ready_ < size()) return all_ready_.wait(lock, [&] { return started_ == job; });
  (*start_)();
  started_ = job;
  all_ready_.notify_all();
}

void WorkerPool::serve(WorkerId id) {
  uint64_t served = 0;
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [&] { return closing_ || jobs_ > served; });
    if (closing_) return;
    served = jobs_;
    wait_for_all(lock);
    const auto* job = job_;
    lock.unlock();
    (*job)(id);
    lock.lock();
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace tilerail::host
