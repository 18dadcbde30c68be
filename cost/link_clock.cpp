#include "cost/link_clock.hpp"

#include <algorithm>

namespace tilerail {

LinkClock::Arrival LinkClock::estimate(MemoryId src, MemoryId dst, double bytes, int chunks, Arrival available) const {
  const double start = std::max(available.first, pair_free_[pair(src, dst)]);
  const double latency = resources_.latency(src, dst), flow = bytes * resources_.seconds_per_byte(src, dst);
  Arrival arrival;
  arrival.first = start + latency + flow / chunks;
  arrival.pair = std::max(start + chunks * latency + flow, available.pair + latency + flow / chunks);
  arrival.last = std::max(arrival.pair, available.last + latency + flow / chunks);
  if (per_link_)
    for (const auto& use : resources_.on(src, dst)) {
      const double busy = bytes * use.seconds_per_byte;
      arrival.last = std::max(arrival.last, load_[use.resource] + busy);
      arrival.pressure += (load_[use.resource] + busy) * busy;
    }
  return arrival;
}

void LinkClock::commit(MemoryId src, MemoryId dst, double bytes, Arrival arrival) {
  pair_free_[pair(src, dst)] = arrival.pair;
  if (per_link_)
    for (const auto& use : resources_.on(src, dst)) load_[use.resource] += bytes * use.seconds_per_byte;
}

LinkClock::Undo LinkClock::save(MemoryId src, MemoryId dst) const {
  Undo undo{pair_free_[pair(src, dst)], {}};
  if (per_link_)
    for (const auto& use : resources_.on(src, dst)) undo.loads.push_back(load_[use.resource]);
  return undo;
}

void LinkClock::restore(MemoryId src, MemoryId dst, const Undo& undo) {
  pair_free_[pair(src, dst)] = undo.pair_free;
  std::size_t i = 0;
  if (per_link_)
    for (const auto& use : resources_.on(src, dst)) load_[use.resource] = undo.loads[i++];
}

}  // namespace tilerail
