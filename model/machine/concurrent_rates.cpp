#include "model/machine/concurrent_rates.hpp"

#include <algorithm>
#include <limits>

#include "model/base/indices.hpp"
#include "model/machine/fair_shares.hpp"

namespace tilerail {
namespace {

/// The route of a packed copy, limited by the links' limits per flow.
FlowRoute route_of(const Topology& topology, MemoryId src, MemoryId dst) {
  FlowRoute route{src, dst, {}};
  const int parts = topology.parts(src, dst);
  for (const auto& use : topology.links_on(src, dst))
    if (auto cap = topology.link(use.link).per_flow) {
      cap = *cap * parts / use.parts;
      route.cap = std::min(*cap, route.cap.value_or(*cap));
    }
  return route;
}

}  // namespace

std::vector<Rate> concurrent_rates(const Topology& topology,
                                   std::span<const std::pair<MemoryId, MemoryId>> flows) {
  std::vector<FlowRoute> routes;
  for (const auto& [src, dst] : flows)
    if (src != dst) routes.push_back(route_of(topology, src, dst));
  FairShares shares{topology, routes};
  // flows are numbered in this order
  for (const auto route : indices(routes)) shares.add(route);
  shares.update();
  std::vector<Rate> rates;
  FairShares::Flow next = 0;
  for (const auto& [src, dst] : flows)
    rates.push_back(
        Rate{src == dst ? std::numeric_limits<double>::infinity() : shares.rate(next++)});
  return rates;
}

}  // namespace tilerail
