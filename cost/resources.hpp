#pragma once

#include <vector>

#include "model/machine/pair_table.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The shared resources of a machine for planning: every link, every capacity group, and
/// every group again for its limit in both directions. A copy takes size / capacity
/// seconds of each resource on its route. All of the planner's link models (Clock,
/// estimate_plan, grid_traffic, relays_help) use it, except the thesis' model of
/// routing=link-map (model/published/link_map.hpp).
class Resources {
 public:
  struct Use {
    size_t resource;
    SecondsPerByte per_byte;
  };

  /// Limits of a group's traffic in both directions; `together` is infinite without a
  /// limit.
  struct DuplexLimit {
    Rate together;                       // of both sides
    double share;                        // of `together`, for the forward side
    Rate forward_alone, backward_alone;  // of a side while the other is idle

    /// Least time of these bytes: both sides together until the smaller is done, then the
    /// other alone. Zero if one side has no bytes: then the other resources are the
    /// limit.
    Seconds time(Bytes forward, Bytes backward) const;
  };

  /// Keeps a reference to `topology`.
  explicit Resources(const Topology& topology);

  size_t count() const { return count_; }
  size_t memories() const { return costs_.memories(); }
  const Topology& topology() const { return topology_; }
  /// Whether the resource is a group's limit while copies run on both sides.
  bool is_both_busy(size_t resource) const { return resource >= first_both_busy_; }
  const DuplexLimit& duplex(size_t group) const { return duplex_[group]; }

  /// Resources of a copy between two memories, and its time per byte and latency alone.
  /// Without a route: infinite and zero.
  struct PairCost {
    std::vector<Use> uses;
    SecondsPerByte per_byte{0};
    Seconds latency{0};
  };
  const PairCost& pair_cost(MemoryId src, MemoryId dst) const {
    const PairCost* const known = costs_.find(src, dst);
    return known ? *known : new_cost(src, dst);
  }

 private:
  const PairCost& new_cost(MemoryId src, MemoryId dst) const;
  PairCost cost_of(MemoryId src, MemoryId dst) const;

  const Topology& topology_;
  size_t count_, first_both_busy_;
  PairTable<PairCost> costs_;
  std::vector<DuplexLimit> duplex_;  // by group
};

}  // namespace tilerail
