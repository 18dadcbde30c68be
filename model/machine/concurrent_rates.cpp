#include "model/machine/concurrent_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

using Flow = std::pair<MemoryId, MemoryId>;

/// The rates of these flows add up to no more than `capacity`, in B/s.
struct Constraint {
  double capacity = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> flows;
};

/// One constraint for each link, each group and each flow's own cap.
std::vector<Constraint> constraints_of(const Topology& topology, std::span<const Flow> flows) {
  const std::size_t links = topology.links().size(), groups = topology.groups().size();
  std::vector<Constraint> all(links + groups + flows.size());
  std::vector<CapacityGroup::Load> loads(groups);
  std::vector<std::array<Constraint, 2>> sides(groups);  // forward, backward

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
      const bool shared = topology.group(use.group).forward_share && flows.size() > 1;
      const double demand = shared ? topology.pair_rate(flows[f].first, flows[f].second).value : 0;
      auto& load = loads[use.group.index()];
      load.flows += 1;
      if (use.forward) load.forward += 1, load.forward_demand += demand, sides[use.group.index()][0].flows.push_back(f);
      if (use.backward)
        load.backward += 1, load.backward_demand += demand, sides[use.group.index()][1].flows.push_back(f);
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    const auto bounds = topology.groups()[g].bounds(loads[g]);
    all[links + g].capacity = bounds.all.value;
    sides[g][0].capacity = bounds.forward.value, sides[g][1].capacity = bounds.backward.value;
    if (!topology.groups()[g].forward_share) continue;
    for (Constraint& side : sides[g]) all.push_back(std::move(side));
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
      throw InputError{fmt::format("{}: no route from '{}' to '{}'", topology.name(), topology.memory(src).name,
                                   topology.memory(dst).name)};
    growing[f] = src != dst;
    left += growing[f];
  }

  // All flows that still grow have one common rate, the level. It rises until some constraint is full, whose flows
  // stop:
  //   level = min over constraints of (capacity - sum of its stopped flows) / number of its growing flows
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
