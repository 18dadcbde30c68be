#pragma once

#include "sched/gemm/owners.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Bytes that the tiles of a region need on each device if all fetched tiles stay (thesis
/// 4.2.3: SoftBuf): the row panel of A, the column panel of B and the block of C, as far
/// as they are not local, and the buffers of lazily fetched tiles of C. `passing_on`: a
/// device may also receive tiles only to forward them.
std::vector<int64_t> ample_bytes(const Tiling& tiling, const GemmProblem& problem,
                                 std::span<const MemoryId> devices,
                                 const Decisions& decisions, bool passing_on);

/// Bytes of a slot that holds any tile of sub-problems of at most these sides.
int64_t slot_bytes(int64_t m, int64_t n, int64_t k, const GemmProblem& problem);
/// Minimum number of slots of a device: one tile each of A, B and C (C_in takes the place
/// of A or B).
inline constexpr int64_t least_slots = 3;

/// Plans a product.
///   C[m, n] = alpha op(A)[m, k] op(B)[k, n] + beta C[m, n]
/// `warm`: tiles on devices at the start. Returns the tiles on devices at the end.
std::vector<TileDirectory::WarmTile> plan_product(
    PlanContext& context, const GemmProblem& problem, const Tiling& tiling,
    std::span<const TileDirectory::WarmTile> warm);

/// The order of a product's tasks if devices complete their parts one after another, and
/// have memory for all tiles: for a context of a plan that is not used further.
TaskOrder order_in_parts(PlanContext& context, const GemmProblem& problem,
                         const Tiling& tiling, std::vector<std::vector<Share>> parts);
/// Plans a product with its tasks in this order, with evictions.
std::vector<TileDirectory::WarmTile> plan_in_order(PlanContext& context,
                                                   const GemmProblem& problem,
                                                   const Tiling& tiling, TaskOrder order);

/// Plans r = alpha x . y: each device sums its part of the vectors, tile after tile; the
/// first device adds the other sums to its own and writes the result to its home.
///
///   x, y:  | d0 d0 d0 | d1 d1 d1 |     s0 = x y of d0's tiles, s1 = of d1's
///   r:     s1 goes to d0, s0 += s1, s0 goes home
///
/// Devices whose sums cannot reach the first device are left out.
void plan_dot(PlanContext& context, const GemmProblem& problem, int64_t tile,
              const Borders& borders);

/// Plans C = beta C, for alpha = 0 or k = 0, or an axpy, y = alpha x + beta y. Devices
/// take turns, each with its next tile: fetched unless it is local, updated, and written
/// back unless its home is local.
void plan_elementwise(PlanContext& context, const GemmProblem& problem,
                      const Tiling& tiling, Scalar beta);

}  // namespace tilerail
