#pragma once

#include <span>

#include "model/problem.hpp"
#include "model/published/workload.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// A GEMM in PARALiA's workload model: kernels of T x T x T (cut at the sizes of the
/// problem) by the topology's rule times their number, and the watts of computing devices
/// if the topology has them for all. `problem`: as returned by `checked`. Throws
/// InputError if a device has no times for the data type.
WorkloadProblem workload_problem(const GemmProblem& problem, const Topology& topology,
                                 std::span<const MemoryId> devices, int64_t tile,
                                 int max_hops);
/// Uses the policy's tile without a search and the hops of its routing. An emulation that
/// predicts as PARALiA's library has its factors, and kernels of the least dimension.
WorkloadProblem workload_problem(const Question& question);

}  // namespace tilerail
