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

Resources::Resources(const Topology& topology) : memories_{topology.memories().size()} {
  const std::size_t links = topology.links().size(), groups = topology.groups().size();
  count_ = links + 2 * groups;
  first_both_busy_ = links + groups;
  for (const CapacityGroup& group : topology.groups()) two_ways_.push_back(two_ways_of(topology, group));
  uses_.resize(memories_ * memories_);
  alone_.assign(uses_.size(), 0.0);
  latency_.assign(uses_.size(), 0.0);
  for (std::size_t s = 0; s < memories_; ++s)
    for (std::size_t d = 0; d < memories_; ++d) {
      const MemoryId src{s}, dst{d};
      const std::size_t pair = s * memories_ + d;
      if (s == d) continue;
      if (!topology.has_route(src, dst)) {
        alone_[pair] = unbounded;
        continue;
      }
      alone_[pair] = 1.0 / topology.pair_rate(src, dst).value;
      latency_[pair] = topology.latency(src, dst).value;
      for (const LinkId link : topology.route(src, dst))
        uses_[pair].push_back({link.index(), 1.0 / topology.link(link).bandwidth.value});
      for (const auto& use : topology.groups_on(src, dst)) {
        const CapacityGroup& group = topology.group(use.group);
        if (group.capacity) uses_[pair].push_back({links + use.group.index(), 1.0 / group.capacity->saturated().value});
        if (group.both_busy)
          uses_[pair].push_back({links + groups + use.group.index(), 1.0 / group.both_busy->saturated().value});
      }
    }
}

}  // namespace tilerail
