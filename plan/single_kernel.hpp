#pragma once

#include "plan/plan.hpp"

namespace tilerail {

/// Whether the plan is one kernel whose operands are all matrices on its own GPU, so that nothing has to be copied and
/// no tile needs memory.
bool is_single_kernel(const Plan& plan);

}  // namespace tilerail
