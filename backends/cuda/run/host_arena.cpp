#include "backends/cuda/run/host_arena.hpp"

#include "model/base/indices.hpp"

namespace tilerail::cuda {

HostArena::~HostArena() {
  if (data_) allocator_.free(data_);
}

void HostArena::reserve(int64_t bytes) {
  if (bytes <= bytes_) return;
  auto* const made = static_cast<std::byte*>(allocator_.allocate(bytes));
  if (std::byte* const old = std::exchange(data_, made)) allocator_.free(old);
  bytes_ = bytes;
  ++number_;
}

void HostArenas::reserve(const Plan& plan, const Topology& topology) {
  for (const auto m : indices(plan.peak_bytes))
    if (plan.peak_bytes[m] > 0 && topology.is_host(MemoryId{m}))
      arenas_.try_emplace(MemoryId{m}, allocator_)
          .first->second.reserve(plan.peak_bytes[m]);
}

std::byte* HostArenas::data(MemoryId host) const {
  const auto found = arenas_.find(host);
  return found == arenas_.end() ? nullptr : found->second.data();
}

uint64_t HostArenas::number(MemoryId host) const {
  const auto found = arenas_.find(host);
  return found == arenas_.end() ? 0 : found->second.number();
}

}  // namespace tilerail::cuda
