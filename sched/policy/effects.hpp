#pragma once

#include <string_view>

#include "plan/plan.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// Names the overrides that cannot change anything for the plan that came of the question, each with the reason, in the
/// plan's origin, and takes decisions that decide nothing out of it. It never says so of a field that can; of some that
/// cannot, it does not know. The policy is as the user gave it. docs/model.md#decisions
void explain_effects(const Question& asked, Plan& plan);

/// Whether all its devices have the same kernel times.
bool equally_fast(const Question& asked);
/// Whether the policy's rule of shares gives each of them the same part of C.
bool share_equally(const Question& asked);

/// Whether a field, overridden or not, may change some plan of the question. False only where it cannot.
bool may_matter(const Question& asked, std::string_view key);

}  // namespace tilerail
