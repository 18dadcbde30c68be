#include "cost/resources.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/contains.hpp"

namespace tilerail {
namespace {

constexpr double unbounded = INFINITY;

/// Rate of one side of a group while the other is idle: the sum of its links, unless
/// another group that contains this side limits it further.
Rate side_alone(const Topology& topology, const std::vector<LinkId>& side) {
  Rate sum{0};
  for (const LinkId link : side) sum += topology.link(link).bandwidth;
  for (const CapacityGroup& other : topology.groups())
    if (other.capacity && std::ranges::all_of(side, [&](LinkId link) {
          return contains(other.forward, link);
        }))
      sum = std::min(sum, other.capacity->saturated());
  return sum;
}

Resources::DuplexLimit duplex_limit_of(const Topology& topology,
                                       const CapacityGroup& group) {
  if (!group.both_busy) return {Rate{unbounded}, 0.5, Rate{unbounded}, Rate{unbounded}};
  return {group.both_busy->saturated(), group.forward_share.value_or(0.5),
          side_alone(topology, group.forward), side_alone(topology, group.backward)};
}

}  // namespace

Seconds Resources::DuplexLimit::time(Bytes forward, Bytes backward) const {
  if (forward == Bytes{0} || backward == Bytes{0} || !std::isfinite(together.value))
    return Seconds{0};
  const Rate f = share * together, b = (1 - share) * together;
  const Seconds both = std::min(forward / f, backward / b);
  return both + std::max((forward - f * both) / forward_alone,
                         (backward - b * both) / backward_alone);
}

Resources::Resources(const Topology& topology)
    : topology_{topology},
      count_{topology.links().size() + 2 * topology.groups().size()},
      first_both_busy_{topology.links().size() + topology.groups().size()},
      costs_{topology.memories().size()} {
  for (const CapacityGroup& group : topology.groups())
    duplex_.push_back(duplex_limit_of(topology, group));
}

const Resources::PairCost& Resources::new_cost(MemoryId src, MemoryId dst) const {
  return costs_.of(src, dst, [&] { return cost_of(src, dst); });
}

Resources::PairCost Resources::cost_of(MemoryId src, MemoryId dst) const {
  if (src == dst) return {};
  if (!topology_.has_route(src, dst)) return {{}, SecondsPerByte{unbounded}, Seconds{0}};
  PairCost cost{{}, inverse(topology_.pair_rate(src, dst)), topology_.latency(src, dst)};
  const int all = topology_.parts(src, dst);
  const auto add = [&](size_t resource, Rate rate, int parts) {
    cost.uses.push_back({resource, inverse(rate * all / parts)});
  };
  for (const auto& use : topology_.links_on(src, dst))
    add(use.link.index(), topology_.link(use.link).bandwidth, use.parts);
  for (const auto& use : topology_.groups_on(src, dst)) {
    const CapacityGroup& group = topology_.group(use.group);
    const size_t capacity = topology_.links().size() + use.group.index();
    if (group.capacity) add(capacity, group.capacity->saturated(), use.parts);
    if (group.both_busy)
      add(first_both_busy_ + use.group.index(), group.both_busy->saturated(), use.parts);
  }
  return cost;
}

}  // namespace tilerail
