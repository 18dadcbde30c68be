#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/topology.hpp"
#include "sched/plan.hpp"

namespace tilerail {

/// A kernel alone on its device: how long it runs and what share of the device it fills, in (0, 1].
struct KernelCost {
  double seconds = 0;
  double share = 1;
};

/// What every kernel of a plan costs. Tiles repeat, so each distinct shape is worked out once.
/// Memory: 4 bytes an operation.
class KernelCosts {
 public:
  /// Throws InputError when a device has no times for the plan's data type.
  KernelCosts(const Plan& plan, const Topology& topology);

  /// Of a gemm or an axpby.
  const KernelCost& of(OpId op) const { return costs_[index_[op.index()]]; }

 private:
  std::vector<KernelCost> costs_;
  std::vector<std::uint32_t> index_;  // by operation
};

/// The rate that a copy cannot exceed whatever else runs: the per-flow caps of its links and, when a side is not
/// contiguous, strided efficiency (by the bytes of one column) times the rate of the pair.
std::optional<Rate> copy_rate_cap(const Plan& plan, const Op& op, const Topology& topology);

}  // namespace tilerail
