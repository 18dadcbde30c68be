#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/machine/flow_route.hpp"
#include "model/machine/topology.hpp"

namespace simgrid::s4u {
class Host;
class Link;
class NetZone;
}  // namespace simgrid::s4u

namespace tilerail {

/// A machine as hosts, links and routes of SimGrid. Links have no latency there, because SimGrid would weigh the shares
/// of flows by it. Whoever starts a flow has waited for the latency before.
class SimGridPlatform {
 public:
  struct Route {
    simgrid::s4u::Host *from, *to;
    std::vector<Topology::GroupUse> groups;
    double demand = 0;  // B/s that a flow takes alone
    int parts = 1;      // equal ones, of its bytes
  };

  /// The platform of this machine with these routes, without flows. It is made when there is none like it, and kept,
  /// since SimGrid cannot delete it. Machines that differ in nothing that SimGrid sees share a platform.
  static SimGridPlatform& of(const Topology& topology, std::span<const FlowRoute> routes);

  simgrid::s4u::Host* gpu(MemoryId memory) const { return hosts_[memory.index()]; }
  const Route& route(const FlowRoute& route) const { return routes_.at(route); }

  /// Tells that a flow on a route begins (+1) or ends (-1), which changes the load of the route's groups.
  void count(const Route& route, int change);

 private:
  /// Flows on a capacity group now. A flow counts once, whatever number of the group's links it crosses.
  struct GroupLoad {
    CapacityGroup group;
    double most;  // B/s, what its links carry together; SimGrid wants a finite number
    CapacityGroup::Load now = {};

    double bound() const;
    double side_bound(bool forward) const;
  };

  SimGridPlatform(const Topology& topology, const std::set<FlowRoute>& routes);
  simgrid::s4u::Link* new_link(double bandwidth);
  simgrid::s4u::Link* new_group(const CapacityGroup& group, const Topology& topology);
  simgrid::s4u::Host* new_host(const Memory& memory);
  simgrid::s4u::Host* start_of(const FlowRoute& route, const Topology& topology);
  void add_route(const FlowRoute& route, const Topology& topology);

  simgrid::s4u::NetZone& zone_;
  int unit_ = 1;  // parts of a whole flow: a multiple of those of every route. Links are so many times as wide
  std::vector<simgrid::s4u::Host*> hosts_;           // by memory
  std::vector<simgrid::s4u::Link*> links_, groups_;  // by link, by group
  struct Sides {
    simgrid::s4u::Link *forward = nullptr, *backward = nullptr;
  };
  std::vector<Sides> sides_;                       // by group; null where its sides have no bounds of their own
  std::vector<std::unique_ptr<GroupLoad>> loads_;  // by group
  std::map<FlowRoute, Route> routes_;
  std::map<std::pair<MemoryId, MemoryId>, size_t> routes_between_;   // how many
  std::map<MemoryId, std::vector<simgrid::s4u::Host*>> more_hosts_;  // beyond the first
  int names_ = 0;
};

}  // namespace tilerail
