#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/overlap_models.hpp"
#include "model/problem.hpp"
#include "model/topology.hpp"

namespace tilerail {

/// Copies between hosts and the GPU as they were measured, instead of the topology's.
struct HostTransfers {
  std::optional<TransferTime> in, out;
};

/// A GEMM on one GPU as the overlap models see it: transfer times of the topology's routes, kernels of T x T x T by its
/// rule (cut at the sizes of the problem), what is not on the GPU to be got, C to be set where it is not. The host is
/// the first one, the slowdowns those of one copy each way at once. `problem` as `checked` returns it. Throws
/// InputError when the GPU has no times for the data type.
OverlapProblem overlap_problem(const GemmProblem& problem, const Topology& topology, MemoryId gpu,
                               const HostTransfers& measured = {});

/// Multiples of 256, CoCoPeLia's grid, up to the least of m, n and k and to `largest`; the least of them all where it
/// is below 256.
std::vector<std::int64_t> overlap_tiles(const GemmProblem& problem, std::int64_t largest);

}  // namespace tilerail
