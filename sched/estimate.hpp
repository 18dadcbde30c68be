#pragma once

#include "model/topology.hpp"
#include "sched/plan.hpp"
#include "sched/resources.hpp"

namespace tilerail {

/// A quick estimate of a plan's makespan, to choose between plans: one pass in issue order by the execution rule, in
/// which a copy takes its time alone but no less than the resources on its route need for all traffic so far, and a
/// GPU's kernels share it by occupancy. Much cheaper than simulation and less exact. docs/model.md#estimate
Seconds estimate_makespan(const Plan& plan, const Topology& topology, const Resources& resources);

}  // namespace tilerail
