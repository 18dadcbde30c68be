#pragma once

#include <string_view>

#include "plan/plan.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// Why the field `key` of the policy, as the user gave it, cannot change anything for the plan that came of it; empty
/// where it can. It never says so of a field that can; of some that cannot, it does not know.
std::string_view why_without_effect(std::string_view key, const Question& asked, const Plan& plan);

/// Names the overrides that cannot matter, each with the reason, in the plan's origin, and takes decisions that decide
/// nothing out of it. docs/model.md#decisions
void explain_effects(const Question& asked, Plan& plan);

}  // namespace tilerail
