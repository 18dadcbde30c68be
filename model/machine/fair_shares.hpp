#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/machine/flow_route.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Max-min fair rates of flows that start and end on a machine, limited by links, groups
/// and the flows' own caps. Updates are incremental: only flows connected to a change by
/// shared constraints are recomputed. If the ends of a flow are spread over several
/// memories, only a part of its bytes crosses most links: rates are weighted with the
/// parts, in a unit that makes all of them integers, so that their sums are exact.
/// Source: progressive filling (Bertsekas, Gallager: Data Networks, 6.5.2).
class FairShares {
 public:
  using Flow = uint32_t;

  FairShares(const Topology& topology, std::span<const FlowRoute> routes);

  /// Starts a flow on routes[route]. Flows are numbered from 0; numbers of ended flows
  /// are reused.
  Flow add(size_t route);
  void remove(Flow flow);

  /// Updates the rates. Returns false if they were up to date.
  bool update();
  double rate(Flow flow) const { return flows_[flow].rate; }  // B/s, after `update`

 private:
  using Parts = uint32_t;  // in the unit of all flows

  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// The sum of rate times parts over its flows is at most the capacity.
  struct Constraint {
    double capacity = unbounded;  // B/s times parts per flow
    std::vector<Flow> flows = {};
    double parts = 0;         // of the flows
    double free = 0;          // during an update: capacity left by flows with a rate
    double growing = 0;       // during an update: parts of flows without a rate
    uint64_t reached_by = 0;  // the last update that included it
  };
  struct Group {
    const CapacityGroup* group;
    double most;             // B/s, of all its links
    uint32_t all;            // constraints
    uint32_t sides[2] = {};  // forward, backward; with a forward_share only
    CapacityGroup::Load now = {};
  };
  struct GroupUse {
    size_t group;
    Parts forward, backward, all;
  };
  struct Use {
    uint32_t constraint;
    Parts parts;
  };
  struct Route {
    double cap = unbounded, demand = 0;
    Parts unit = 1;  // per part
    std::vector<Use> constraints = {};
    std::vector<GroupUse> groups = {};
  };
  struct FlowRate {
    size_t route = 0;
    double rate = 0;
    bool growing = false;  // during an update: without a rate yet
  };

  void add_links(const Topology& topology, std::span<const FlowRoute> routes);
  void add_groups(const Topology& topology, std::span<const FlowRoute> routes);
  void count(const Route& route, double change);
  void reach();
  void reach(uint32_t constraint);
  double level();
  void fix(Flow flow, double rate);
  void fix_at(double level);
  uint32_t number_of_next() const { return uint32_t(constraints_.size()); }

  Parts unit_ = 1;  // parts per flow: a common multiple for all routes
  std::vector<Constraint> constraints_;
  std::vector<Group> groups_;
  std::vector<Route> routes_;
  std::vector<FlowRate> flows_;
  std::vector<Flow> unused_;
  uint64_t updates_ = 0;           // number of updates
  std::vector<uint32_t> changed_;  // constraints with changed flows or capacity
  std::vector<uint32_t> reached_;  // constraints to update
  std::vector<uint32_t> stopped_;  // full constraints at the current level
  size_t growing_ = 0;             // flows without a rate yet
  std::vector<Flow> capped_;       // growing flows with a cap
};

}  // namespace tilerail
