#pragma once

#include <optional>

#include "cost/resources.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

struct Estimate {
  Seconds makespan{0};
  std::optional<Joules> energy =
      {};              // of its devices; absent where their watts are not known
  Seconds busiest{0};  // what GPUs, links and groups need for their parts, spread evenly:
                       // no order or cut is faster
  Seconds kernels{0};  // what all kernels need, each with as much of a GPU as it fills
};

/// A quick estimate of how long a plan takes, to choose between plans: one pass in the
/// order in which operations start, in which a copy takes its time alone but no less than
/// the resources on its route need for all traffic so far, and a GPU's kernels share it
/// by occupancy. Much cheaper than simulation and less exact. docs/model.md#estimate
Estimate estimate_plan(const Plan& plan, const Topology& topology,
                       const Resources& resources);

}  // namespace tilerail
