#pragma once

#include <span>

#include "model/problem.hpp"
#include "model/published/workload.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// A GEMM as PARALiA's workload model sees it: kernels of T x T x T (cut at the sizes of
/// the problem) by the topology's rule times their number, and the watts of devices that
/// compute, where the topology has them of all. `problem` as `checked` returns it. Throws
/// InputError when a device has no times for the data type.
WorkloadProblem workload_problem(const GemmProblem& problem, const Topology& topology,
                                 std::span<const MemoryId> devices, int64_t tile,
                                 int max_hops);
/// With the tile that the policy takes without a search and the hops that its routing
/// allows.
WorkloadProblem workload_problem(const Question& question);

}  // namespace tilerail
