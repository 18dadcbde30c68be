#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// The plan that follows from decisions made before, as `decisions_of` gives them,
/// without a search; what they leave out is decided as the policy says. `devices` are
/// those that were given, and the decisions name those that take part. Throws InputError
/// where the problem does not fit the machine, naming the decision where that fits
/// neither.
Plan plan_decided(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, const Policy& policy,
                  const std::vector<PlanDecision>& decisions);

/// All decisions of a plan that this policy made on this machine, also those that change
/// nothing, with all digits: plan_decided makes the plan again.
std::vector<PlanDecision> decisions_of(const Plan& plan, const Topology& topology,
                                       const Policy& policy);

/// The overrides of the policy without which the plan would be the same: "batch=off: the
/// plan with batch=on is the same". For each override of a decision the plan is made
/// again with the preset's value in its place.
std::vector<std::string> without_effect(const Plan& plan, const Topology& topology,
                                        const Policy& policy);

}  // namespace tilerail
