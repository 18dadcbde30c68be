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
                 CopyQuery has_ended, std::array<size_t, 2> threads)
    : chunks_{chunks},
      rings_{rings},
      has_ended_{std::move(has_ended)},
      stages_{Stages(chunks.of(Direction::in).size()),
              Stages(chunks.of(Direction::out).size())} {
  threads_.reserve(threads[0] + threads[1]);
  try {
    for (const Direction direction : {Direction::in, Direction::out})  // each needs one
      if (!stages(direction).empty())
        threads_.push_back(start_thread([this, direction] { work(direction); }));
    start_more(threads);
  } catch (...) {  // started threads must not outlive this object
    stop();
    throw;
  }
}

/// Adds as many threads as possible to the first one of each direction.
void Staging::start_more(std::array<size_t, 2> threads) {
  try {
    for (const Direction direction : {Direction::in, Direction::out})
      for (size_t t = 1; t < threads[size_t(direction)] && !stages(direction).empty();
           ++t)
        threads_.push_back(start_thread([this, direction] { work(direction); }));
  } catch (const ThreadShortage&) {
  }
}

Staging::~Staging() { stop(); }

void Staging::stop() {
  abandon();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Staging::wait_for(Direction direction, size_t chunk, int stage, bool rests) {
  const std::atomic<int>& now = stages(direction)[chunk];
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

void Staging::wait_for_copy(Direction direction, size_t chunk) {
  while (!has_ended_(direction, chunk)) std::this_thread::sleep_for(rest);
}

std::byte* Staging::await(Direction direction, size_t chunk) {
  if (direction == Direction::in) wait_for(direction, chunk, 1, false);
  if (direction == Direction::out && chunk >= ring(direction).slots)
    wait_for(direction, chunk - ring(direction).slots, 2, false);
  return ring(direction).memory_of(chunk);
}

void Staging::work(Direction direction) {
  std::atomic<size_t>& next = next_[size_t(direction)];
  try {
    for (;;) {
      const size_t chunk = next.fetch_add(1);
      if (chunk >= stages(direction).size()) return;
      direction == Direction::in ? fill(chunk) : empty(chunk);
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
  if (const size_t slots = ring(Direction::in).slots; chunk >= slots) {
    wait_for(Direction::in, chunk - slots, 2, true);
    wait_for_copy(Direction::in, chunk - slots);
  }
  const StagingChunk& c = chunks_.of(Direction::in)[chunk];
  std::byte* slot = ring(Direction::in).memory_of(chunk);
  for (int64_t col = 0; col < c.cols; ++col)
    std::memcpy(slot + col * c.width(), c.host + col * c.pitch, size_t(c.width()));
  set(Direction::in, chunk, 1);
}

void Staging::empty(size_t chunk) {
  wait_for(Direction::out, chunk, 1, true);
  wait_for_copy(Direction::out, chunk);
  const StagingChunk& c = chunks_.of(Direction::out)[chunk];
  const std::byte* slot = ring(Direction::out).memory_of(chunk);
  for (int64_t col = 0; col < c.cols; ++col)
    std::memcpy(c.host + col * c.pitch, slot + col * c.width(), size_t(c.width()));
  set(Direction::out, chunk, 2);
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
