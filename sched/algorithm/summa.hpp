#pragma once

#include "plan/part.hpp"
#include "sched/prescribed/transport.hpp"

namespace tilerail {

struct SummaOptions {
  int64_t panel = 1024;  // columns of op(A) and rows of op(B) that are sent at a time
  Transport::Options transport = {};
};

/// SUMMA (van de Geijn and Watts, 1997): C stays on its GPUs. For each panel of k, each
/// block of op(A) is broadcast to the GPUs with blocks of C in its rows, and each block
/// of op(B) to those in its columns. In grid(p x q), without transposes, this moves
///   (q - 1) m k + (p - 1) k n elements.
/// The next panel is sent under the products of this one. Tiles end where blocks of A, B
/// or C do. docs/model.md#prescribed-transport
///
/// Throws InputError if A, B and C are not in one layout on GPUs.
Plan plan_summa(const GemmProblem& problem, const Topology& topology,
                const SummaOptions& options = {});
/// The part of one rank, made without the operations of other ranks.
PlanPart part_of_summa(const GemmProblem& problem, const Topology& topology,
                       const OwnRank& own, const SummaOptions& options = {});

}  // namespace tilerail
