#include "backends/cuda/run/staging.hpp"

#include <chrono>
#include <cstring>
#include <utility>

#include "backends/cuda/run/issuer_pool.hpp"
#include "model/base/error.hpp"
#include "model/base/threads.hpp"

namespace tilerail::cuda {
namespace {

constexpr std::chrono::microseconds rest{20};

}  // namespace

Staging::Staging(const StagingChunks& chunks, std::array<StagingRing, 2> rings,
                 Copied copied, std::array<size_t, 2> threads)
    : chunks_{chunks},
      rings_{rings},
      copied_{std::move(copied)},
      stages_{Stages(chunks.of(Way::in).size()), Stages(chunks.of(Way::out).size())} {
  threads_.reserve(threads[0] + threads[1]);
  try {
    for (const Way way : {Way::in, Way::out})  // each needs one
      if (!stages(way).empty())
        threads_.push_back(start_thread([this, way] { work(way); }));
    start_more(threads);
  } catch (...) {  // started threads must not outlive this object
    stop();
    throw;
  }
}

/// Adds as many threads as possible to the first one of each direction.
void Staging::start_more(std::array<size_t, 2> threads) {
  try {
    for (const Way way : {Way::in, Way::out})
      for (size_t t = 1; t < threads[size_t(way)] && !stages(way).empty(); ++t)
        threads_.push_back(start_thread([this, way] { work(way); }));
  } catch (const ThreadShortage&) {
  }
}

Staging::~Staging() { stop(); }

void Staging::stop() {
  abandon();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Staging::wait_for(Way way, size_t chunk, int stage, bool rests) {
  const std::atomic<int>& now = stages(way)[chunk];
  const auto over = [&] {
    return abandoned_ || now.load(std::memory_order_acquire) >= stage;
  };
  if (rests)
    while (!over()) std::this_thread::sleep_for(rest);
  else
    spin_until(over);
  if (abandoned_) {
    rethrow_failure();
    throw ExecutionError{"the transfer of pageable memory was abandoned"};
  }
}

void Staging::wait_for_copy(Way way, size_t chunk) {
  while (!copied_(way, chunk)) std::this_thread::sleep_for(rest);
}

std::byte* Staging::await(Way way, size_t chunk) {
  if (way == Way::in) wait_for(way, chunk, 1, false);
  if (way == Way::out && chunk >= ring(way).slots)
    wait_for(way, chunk - ring(way).slots, 2, false);
  return ring(way).memory_of(chunk);
}

void Staging::work(Way way) {
  std::atomic<size_t>& next = next_[size_t(way)];
  try {
    for (;;) {
      const size_t chunk = next.fetch_add(1);
      if (chunk >= stages(way).size()) return;
      way == Way::in ? fill(chunk) : empty(chunk);
    }
  } catch (...) {
    {
      const std::lock_guard lock{failure_mutex_};
      if (!failure_) failure_ = std::current_exception();
    }
    abandon();
  }
}

void Staging::fill(size_t chunk) {
  if (const size_t slots = ring(Way::in).slots; chunk >= slots) {
    wait_for(Way::in, chunk - slots, 2, true);
    wait_for_copy(Way::in, chunk - slots);
  }
  const StagingChunk& c = chunks_.of(Way::in)[chunk];
  std::byte* slot = ring(Way::in).memory_of(chunk);
  for (int64_t col = 0; col < c.cols; ++col)
    std::memcpy(slot + col * c.width(), c.host + col * c.pitch, size_t(c.width()));
  set(Way::in, chunk, 1);
}

void Staging::empty(size_t chunk) {
  wait_for(Way::out, chunk, 1, true);
  wait_for_copy(Way::out, chunk);
  const StagingChunk& c = chunks_.of(Way::out)[chunk];
  const std::byte* slot = ring(Way::out).memory_of(chunk);
  for (int64_t col = 0; col < c.cols; ++col)
    std::memcpy(c.host + col * c.pitch, slot + col * c.width(), size_t(c.width()));
  set(Way::out, chunk, 2);
}

void Staging::finish() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  rethrow_failure();
}

void Staging::rethrow_failure() {
  const std::lock_guard lock{failure_mutex_};
  if (failure_) std::rethrow_exception(failure_);
}

void Staging::abandon() { abandoned_ = true; }

}  // namespace tilerail::cuda
