#include "model/published/link_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

/// A copy: its rate alone, and how much of it crosses what it shares with another.
struct Demand {
  Rate alone;
  double share;
};

/// What one of two copies gets that share a capacity: they grow together until it is full, or the other cannot take
/// more.
Rate fair_share(Rate capacity, Demand own, Demand other) {
  return std::min(own.alone,
                  std::max(capacity / (own.share + other.share), (capacity - other.alone * other.share) / own.share));
}

}  // namespace

double pair_slowdown(const Topology& topology, MemoryPair of, MemoryPair by) {
  const Rate alone = topology.pair_rate(of.src, of.dst), other = topology.pair_rate(by.src, by.dst);
  if (!std::isfinite(alone.value) || !std::isfinite(other.value)) return 1;
  Rate rate = alone;
  const double my_parts = topology.parts(of.src, of.dst), their_parts = topology.parts(by.src, by.dst);
  const auto theirs = topology.links_on(by.src, by.dst);
  for (const auto& mine : topology.links_on(of.src, of.dst))
    if (const auto use = std::ranges::find(theirs, mine.link, &Topology::LinkUse::link); use != theirs.end())
      rate = std::min(rate, fair_share(topology.link(mine.link).bandwidth, {alone, mine.parts / my_parts},
                                       {other, use->parts / their_parts}));
  for (const auto& mine : topology.groups_on(of.src, of.dst))
    for (const auto& use : topology.groups_on(by.src, by.dst)) {
      if (use.group != mine.group) continue;
      CapacityGroup::Load load;
      for (const auto& [u, parts, demand] : {std::tuple{mine, my_parts, alone}, std::tuple{use, their_parts, other}}) {
        load.flows += u.parts / parts;
        load.forward += u.forward / parts, load.forward_demand += demand.value * u.forward / parts;
        load.backward += u.backward / parts, load.backward_demand += demand.value * u.backward / parts;
      }
      const auto bounds = topology.group(use.group).bounds(load);
      rate = std::min(rate, fair_share(bounds.all, {alone, mine.parts / my_parts}, {other, use.parts / their_parts}));
      if (mine.forward) rate = std::min(rate, bounds.forward * my_parts / mine.forward);
      if (mine.backward) rate = std::min(rate, bounds.backward * my_parts / mine.backward);
    }
  return alone / rate;
}

LinkMap::LinkMap(size_t memories)
    : count_{memories}, latency_(memories * memories), per_byte_(memories * memories, no_way) {
  for (size_t i = 0; i < memories; ++i) per_byte_[i * memories + i] = {};
}

namespace {

size_t checked_memories(const Topology& topology) {
  const size_t memories = topology.sources();
  if (memories > LinkMap::most_memories)
    throw InputError{"topology", topology.name(), fmt::format("has {} memories", memories),
                     fmt::format("at most {} for routing=link-map and select", LinkMap::most_memories)};
  return memories;
}

}  // namespace

LinkMap::LinkMap(const Topology& topology) : LinkMap{checked_memories(topology)} {
  topology_ = &topology;
  for (size_t s = 0; s < count_; ++s)
    for (size_t d = 0; d < count_; ++d) {
      const MemoryPair pair{MemoryId{s}, MemoryId{d}};
      if (s == d || !topology.has_route(pair.src, pair.dst)) continue;
      latency_[index(pair)] = topology.latency(pair.src, pair.dst);
      per_byte_[index(pair)] = inverse(topology.pair_rate(pair.src, pair.dst));
    }
}

LinkMap::LinkMap(size_t memories, std::span<const Link> links, std::span<const Slowdown> slowdowns)
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
