#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/gemm/decomposition.hpp"

namespace tilerail {

/// Tiles that libraries choose for C = A B of m x n x k, from their papers and code.
/// docs/model.md#tile

/// PARALiA-GEMMex, thesis 4.2.1, for blocks of m_r x n_c:
///   C_padding = sum over d in {m_r, n_c, k} with d mod T != 0 of 1 / floor(d / T),
///               with m or n for m_r or n_c if blocks are unequal
///   C_overlap = gpus / ((m / T) (n / T) (k / T))
///   C_latency = 0.2 * 2048 / T
/// Every T from 128 to min(m_r, n_c, k), and to `largest`. Returns the `count` tiles of
/// least cost, best first; ties prefer the larger. Empty if the minimum is below 128.
std::vector<int64_t> gemmex_tiles(int64_t m, int64_t n, int64_t k, Grid grid,
                                  int64_t largest, size_t count);

/// PARALiA: the greatest common divisor of the sizes, halved while a GPU has fewer than
/// 32 sub-kernels, but not below the smallest benchmarked tile (1024); if there are more
/// than 128 from the start, doubled until there are not. A size below T is one tile.
int64_t paralia_tile(int64_t m, int64_t n, int64_t k, int gpus);

/// The tiles from which PARALiA's evaluations report the best of cuBLASXt: half the least
/// size, the least size, and the multiples of 1024 from max(1024, least / 8) below it, at
/// most 10000; ascending, at least one. If tiles of the least size (which may be 1) make
/// more than `most_kernels`: 1024, 2048 and 4096, except sizes that also do or are above
/// the largest size; if none remains, 8192 or 10000.
std::vector<int64_t> cublasxt_tiles(int64_t m, int64_t n, int64_t k,
                                    int64_t most_kernels);

/// XKBLAS: max(m, n) / gpus, at least 2048 if the maximum is above 16384, halved if above
/// 4096, at least 512, rounded up to a multiple of 64.
int64_t xkblas_tile(int64_t m, int64_t n, int gpus);

}  // namespace tilerail
