#include "cost/clock.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

Clock::Clock(const Resources& resources, const Topology& topology, const Options& options)
    : resources_{resources},
      topology_{topology},
      options_{options},
      pair_free_(topology.memories().size()),
      load_(resources.count()),
      device_free_(options.devices),
      issued_(options.devices) {
  for (const Memory& memory : topology.memories()) {
    const Engines engines = memory.engines();
    for (const auto& count : {engines.h2d, engines.d2h, engines.peer})
      engines_.emplace_back(options.engines ? count.value_or(0) : 0);
  }
  engines_.emplace_back();
}

/// h2d copies use engines of the destination GPU, d2h and peer copies engines of the
/// source GPU.
size_t Clock::engines_of(const Hop& hop) const {
  const bool from_host = topology_.is_host(hop.src), to_host = topology_.is_host(hop.dst);
  if (!options_.engines || (from_host && to_host)) return engines_.size() - 1;
  if (from_host) return 3 * hop.dst.index();
  return 3 * hop.src.index() + (to_host ? 1 : 2);
}

void Clock::set_pair_free(const Hop& hop, Seconds free) {
  std::vector<Seconds>& row = pair_free_[hop.src.index()];
  row.resize(pair_free_.size());
  row[hop.dst.index()] = free;
}

Seconds Clock::run_kernel(size_t device, Seconds ready, Seconds duration) {
  if (options_.issue) {
    issued_[device] += topology_.description().issue.of_kernels();
    ready = std::max(ready, issued_[device]);
  }
  return device_free_[device] = std::max(device_free_[device], ready) + duration;
}

Clock::Arrival Clock::estimate(const Hop& hop, Bytes size, int chunks,
                               const Arrival& available) const {
  Seconds start = std::max({available.first, pair_free(hop), now_});
  const std::vector<Seconds>& engines = engines_[engines_of(hop)];
  if (!engines.empty()) start = std::max(start, std::ranges::min(engines));
  const Seconds latency = hop.cost->latency, flow = size * hop.cost->per_byte;
  Arrival arrival;
  arrival.start = start;
  arrival.first = start + latency + flow / chunks;
  arrival.pair =
      std::max(start + chunks * latency + flow, available.pair + latency + flow / chunks);
  arrival.last = std::max(arrival.pair, available.last + latency + flow / chunks);
  if (has_loads())
    for (const auto& use : hop.cost->uses) {
      const Seconds end = moved(use, start, size);
      if (options_.per_link) arrival.last = std::max(arrival.last, end);
      arrival.pressure += end.value * (size * use.per_byte).value;
    }
  return arrival;
}

void Clock::commit(const Hop& hop, Bytes size, const Arrival& arrival) {
  const Seconds end = options_.in_time ? arrival.last : arrival.pair;
  std::vector<Seconds>& engines = engines_[engines_of(hop)];
  set_pair_free(hop, end);
  if (!engines.empty()) *std::ranges::min_element(engines) = end;
  if (has_loads())
    for (const auto& use : hop.cost->uses)
      load_[use.resource] = moved(use, arrival.start, size);
}

Clock::Undo Clock::try_out(const Hop& hop, Bytes size, const Arrival& arrival) {
  const std::vector<Seconds>& engines = engines_[engines_of(hop)];
  Undo undo{hop, pair_free(hop), {engines.begin(), engines.end()}, {}};
  if (has_loads())
    for (const auto& use : hop.cost->uses) undo.loads.push_back(load_[use.resource]);
  commit(hop, size, arrival);
  return undo;
}

void Clock::take_back(const Undo& undo) {
  set_pair_free(undo.hop, undo.pair_free);
  std::ranges::copy(undo.engines, engines_[engines_of(undo.hop)].begin());
  for (const auto i : indices(undo.loads))
    load_[undo.hop.cost->uses[i].resource] = undo.loads[i];
}

}  // namespace tilerail
