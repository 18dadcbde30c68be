#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::api {

/// The whole product as one kernel on the GPU that holds all of its matrices. Nothing
/// where they lie elsewhere, that GPU is not among the devices, or the policy does not
/// leave devices and tiles to the planner.
std::optional<Plan> single_kernel_plan(const GemmProblem& problem,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices,
                                       const Policy& policy);

/// Whether the plan is one kernel whose operands are all matrices on its own GPU, so that
/// nothing has to be copied and no tile needs memory.
bool is_single_kernel(const Plan& plan);

/// Whether a plan is to be taken instead of the single kernel, and why in a sentence.
/// docs/model.md#calls-on-one-gpu
struct Trust {
  bool several = false;
  std::string why;
};
/// Before any plan is made: products below `least_shared` never gain from others.
Trust trust_in_others(const Plan& single, const Topology& topology,
                      std::span<const MemoryId> devices);
Trust trust_in(const Plan& several, const Plan& single, const Topology& topology);

}  // namespace tilerail::api
