#pragma once

#include <cstdint>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "model/published/overlap_models.hpp"

namespace tilerail {

/// A problem on one GPU as the overlap models see it: transfer times of the topology's
/// routes, kernels whose sizes are T by its rule (cut at the sizes of the problem), what
/// is not on the GPU to be got, the result to be set where it is not. Dimensions are m, n
/// and k of a GEMM, m and k of a gemv, the length of an axpy or a dot. The host is the
/// first one, the slowdowns those of one copy each way at once. `problem` as `checked`
/// returns it. Throws InputError when the GPU has no times for the data type.
OverlapProblem overlap_problem(const GemmProblem& problem, const Topology& topology,
                               MemoryId gpu);

/// CoCoPeLia's grids up to the least dimension and to `largest`: multiples of 256, for
/// vectors multiples of 2^18 up to 2^26. A dimension below the first of them is one tile
/// that is cut there and bounds nothing; where all are, or `largest` is, the tile is the
/// longest of them, up to `largest`.
std::vector<int64_t> overlap_tiles(const GemmProblem& problem, int64_t largest);

}  // namespace tilerail
