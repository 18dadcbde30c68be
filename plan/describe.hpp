#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilerail {

/// An operation for messages: "operation 3 (gemm, queue 1: compute on gpu0)".
std::string describe(const Plan& plan, OpId op);

/// Why the plan was taken, in a sentence: its reasons of kind `from` or a later kind.
/// Empty without such a reason.
std::string reason_text(const PlanOrigin& origin,
                        PlanReason::Kind from = PlanReason::only_candidate);

}  // namespace tilerail
