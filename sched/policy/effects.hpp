#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// What decides whether a wish matters: what was asked, and the plan that came of it.
struct Asked {
  const GemmProblem& problem;
  const Topology& topology;
  std::span<const MemoryId> devices;  // that were given to choose from
  const Policy& policy;               // as the user gave it
};

/// Why the field `key` of the policy cannot change anything for this plan; empty where it can. It never says so of a
/// field that can; of some that cannot, it does not know.
std::string_view why_without_effect(std::string_view key, const Asked& asked, const Plan& plan);

/// Names the overrides that cannot matter, each with the reason, in the plan's origin, and takes decisions that decide
/// nothing out of it. docs/model.md#decisions
void explain_effects(const Asked& asked, Plan& plan);

}  // namespace tilerail
