#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "backends/fluid/flow_route.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Rates of flows that come and go on a machine: those of concurrent_rates, kept up to date. What a flow that comes or
/// goes cannot reach, over constraints that it shares with others, is not worked out again.
/// Source: progressive filling (Bertsekas, Gallager: Data Networks, 6.5.2).
class FairShares {
 public:
  using Flow = std::uint32_t;

  FairShares(const Topology& topology, std::span<const FlowRoute> routes);

  /// A flow on routes[route] begins. Flows are numbered from 0; numbers of flows that have ended are used again.
  Flow add(std::size_t route);
  void remove(Flow flow);

  /// Brings the rates up to date.
  void update();
  double rate(Flow flow) const { return flows_[flow].rate; }  // B/s, after `update`

 private:
  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// The rates of the flows on it add up to no more than its capacity.
  struct Constraint {
    double capacity = unbounded;
    std::vector<Flow> flows = {};
    double free = 0;     // while rates are worked out: what flows that have theirs leave
    double growing = 0;  // and how many have not
    bool reached = false;
  };
  struct Group {
    const CapacityGroup* group;
    double most;                // B/s, of all its links
    std::size_t all;            // constraints
    std::size_t sides[2] = {};  // forward, backward; where it has a forward_share
    CapacityGroup::Load now = {};
  };
  struct GroupUse {
    std::size_t group;
    bool forward, backward;
  };
  struct Route {
    double cap = unbounded, demand = 0;
    std::vector<std::size_t> constraints = {};
    std::vector<GroupUse> groups = {};
  };
  struct Running {
    std::size_t route = 0;
    double rate = 0;
    bool growing = false, reached = false;
  };

  void add_links(const Topology& topology, std::span<const FlowRoute> routes);
  void add_groups(const Topology& topology, std::span<const FlowRoute> routes);
  void add_memories(const Topology& topology, std::span<const FlowRoute> routes);
  void count(const Route& route, int change);
  void reach();
  void reach(std::size_t constraint);
  double level() const;
  void fix(Flow flow, double rate);

  std::vector<Constraint> constraints_;
  std::vector<Group> groups_;
  std::vector<Route> routes_;
  std::vector<Running> flows_;
  std::vector<Flow> unused_;
  std::vector<std::size_t> changed_;  // constraints whose flows or capacity have changed
  std::vector<std::size_t> reached_;  // constraints to work out
  std::vector<Flow> growing_;         // flows without a rate yet
};

}  // namespace tilerail
