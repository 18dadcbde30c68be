#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/gemm/decomposition.hpp"

namespace tilerail {

/// The tiles that libraries choose for C = A B of m x n x k, as their papers and their
/// code say. docs/model.md#tile

/// PARALiA-GEMMex, thesis 4.2.1, for blocks of m_r x n_c:
///   C_padding = sum over d in {m_r, n_c, k} with d mod T != 0 of 1 / floor(d / T), m or
///   n where blocks are not equal C_overlap = gpus / ((m / T) (n / T) (k / T)) C_latency
///   = 0.2 * 2048 / T
/// Every T from 128 to min(m_r, n_c, k), and to `largest`; the `count` of least cost, the
/// best first, of equals the larger. None where that minimum is below 128.
std::vector<int64_t> gemmex_tiles(int64_t m, int64_t n, int64_t k, Grid grid,
                                  int64_t largest, size_t count);

/// PARALiA: the greatest common divisor of the sizes, halved while there are fewer than
/// 32 sub-kernels a GPU, but not below the smallest tile that its benchmarks have (1024);
/// where there are more than 128 from the start, doubled until there are not. A size
/// below T is one tile.
int64_t paralia_tile(int64_t m, int64_t n, int64_t k, int gpus);

/// Those of which the evaluations of PARALiA report cuBLASXt's best: half the least size,
/// the least size, and the multiples of 1024 from max(1024, least / 8) below it, no
/// larger than 10000; ascending. One at least. Where tiles of the least size make more
/// than `most_kernels` (one size may be 1): of 1024, 2048 and 4096 those that do not and
/// are no larger than the largest size, or else 8192 or 10000.
std::vector<int64_t> cublasxt_tiles(int64_t m, int64_t n, int64_t k,
                                    int64_t most_kernels);

/// XKBLAS: max(m, n) / gpus, at least 2048 where that maximum is above 16384, halved if
/// above 4096, at least 512, rounded up to a multiple of 64.
int64_t xkblas_tile(int64_t m, int64_t n, int gpus);

}  // namespace tilerail
