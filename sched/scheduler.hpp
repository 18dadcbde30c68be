#pragma once

#include <span>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"
#include "sched/choose/selection.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// Plans one problem of any routine on the given GPUs of a machine. Pure and
/// deterministic: reads no clock, device, environment or global; ties go to the lowest
/// id. `simulator`: for policies that compare plans. Throws InputError if the problem or
/// the devices do not fit the machine, or if only some of the devices have times of the
/// product.
Plan plan_gemm(const GemmProblem& problem, const Topology& topology,
               std::span<const MemoryId> devices, const Policy& policy,
               const PlanSimulator& simulator = {});

}  // namespace tilerail
