#include "backends/host/run/worker_pool.hpp"

#include <utility>

namespace tilerail::host {

WorkerPool::WorkerPool(std::vector<int> workers) : workers_{std::move(workers)} {
  try {
    for (int device = 0; device < devices(); ++device) {
      for (int worker = 0; worker < this->workers(device); ++worker) {
        const WorkerId id{device, worker, size()};
        threads_.emplace_back([this, id] { serve(id); });
      }
    }
  } catch (...) {  // no more threads to be had: let those that run go, or their destructors would wait for ever
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
}

void WorkerPool::run(const std::function<void(WorkerId)>& job) {
  std::unique_lock lock{mutex_};
  job_ = &job;
  running_ = size();
  ++jobs_;
  wake_.notify_all();
  finished_.wait(lock, [this] { return running_ == 0; });
  job_ = nullptr;
}

void WorkerPool::serve(WorkerId id) {
  std::uint64_t served = 0;
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [&] { return closing_ || jobs_ > served; });
    if (closing_) return;
    served = jobs_;
    const auto* job = job_;
    lock.unlock();
    (*job)(id);
    lock.lock();
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace tilerail::host
