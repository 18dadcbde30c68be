#pragma once

#include <optional>

#include "cost/resources.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

struct Estimate {
  Seconds makespan{0};
  std::optional<Joules> energy = {};  // of its devices; absent if their watts are unknown
  Seconds busiest{0};  // time that GPUs, links and groups need if the work is evenly
                       // spread: no order or cut is faster
  Seconds kernels{0};  // sum over all kernels of time x occupancy
};

/// A quick estimate of the makespan of a plan, to choose between plans: one pass in the
/// order in which operations start. A copy takes its time alone, but no less than the
/// resources on its route need for all traffic so far; a GPU's kernels share it by
/// occupancy. Much cheaper and less exact than simulation. docs/model.md#estimate
Estimate estimate_plan(const Plan& plan, const Topology& topology,
                       const Resources& resources);

}  // namespace tilerail
