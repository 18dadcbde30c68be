#include "backends/cuda/run/issuer_pool.hpp"

#include "model/base/threads.hpp"

namespace tilerail::cuda {

IssuerPool::~IssuerPool() {
  stop_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void IssuerPool::grow(size_t threads) {
  threads_.reserve(threads);
  while (threads_.size() < threads) {
    const size_t index = threads_.size();
    threads_.push_back(
        start_thread([this, index, seen = generation_.load()] { work(index, seen); }));
  }
}

void IssuerPool::run(size_t count, const std::function<void(size_t)>& job) {
  job_ = &job;
  count_ = count;
  running_.store(threads_.size(), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  spin_until([this] { return running_.load(std::memory_order_acquire) == 0; });
}

void IssuerPool::work(size_t index, uint64_t seen) {
  for (;;) {
    generation_.wait(seen, std::memory_order_acquire);
    ++seen;
    if (stop_) return;
    if (index < count_) (*job_)(index);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace tilerail::cuda
