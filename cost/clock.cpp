#include "cost/clock.hpp"

#include <algorithm>

namespace tilerail {

Clock::Clock(const Resources& resources, const Topology& topology, const Options& options)
    : resources_{resources},
      topology_{topology},
      options_{options},
      pair_free_(topology.memories().size()),
      load_(resources.count()),
      device_free_(options.devices),
      issued_(options.devices) {
  if (!options.engines) return;
  for (const Memory& memory : topology.memories()) {
    auto& roles = engines_.emplace_back();
    const auto count = [](std::optional<int> engines) { return std::vector<Seconds>(engines.value_or(0)); };
    roles = {count(memory.engines.h2d), count(memory.engines.d2h), count(memory.engines.peer)};
  }
}

/// h2d copies use engines of the GPU that they reach, d2h and peer copies of the GPU that they leave.
std::vector<Seconds>* Clock::engines_of(MemoryId src, MemoryId dst) {
  if (!options_.engines || (topology_.is_host(src) && topology_.is_host(dst))) return nullptr;
  const std::size_t role = topology_.is_host(src) ? 0 : topology_.is_host(dst) ? 1 : 2;
  std::vector<Seconds>& engines = engines_[(role == 0 ? dst : src).index()][role];
  return engines.empty() ? nullptr : &engines;
}

Seconds Clock::run_kernel(std::size_t device, Seconds ready, Seconds duration) {
  if (options_.issue) {
    const IssueCost& cost = topology_.description().issue;
    issued_[device] += cost.per_kernel.value_or(cost.per_op);
    ready = std::max(ready, issued_[device]);
  }
  return device_free_[device] = std::max(device_free_[device], ready) + duration;
}

Clock::Arrival Clock::estimate(MemoryId src, MemoryId dst, Bytes size, int chunks, Arrival available) const {
  Seconds start = std::max(available.first, pair_free(src, dst));
  if (options_.engines)
    if (const auto* engines = engines_of(src, dst)) start = std::max(start, *std::ranges::min_element(*engines));
  const Seconds latency = resources_.latency(src, dst), flow = size * resources_.per_byte(src, dst);
  Arrival arrival;
  arrival.first = start + latency + flow / chunks;
  arrival.pair = std::max(start + chunks * latency + flow, available.pair + latency + flow / chunks);
  arrival.last = std::max(arrival.pair, available.last + latency + flow / chunks);
  if (options_.per_link)
    for (const auto& use : resources_.on(src, dst)) {
      const Seconds busy = size * use.per_byte;
      arrival.last = std::max(arrival.last, load_[use.resource] + busy);
      arrival.pressure += (load_[use.resource] + busy).value * busy.value;
    }
  return arrival;
}

void Clock::commit(MemoryId src, MemoryId dst, Bytes size, Arrival arrival) {
  pair_free(src, dst) = arrival.pair;
  if (options_.engines)
    if (auto* const engines = engines_of(src, dst)) *std::ranges::min_element(*engines) = arrival.pair;
  if (options_.per_link)
    for (const auto& use : resources_.on(src, dst)) load_[use.resource] += size * use.per_byte;
}

Clock::Undo Clock::save(MemoryId src, MemoryId dst) const {
  Undo undo{pair_free(src, dst), {}, {}};
  if (const auto* engines = engines_of(src, dst)) undo.engines.assign(engines->begin(), engines->end());
  if (options_.per_link)
    for (const auto& use : resources_.on(src, dst)) undo.loads.push_back(load_[use.resource]);
  return undo;
}

void Clock::restore(MemoryId src, MemoryId dst, const Undo& undo) {
  pair_free(src, dst) = undo.pair_free;
  if (auto* const engines = engines_of(src, dst)) std::ranges::copy(undo.engines, engines->begin());
  std::size_t i = 0;
  if (options_.per_link)
    for (const auto& use : resources_.on(src, dst)) load_[use.resource] = undo.loads[i++];
}

}  // namespace tilerail
