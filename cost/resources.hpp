#pragma once

#include <vector>

#include "model/machine/pair_table.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The shared resources of a machine as planning sees them: every link, every capacity
/// group, and every group once more for its both-directions bound. A copy takes size /
/// capacity seconds of each resource on its route. Every model of links that planning has
/// (Clock, estimate_plan, grid_traffic, relays_help) is made of these, but that of the
/// thesis (model/published/link_map.hpp) where routing=link-map asks for it.
class Resources {
 public:
  struct Use {
    size_t resource;
    SecondsPerByte per_byte;
  };

  /// What bounds the traffic of a group in both directions; `together` is infinite where
  /// nothing does.
  struct TwoWays {
    Rate together;                       // of both sides
    double share;                        // of it, that the forward side gets
    Rate forward_alone, backward_alone;  // of a side while the other rests

    /// What these bytes take at least: both sides together until the lesser is done, then
    /// the other alone. Zero where one side has none: then the other resources bound it.
    Seconds time(Bytes forward, Bytes backward) const;
  };

  /// Keeps a reference to `topology`.
  explicit Resources(const Topology& topology);

  size_t count() const { return count_; }
  size_t memories() const { return ways_.memories(); }
  const Topology& topology() const { return topology_; }
  /// Whether it is the bound of a group while copies run on both of its sides.
  bool is_both_busy(size_t resource) const { return resource >= first_both_busy_; }
  const TwoWays& two_ways(size_t group) const { return two_ways_[group]; }

  /// What a copy from memory to memory uses, and its time per byte and latency alone:
  /// these are infinite and zero where there is no route.
  struct Way {
    std::vector<Use> uses;
    SecondsPerByte per_byte{0};
    Seconds latency{0};
  };
  const Way& way(MemoryId src, MemoryId dst) const {
    const Way* const known = ways_.find(src, dst);
    return known ? *known : new_way(src, dst);
  }

 private:
  const Way& new_way(MemoryId src, MemoryId dst) const;
  Way way_of(MemoryId src, MemoryId dst) const;

  const Topology& topology_;
  size_t count_, first_both_busy_;
  PairTable<Way> ways_;
  std::vector<TwoWays> two_ways_;  // by group
};

}  // namespace tilerail
