#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::api {

/// The whole product as one kernel on the GPU that holds all of its matrices. Nothing if
/// they are not all on one GPU, that GPU is not among the devices, or the policy fixes
/// devices or tiles.
std::optional<Plan> single_kernel_plan(const GemmProblem& problem,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices,
                                       const Policy& policy);

/// Whether the plan is one kernel whose operands are all matrices on its own GPU: it
/// copies nothing and needs no memory for tiles.
bool is_single_kernel(const Plan& plan);

/// Whether to use a plan instead of the single kernel, and the reason in a sentence.
/// docs/model.md#calls-on-one-gpu
struct Trust {
  bool several = false;
  std::string why;
};
/// Before any plan is made: products below `least_shared` never gain from other GPUs.
Trust trust_in_others(const Plan& single, const Topology& topology,
                      std::span<const MemoryId> devices);
Trust trust_in(const Plan& several, const Plan& single, const Topology& topology);

}  // namespace tilerail::api
