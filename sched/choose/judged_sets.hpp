#pragma once

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The fastest simulated plan over the candidate sets of GPUs. The search on a set does
/// not depend on the other sets, so the chosen set has the same plan when only its GPUs
/// are given. If a plan on all devices has more operations than the search may simulate,
/// the best plan by the estimate. docs/model.md#judge
Plan plan_on_best_set(const Question& question, const Judge& judge);

}  // namespace tilerail
