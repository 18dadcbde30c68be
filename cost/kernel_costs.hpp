#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A kernel alone on its device: how long it runs and what share of the device it fills, in (0, 1].
struct KernelCost {
  double seconds = 0;
  double share = 1;
  double slack = 1;  // how many times as long as well aligned operands take

  /// Of a device that its load makes so many times slower. What waits for its operands draws less power.
  double under_load(double load_factor) const { return seconds * std::max(1.0, load_factor / slack); }
};

/// Factor on the times of a plan's GEMMs on a device that they keep busy for this share of the time.
double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty);

/// What every kernel of a plan costs. Tiles repeat, so each distinct shape is worked out once.
/// Memory: 4 bytes an operation.
class KernelCosts {
 public:
  /// Throws InputError when a device has no times for the plan's data type.
  KernelCosts(const Plan& plan, const Topology& topology);

  /// Of a gemm or an axpby.
  const KernelCost& of(OpId op) const { return costs_[index_[op.index()]]; }

  /// Of all kernels one after another.
  double total_seconds() const { return total_seconds_; }

 private:
  std::vector<KernelCost> costs_;
  std::vector<std::uint32_t> index_;  // by operation
  double total_seconds_ = 0;
};

}  // namespace tilerail
