#pragma once

#include "sched/gemm/decomposition.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Plans r = alpha x . y: each device adds up its part of the vectors, tile after tile; the first device adds the sums
/// of the others to its own and writes the result to its home.
///
///   x, y:  | d0 d0 d0 | d1 d1 d1 |     s0 = x y of d0's tiles, s1 = of d1's
///   r:     s1 goes to d0, s0 += s1, s0 goes home
///
/// Devices whose sums cannot reach the first one take no part.
void plan_dot(PlanContext& context, int64_t tile, const Borders& borders);

}  // namespace tilerail
