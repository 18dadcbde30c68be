#pragma once

#include <cstdint>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "model/published/overlap_models.hpp"

namespace tilerail {

/// A problem on one GPU for the overlap models: transfer times of the topology's routes;
/// kernels of size T by its rule (cut at the sizes of the problem); inputs that are not
/// on the GPU are fetched, a result elsewhere is written back. Dimensions: m, n and k of
/// a GEMM, m and k of a gemv, the length of an axpy or a dot. The host is the first one;
/// slowdowns are those of simultaneous copies in both directions. `problem`: as returned
/// by `checked`. Throws InputError if the GPU has no times for the data type.
OverlapProblem overlap_problem(const GemmProblem& problem, const Topology& topology,
                               MemoryId gpu);

/// CoCoPeLia's tile grids up to the least dimension and to `largest`: multiples of 256,
/// for vectors multiples of 2^18 up to 2^26. A dimension below the first multiple is one
/// tile and sets no limit; if all are, or `largest` is, the tile is the longest
/// dimension, at most `largest`.
std::vector<int64_t> overlap_tiles(const GemmProblem& problem, int64_t largest);

}  // namespace tilerail
