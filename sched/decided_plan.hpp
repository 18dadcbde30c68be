#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// The plan for earlier decisions, as returned by `decisions_of`, without a search;
/// missing decisions follow the policy. `devices`: the given devices, of which the
/// decisions name the participants. Throws InputError if the problem does not fit the
/// machine; the error names a decision that does not fit.
Plan plan_decided(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, const Policy& policy,
                  const std::vector<PlanDecision>& decisions);

/// All decisions of a plan made by this policy on this machine, with all digits,
/// including decisions without effect: plan_decided reproduces the plan.
std::vector<PlanDecision> decisions_of(const Plan& plan, const Topology& topology,
                                       const Policy& policy);

/// The policy's overrides without effect on the plan: "batch=off: the plan with
/// batch=tree is the same". For each override of a decision, the plan is made again with
/// the preset's value.
std::vector<std::string> without_effect(const Plan& plan, const Topology& topology,
                                        const Policy& policy);

}  // namespace tilerail
