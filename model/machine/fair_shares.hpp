#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/machine/flow_route.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Max-min fair rates of flows that come and go on a machine, under the bounds of its
/// links and groups and the flows' own caps. What a flow that comes or goes cannot reach,
/// over constraints that it shares with others, is not worked out again. Where the ends
/// of a flow are spread over several memories, only a part of its bytes crosses most
/// links: rates are weighed by the parts, counted in a unit of which all are multiples,
/// so that sums of them are exact. Source: progressive filling (Bertsekas, Gallager: Data
/// Networks, 6.5.2).
class FairShares {
 public:
  using Flow = uint32_t;

  FairShares(const Topology& topology, std::span<const FlowRoute> routes);

  /// A flow on routes[route] begins. Flows are numbered from 0; numbers of flows that
  /// have ended are used again.
  Flow add(size_t route);
  void remove(Flow flow);

  /// Brings the rates up to date. Returns false where they were.
  bool update();
  double rate(Flow flow) const { return flows_[flow].rate; }  // B/s, after `update`

 private:
  using Parts = uint32_t;  // in the unit of all flows

  static constexpr double unbounded = std::numeric_limits<double>::infinity();

  /// The rates of the flows on it, times their parts, add up to no more than its
  /// capacity.
  struct Constraint {
    double capacity = unbounded;  // B/s times parts of a whole flow
    std::vector<Flow> flows = {};
    double parts = 0;    // of the flows
    double free = 0;     // while rates are worked out: what flows that have theirs leave
    double growing = 0;  // and the parts of those that have not
    uint64_t reached_by = 0;  // the last update that worked it out
  };
  struct Group {
    const CapacityGroup* group;
    double most;             // B/s, of all its links
    uint32_t all;            // constraints
    uint32_t sides[2] = {};  // forward, backward; where it has a forward_share
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
    Parts unit = 1;  // of each of its parts
    std::vector<Use> constraints = {};
    std::vector<GroupUse> groups = {};
  };
  struct Running {
    size_t route = 0;
    double rate = 0;
    bool growing = false;  // while rates are worked out: it has none yet
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

  Parts unit_ = 1;  // parts of a whole flow: a multiple of those of every route
  std::vector<Constraint> constraints_;
  std::vector<Group> groups_;
  std::vector<Route> routes_;
  std::vector<Running> flows_;
  std::vector<Flow> unused_;
  uint64_t updates_ = 0;           // so far
  std::vector<uint32_t> changed_;  // constraints whose flows or capacity have changed
  std::vector<uint32_t> reached_;  // constraints to work out
  std::vector<uint32_t> stopped_;  // of them: full at this level
  size_t growing_ = 0;             // flows without a rate yet
  std::vector<Flow> capped_;       // of them: with a cap
};

}  // namespace tilerail
