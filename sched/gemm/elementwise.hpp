#pragma once

#include "sched/gemm/tiling.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Plans C = beta C alone, for alpha = 0 or k = 0, or an axpy, y = alpha x + beta y. Devices take turns, each with its
/// next tile: fetched unless it is there, updated, and written back unless it belongs there.
void plan_elementwise(PlanContext& context, const Tiling& tiling, Scalar beta);

}  // namespace tilerail
