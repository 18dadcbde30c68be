#pragma once

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The fastest of the judged plans on the sets of GPUs that are worth trying. The search
/// on a set does not depend on the other sets, so a set that is chosen has the same plan
/// when only its GPUs are given. Where a plan on all devices has more operations than the
/// judge may see, the plan that the estimate prefers. docs/model.md#judge
Plan plan_on_best_set(const Question& question, const Judge& judge);

}  // namespace tilerail
