#pragma once

#include "sched/gemm/tiling.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/plan_context.hpp"

namespace tilerail {

/// Bytes that the tiles of a region need on each device when everything fetched stays (thesis 4.2.3: SoftBuf): the
/// row panel of A, the column panel of B and the block of C, as far as they are not there already, and the buffers
/// of lazily fetched tiles of C. `passing_on`: a device may also get what it only passes on to others.
std::vector<int64_t> ample_bytes(const Tiling& tiling, const GemmProblem& problem, const Topology& topology,
                                 std::span<const MemoryId> devices, const Decisions& decisions, bool passing_on);

/// Bytes of a slot that holds any tile of sub-problems of at most these sides.
int64_t slot_bytes(int64_t m, int64_t n, int64_t k, const GemmProblem& problem);
/// Slots below which a device cannot work: one tile each of A, B and C (C_in takes the place of A or B).
inline constexpr int64_t least_slots = 3;

/// Plans one region of the problem.
///   C[m, n] = alpha op(A)[m, k] op(B)[k, n] + beta C[m, n]
/// `warm`: tiles that devices have from the start. Returns those that they have in the end.
std::vector<TileDirectory::WarmTile> plan_region(PlanContext& context, const Tiling& tiling, Scalar beta,
                                                 std::span<const TileDirectory::WarmTile> warm);

}  // namespace tilerail
