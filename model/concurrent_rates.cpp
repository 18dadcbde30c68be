#include <algorithm>
#include <limits>

#include "model/error.hpp"
#include "model/topology.hpp"

namespace tilerail {
namespace {

using Flow = std::pair<MemoryId, MemoryId>;

/// sum of rate over `flows` <= capacity, in B/s.
struct Constraint {
  double capacity = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> flows;
};

/// One constraint for each link, each group and each flow's own cap.
std::vector<Constraint> constraints_of(const Topology& topology, std::span<const Flow> flows) {
  struct Sides {
    bool forward = false, backward = false;
  };
  const std::size_t links = topology.links().size(), groups = topology.groups().size();
  std::vector<Constraint> all(links + groups + flows.size());
  std::vector<Sides> sides(groups);

  for (std::size_t i = 0; i < links; ++i) all[i].capacity = topology.links()[i].bandwidth.value;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    Constraint& own = all[links + groups + f];
    own.flows.push_back(f);
    for (LinkId id : topology.route(flows[f].first, flows[f].second)) {
      all[id.index()].flows.push_back(f);
      if (const auto cap = topology.link(id).per_flow) own.capacity = std::min(own.capacity, cap->value);
    }
    for (const auto& use : topology.groups_on(flows[f].first, flows[f].second)) {
      all[links + use.group.index()].flows.push_back(f);
      sides[use.group.index()].forward |= use.forward;
      sides[use.group.index()].backward |= use.backward;
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    Constraint& group = all[links + g];
    const auto count = static_cast<double>(group.flows.size());
    group.capacity = topology.groups()[g].bound(count, sides[g].forward, sides[g].backward).value;
  }
  return all;
}

}  // namespace

std::vector<Rate> concurrent_rates(const Topology& topology, std::span<const Flow> flows) {
  std::vector<Rate> rates(flows.size(), Rate{std::numeric_limits<double>::infinity()});
  std::vector<bool> growing(flows.size());
  std::size_t left = 0;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto [src, dst] = flows[f];
    if (!topology.has_route(src, dst))
      throw InputError{topology.name() + ": no route from '" + topology.memory(src).name + "' to '" +
                       topology.memory(dst).name + "'"};
    growing[f] = src != dst;
    left += growing[f];
  }

  // All growing flows have one common level. Raise it until some constraint is full; its flows stop there.
  //   level = min over constraints of (capacity - sum of its stopped flows) / its growing flows
  const auto constraints = constraints_of(topology, flows);
  while (left > 0) {
    std::vector<double> bounds(constraints.size(), std::numeric_limits<double>::infinity());
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      double free = constraints[c].capacity, count = 0;
      for (std::size_t f : constraints[c].flows) growing[f] ? count += 1 : free -= rates[f].value;
      if (count > 0) bounds[c] = std::max(free, 0.0) / count;
    }
    const double level = *std::min_element(bounds.begin(), bounds.end());
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      if (bounds[c] > level * (1 + 1e-12)) continue;  // equal bounds differ by rounding
      for (std::size_t f : constraints[c].flows) {
        if (!growing[f]) continue;
        rates[f] = Rate{level};
        growing[f] = false;
        --left;
      }
    }
  }
  return rates;
}

}  // namespace tilerail
