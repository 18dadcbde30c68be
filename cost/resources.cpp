#include "cost/resources.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilerail {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// B/s of one side of a group while the other rests: what its links carry, unless another group of just this side, or
/// of more, bounds it, too.
double side_alone(const Topology& topology, const std::vector<LinkId>& side) {
  double sum = 0;
  for (const LinkId link : side) sum += topology.link(link).bandwidth.value;
  for (const CapacityGroup& other : topology.groups())
    if (other.capacity && std::ranges::all_of(side, [&](LinkId link) {
          return std::ranges::find(other.forward, link) != other.forward.end();
        }))
      sum = std::min(sum, other.capacity->saturated().value);
  return sum;
}

Resources::TwoWays two_ways_of(const Topology& topology, const CapacityGroup& group) {
  if (!group.both_busy) return {unbounded, 0.5, unbounded, unbounded};
  return {group.both_busy->saturated().value, group.forward_share.value_or(0.5), side_alone(topology, group.forward),
          side_alone(topology, group.backward)};
}

}  // namespace

double Resources::TwoWays::seconds(double forward, double backward) const {
  if (forward == 0 || backward == 0 || !std::isfinite(together)) return 0;
  const double f = share * together, b = (1 - share) * together;
  const double both = std::min(forward / f, backward / b);
  return both + std::max((forward - both * f) / forward_alone, (backward - both * b) / backward_alone);
}

Resources::Resources(const Topology& topology)
    : topology_{topology},
      count_{topology.links().size() + 2 * topology.groups().size()},
      first_both_busy_{topology.links().size() + topology.groups().size()},
      ways_{topology.memories().size()} {
  for (const CapacityGroup& group : topology.groups()) two_ways_.push_back(two_ways_of(topology, group));
}

Resources::Way Resources::way_of(MemoryId src, MemoryId dst) const {
  if (src == dst) return {};
  if (!topology_.has_route(src, dst)) return {{}, unbounded, 0};
  Way way{{}, 1.0 / topology_.pair_rate(src, dst).value, topology_.latency(src, dst).value};
  for (const LinkId link : topology_.route(src, dst))
    way.uses.push_back({link.index(), 1.0 / topology_.link(link).bandwidth.value});
  for (const auto& use : topology_.groups_on(src, dst)) {
    const CapacityGroup& group = topology_.group(use.group);
    const std::size_t any_way = topology_.links().size() + use.group.index();
    if (group.capacity) way.uses.push_back({any_way, 1.0 / group.capacity->saturated().value});
    if (group.both_busy)
      way.uses.push_back({first_both_busy_ + use.group.index(), 1.0 / group.both_busy->saturated().value});
  }
  return way;
}

}  // namespace tilerail
