#pragma once

#include "plan/plan.hpp"
#include "sched/choose/plan_simulator.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The plan with the least estimated makespan over the tile sizes, sets of GPUs and
/// staged copies that the policy leaves open. Shares apply to plans on all devices only.
/// Throws InfeasibleError if no plan exists. docs/model.md#tile
Plan estimated_plan(const Question& question);

/// The estimated plan or, if the question is simulated, the fastest simulated plan over
/// the candidate sets of GPUs. The search on a set does not depend on the other sets, so
/// the chosen set has the same plan when only its GPUs are given. If a plan on all
/// devices has more operations than the search may simulate, the estimated plan.
/// docs/model.md#evaluator
Plan search_plan(const Question& question, const PlanSimulator& simulator);

}  // namespace tilerail
