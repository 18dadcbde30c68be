#include "model/published/link_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

/// What one of two copies gets that share a capacity: half of it, and what the other copy cannot take. `own` and
/// `other` are their rates alone.
Rate fair_share(Rate capacity, Rate own, Rate other) { return std::min(own, std::max(capacity / 2, capacity - other)); }

}  // namespace

double pair_slowdown(const Topology& topology, MemoryPair of, MemoryPair by) {
  const Rate alone = topology.pair_rate(of.src, of.dst), other = topology.pair_rate(by.src, by.dst);
  if (!std::isfinite(alone.value) || !std::isfinite(other.value)) return 1;
  Rate rate = alone;
  const auto theirs = topology.route(by.src, by.dst);
  for (const LinkId link : topology.route(of.src, of.dst))
    if (std::find(theirs.begin(), theirs.end(), link) != theirs.end())
      rate = std::min(rate, fair_share(topology.link(link).bandwidth, alone, other));
  for (const auto& mine : topology.groups_on(of.src, of.dst))
    for (const auto& use : topology.groups_on(by.src, by.dst)) {
      if (use.group != mine.group) continue;
      CapacityGroup::Load load{.flows = 2};
      for (const auto& [u, demand] : {std::pair{mine, alone}, std::pair{use, other}}) {
        if (u.forward) load.forward += 1, load.forward_demand += demand.value;
        if (u.backward) load.backward += 1, load.backward_demand += demand.value;
      }
      const auto bounds = topology.group(use.group).bounds(load);
      rate = std::min(rate, fair_share(bounds.all, alone, other));
      if (mine.forward) rate = std::min(rate, bounds.forward);
      if (mine.backward) rate = std::min(rate, bounds.backward);
    }
  return alone / rate;
}

LinkMap::LinkMap(std::size_t memories)
    : count_{memories}, latency_(memories * memories), per_byte_(memories * memories, no_way) {
  for (std::size_t i = 0; i < memories; ++i) per_byte_[i * memories + i] = {};
}

namespace {

std::size_t checked_memories(const Topology& topology) {
  const std::size_t memories = topology.memories().size();
  if (memories > LinkMap::most_memories)
    throw InputError{
        fmt::format("machine '{}' has {} memories; routing=link-map and select expect at most {}; without them it can "
                    "be planned for",
                    topology.name(), memories, LinkMap::most_memories)};
  return memories;
}

}  // namespace

LinkMap::LinkMap(const Topology& topology) : LinkMap{checked_memories(topology)} {
  topology_ = &topology;
  for (std::size_t s = 0; s < count_; ++s)
    for (std::size_t d = 0; d < count_; ++d) {
      const MemoryPair pair{MemoryId{s}, MemoryId{d}};
      if (s == d || !topology.has_route(pair.src, pair.dst)) continue;
      latency_[index(pair)] = topology.latency(pair.src, pair.dst);
      per_byte_[index(pair)] = inverse(topology.pair_rate(pair.src, pair.dst));
    }
}

LinkMap::LinkMap(std::size_t memories, std::span<const Link> links, std::span<const Slowdown> slowdowns)
    : LinkMap{memories} {
  for (const Link& link : links) {
    latency_[index(link.pair)] = link.latency;
    per_byte_[index(link.pair)] = inverse(link.bandwidth);
  }
  for (const auto& [of, by, factor] : slowdowns)
    slowdowns_[index(of) * count_ * count_ + index(by)] = std::clamp(factor, 1.0, most_slowdown);
}

double LinkMap::slowdown(MemoryPair of, MemoryPair by) const {
  if (topology_) return std::min(most_slowdown, pair_slowdown(*topology_, of, by));
  const auto found = slowdowns_.find(index(of) * count_ * count_ + index(by));
  return found == slowdowns_.end() ? 1 : found->second;
}

}  // namespace tilerail
