#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/fluid/copy_routes.hpp"
#include "cost/kernel_costs.hpp"
#include "model/timeline.hpp"
#include "plan/graph.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// What all runs of a plan on a machine share, however slow its kernels are under load. Everything that it is made of
/// has to outlive it.
struct PreparedPlan {
  const Plan& plan;
  const Topology& topology;
  const std::vector<OpTime>& issued;  // by operation: `start` holds when it is issued
  PlanGraph graph{plan};
  PlanKernelCosts kernels{plan, topology};
  CopyRoutes copies{plan, topology, kernels};
  double resolution = time_resolution();  // seconds; events closer together are one

 private:
  /// A picosecond or, for very long plans, a few units in the last place of the latest time that may occur: all
  /// operations one after another, 16 times as long for what sharing may cost.
  double time_resolution() const {
    double last_issue = 0;
    for (const OpTime& op : issued) last_issue = std::max(last_issue, op.start);
    const double latest = 16 * (Seconds{last_issue} + kernels.total() + copies.total()).value;
    return std::max(1e-12, 4 * latest * std::numeric_limits<double>::epsilon());
  }
};

}  // namespace tilerail
