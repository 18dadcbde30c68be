#pragma once

#include "plan/part.hpp"
#include "sched/prescribed/transport.hpp"

namespace tilerail {

/// 2.5D Cannon (Solomonik and Demmel, 2011) on g x g GPUs in c layers, h = g / c; GPU
/// (i, j, l) is gpus[i + g (j + g l)]. In step t it adds op(A)_iq op(B)_qj to its C_ij,
///   q = i + j - l h - t mod g,  t = 0 ... h - 1,
/// so the layers cover every q once. Block (i, q) of op(A) is sent from its home straight
/// to where step 0 needs it on each layer; then A shifts from (i, j, l) to (i, j + 1, l)
/// and B to (i + 1, j, l) under the products. Layer 0 adds the sums of the other layers.
/// With M rows of A in block row 0 and N columns of B in block column 0, this moves
///   (g m - M) k + (g n - N) k + (c - 1) m n elements
/// without transposes. docs/model.md#prescribed-transport
///
/// Throws InputError if A, B and C are not in grid(g x g) on the GPUs of layer 0, or if g
/// is not a multiple of c.
Plan plan_cannon25d(const GemmProblem& problem, const Topology& topology,
                    std::span<const MemoryId> gpus,
                    const Transport::Options& transport = {});
/// The part of one rank, made without the operations of other ranks.
PlanPart part_of_cannon25d(const GemmProblem& problem, const Topology& topology,
                           std::span<const MemoryId> gpus, const OwnRank& own,
                           const Transport::Options& transport = {});

}  // namespace tilerail
