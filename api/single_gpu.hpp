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

/// Why the single kernel is used instead of a plan on several GPUs, a sentence for users
/// that begins after "one kernel on gpu0, ". docs/model.md#calls-on-one-gpu
///
/// Before any plan is made: absent if there are several GPUs and the product takes at
/// least `least_shared` on one of them.
std::optional<std::string> doubt_in_others(const Plan& single, const Topology& topology,
                                           std::span<const MemoryId> devices);
/// Absent if the plan is certainly faster.
std::optional<std::string> doubt_in(const Plan& several, const Plan& single,
                                    const Topology& topology);

}  // namespace tilerail::api
