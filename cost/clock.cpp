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
std::vector<Seconds>* Clock::limited_engines_of(const Hop& hop) {
  const bool from_host = topology_.is_host(hop.src), to_host = topology_.is_host(hop.dst);
  if (from_host && to_host) return nullptr;
  const size_t role = from_host ? 0 : to_host ? 1 : 2;
  std::vector<Seconds>& engines = engines_[(role == 0 ? hop.dst : hop.src).index()][role];
  return engines.empty() ? nullptr : &engines;
}

Seconds Clock::run_kernel(size_t device, Seconds ready, Seconds duration) {
  if (options_.issue) {
    const IssueCost& cost = topology_.description().issue;
    issued_[device] += cost.per_kernel.value_or(cost.per_op);
    ready = std::max(ready, issued_[device]);
  }
  return device_free_[device] = std::max(device_free_[device], ready) + duration;
}

Clock::Arrival Clock::estimate(const Hop& hop, Bytes size, int chunks, const Arrival& available) const {
  Seconds start = std::max({available.first, pair_free(hop), now_});
  if (const auto* engines = engines_of(hop)) start = std::max(start, *std::ranges::min_element(*engines));
  const Seconds latency = hop.way->latency, flow = size * hop.way->per_byte;
  Arrival arrival;
  arrival.start = start;
  arrival.first = start + latency + flow / chunks;
  arrival.pair = std::max(start + chunks * latency + flow, available.pair + latency + flow / chunks);
  arrival.last = std::max(arrival.pair, available.last + latency + flow / chunks);
  if (has_loads())
    for (const auto& use : hop.way->uses) {
      const Seconds end = moved(use, start, size);
      if (options_.per_link) arrival.last = std::max(arrival.last, end);
      arrival.pressure += end.value * (size * use.per_byte).value;
    }
  return arrival;
}

void Clock::commit(const Hop& hop, Bytes size, const Arrival& arrival) {
  const Seconds end = options_.in_time ? arrival.last : arrival.pair;
  pair_free(hop) = end;
  if (auto* const engines = engines_of(hop)) *std::ranges::min_element(*engines) = end;
  if (has_loads())
    for (const auto& use : hop.way->uses) load_[use.resource] = moved(use, arrival.start, size);
}

Clock::Undo Clock::try_out(const Hop& hop, Bytes size, const Arrival& arrival) {
  Undo undo{hop, pair_free(hop), {}, {}};
  if (const auto* const engines = engines_of(hop)) undo.engines.assign(engines->begin(), engines->end());
  if (has_loads())
    for (const auto& use : hop.way->uses) undo.loads.push_back(load_[use.resource]);
  commit(hop, size, arrival);
  return undo;
}

void Clock::take_back(const Undo& undo) {
  pair_free(undo.hop) = undo.pair_free;
  if (auto* const engines = engines_of(undo.hop)) std::ranges::copy(undo.engines, engines->begin());
  size_t i = 0;
  if (has_loads())
    for (const auto& use : undo.hop.way->uses) load_[use.resource] = undo.loads[i++];
}

}  // namespace tilerail
