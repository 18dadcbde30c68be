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

/// The columns of a 2-D copy; zero where it is contiguous (one column always is).
struct CopyColumns {
  int64_t bytes = 0;  // of a column
  int64_t pitch = 0;  // bytes from one column to the next
  bool operator==(const CopyColumns&) const = default;
};
/// Between a host and a device only the host's side counts; between two of a kind the
/// side with the larger pitch.
CopyColumns copy_columns(const Plan& plan, const Op& op, const Topology& topology);

/// What the rate of a copy depends on, beside its ends.
struct CopyShape {
  CopyColumns columns;
  bool staged = false;  // counts where the plan's copies have duplex rates
  double again =
      0;  // the share of its pages that the device's cache knows; between devices 0
  StridedEfficiency::Company company =
      {};  // alike for all copies of a device in one direction
  bool operator==(const CopyShape&) const = default;
};

/// Rate of such a copy between two memories relative to a packed one.
double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst,
                          const CopyShape& shape);

/// The time of the bytes of a copy between memories with a route, at the rate that its
/// columns have alone.
Seconds flow_time(const Plan& plan, const Op& op, const Topology& topology,
                  StridedEfficiency::Company company);

/// Rate of a copy between a host and a device next to one in the other direction, while
/// all of these devices copy with that host in both directions; absent for other copies.
/// It may be above the rate of the pair alone. During a staged copy the other devices do
/// not copy: one thread makes staged copies one after another. docs/model.md#libraries
std::optional<Rate> duplex_rate(const Topology& topology, MemoryId src, MemoryId dst,
                                std::span<const MemoryId> devices, bool staged);

/// What the rates of the copies of a plan depend on, for the estimate and the simulators.
class CopyShapes {
 public:
  /// On machines without figures of 2-D copies beside others, all have all the company
  /// there is.
  CopyShapes(const Plan& plan, const Topology& topology, const PlanKernelCosts& kernels);

  CopyShape of(OpId copy) const;
  /// The rate that a copy cannot exceed in a plan whose copies have duplex rates; else
  /// absent.
  std::optional<Rate> duplex(MemoryId src, MemoryId dst, bool staged) const;

 private:
  /// Of a device: its copies from and to hosts one after another as they would be alone,
  /// and its kernels.
  struct Times {
    Seconds in, out, kernels;
  };
  StridedEfficiency::Company company_of(const Queue& queue) const;

  const Plan& plan_;
  const Topology& topology_;
  std::vector<float> again_;  // by operation: CopyShape::again; empty: 0
  std::vector<Times> times_;  // by memory
  mutable std::map<std::tuple<MemoryId, MemoryId, bool>, std::optional<Rate>> duplex_;
};

}  // namespace tilerail
