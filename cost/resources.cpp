#include "cost/resources.hpp"

#include <limits>

namespace tilerail {

Resources::Resources(const Topology& topology) : memories_{topology.memories().size()} {
  const std::size_t links = topology.links().size(), groups = topology.groups().size();
  count_ = links + 2 * groups;
  first_both_busy_ = links + groups;
  uses_.resize(memories_ * memories_);
  alone_.assign(uses_.size(), 0.0);
  latency_.assign(uses_.size(), 0.0);
  for (std::size_t s = 0; s < memories_; ++s)
    for (std::size_t d = 0; d < memories_; ++d) {
      const MemoryId src{s}, dst{d};
      const std::size_t pair = s * memories_ + d;
      if (s == d) continue;
      if (!topology.has_route(src, dst)) {
        alone_[pair] = std::numeric_limits<double>::infinity();
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
