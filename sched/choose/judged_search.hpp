#pragma once

#include "plan/plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// The fastest of the plans that the judge has seen: `start`, chosen by the estimate, and others in its neighbourhood
/// of ways, tiles and sets of GPUs, as many as `judge_ops` of the policy pays for. `start` where one plan is more than
/// that. docs/model.md#judge
Plan judged_plan(const Question& question, const Judge& judge, Plan start);

}  // namespace tilerail
