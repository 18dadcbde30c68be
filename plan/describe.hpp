#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilerail {

/// An operation for messages: "operation 3 (gemm, queue 1: compute on gpu0)".
std::string describe(const Plan& plan, OpId op);

}  // namespace tilerail
