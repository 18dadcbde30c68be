#pragma once

#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "cost/kernel_costs.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The columns of a 2-D copy; zero if the copy is contiguous (one column always is).
struct CopyColumns {
  int64_t bytes = 0;  // of a column
  int64_t pitch = 0;  // bytes from one column to the next
  bool operator==(const CopyColumns&) const = default;
};
/// Between a host and a device only the host's side counts, otherwise the side with the
/// larger pitch.
CopyColumns copy_columns(const Plan& plan, const Op& op, const Topology& topology);

/// Properties of a copy, next to its ends, that its rate depends on.
struct CopyShape {
  CopyColumns columns;
  bool staged = false;  // matters if the plan's copies have duplex rates
  double again =
      0;  // share of its pages with entries in the device's cache; 0 between devices
  StridedEfficiency::Interference interference =
      {};  // equal for all copies of a device in one direction
  bool operator==(const CopyShape&) const = default;
};

/// Rate of a copy of this shape between two memories relative to a packed one.
double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst,
                          const CopyShape& shape);

/// Transfer time of a copy between memories with a route, at this efficiency of its
/// columns and without contention.
Seconds flow_time(const Plan& plan, const Op& op, const Topology& topology,
                  double efficiency);

/// Rate of a copy between a host and a device during a copy in the other direction, while
/// all of these devices copy with this host in both directions; absent for other copies.
/// It may be above the rate of the pair alone. During a staged copy the other devices do
/// not copy: one thread makes staged copies one after another. docs/model.md#libraries
std::optional<Rate> duplex_rate(const Topology& topology, MemoryId src, MemoryId dst,
                                std::span<const MemoryId> devices, bool staged);

/// Shapes of a plan's copies, for the estimate and the simulators.
class CopyShapes {
 public:
  /// On machines without figures of contention for 2-D copies, all copies have full
  /// contention.
  CopyShapes(const Plan& plan, const Topology& topology, const PlanKernelCosts& kernels);

  CopyShape of(OpId copy) const;
  /// strided_efficiency() of this copy if it has this shape.
  double efficiency(OpId copy, const CopyShape& shape) const;
  /// Upper limit of a copy's rate if the plan's copies have duplex rates; else absent.
  std::optional<Rate> duplex(MemoryId src, MemoryId dst, bool staged) const;

 private:
  /// Totals of a device: its copies from hosts, its copies to hosts, each without
  /// contention, and its kernels.
  struct Times {
    Seconds in, out, kernels;
  };
  StridedEfficiency::Interference interference_of(const Queue& queue) const;

  struct Efficiency {
    CopyShape shape;
    double value = 1;
  };

  const Plan& plan_;
  const Topology& topology_;
  mutable std::vector<Efficiency> last_{plan_.queues.size()};  // by queue: latest copy
  std::vector<float> again_;  // by operation: CopyShape::again; empty: 0
  std::vector<Times> times_;  // by memory
  mutable std::map<std::tuple<MemoryId, MemoryId, bool>, std::optional<Rate>> duplex_;
};

}  // namespace tilerail
