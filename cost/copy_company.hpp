#pragma once

#include <vector>

#include "cost/kernel_costs.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// What runs beside the 2-D copies of a plan between hosts and devices, for how much of their time.
/// docs/model.md#copies-in-two-dimensions
class CopyCompany {
 public:
  /// Where the machine tells nothing of copies beside others, all copies have all the company there is.
  CopyCompany(const Plan& plan, const Topology& topology, const PlanKernelCosts& kernels);

  /// Of the copies of a queue.
  StridedEfficiency::Company of(const Queue& queue) const;

 private:
  /// Of a device: its copies from and to hosts one after another as they would be alone, and its kernels.
  struct Times {
    Seconds in{0}, out{0}, kernels{0};
  };

  const Topology& topology_;
  std::vector<Times> times_;  // by memory
};

}  // namespace tilerail
