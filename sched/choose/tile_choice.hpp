#pragma once

#include <cstdint>
#include <vector>

#include "sched/gemm/decomposition.hpp"

namespace tilerail {

/// Tile sizes for the thesis' heuristic: sides of squares, or lengths of vector tiles
/// with as many elements.
struct TileSizes {
  int64_t smallest = 128, step = 64, t_min = 2048;
};
inline constexpr TileSizes square_tiles, vector_tiles{16'384, 4'096, 4'194'304};

/// Rows (or columns) of the largest of `parts` blocks.
int64_t largest_piece(int64_t extent, int parts);

/// Cost of a tile size by the thesis' heuristic (4.2.1), for blocks of m_r x n_c and
/// depth k on `gpus` GPUs:
///   C_padding = sum over d in {m_r, n_c, k} with d mod T != 0 of 1 / floor(d / T)
///   C_overlap = gpus / (all sub-problems)
///   C_latency = 0.2 T_min / T for T < T_min
/// The thesis prints d / T for the padding, which would favour the largest T regardless
/// of waste. A dimension below T is one ragged tile without waste. docs/model.md#tile
double thesis_tile_cost(int64_t m_r, int64_t n_c, int64_t k, int gpus, Grid grid,
                        int64_t tile, int64_t t_min = square_tiles.t_min);

/// The T that minimises thesis_tile_cost among `largest` and the multiples of the step
/// (64) from the smallest (128) up to max(min(m_r, n_c, k), min(T_min, max(m_r, n_c,
/// k))), and no larger than `largest`; ties take the larger.
int64_t thesis_tile(int64_t m, int64_t n, int64_t k, Grid grid, int64_t largest,
                    const TileSizes& sizes = square_tiles);

/// Plans with more kernels are not made for evaluation alone.
inline constexpr int64_t most_candidate_kernels = 16384;

/// Number of kernels for a tile size, if every GPU has as many as the GPU with most.
int64_t kernel_count(int64_t m, int64_t n, int64_t k, Grid grid, int64_t tile);

/// Candidate tile sizes, ascending, at most `largest`: powers of two from 256, and 1.5
/// times them; the longer side of a block of C; its shorter side and a half, a quarter
/// and an eighth of it if whole and at least 256; a third and a sixth of it rounded up to
/// 16; and the longest extent that a GPU computes. Sizes with more than `most_kernels`
/// kernels are dropped, but at least one remains.
std::vector<int64_t> tile_candidates(int64_t m, int64_t n, int64_t k, Grid grid,
                                     int64_t largest, int64_t most_kernels);

}  // namespace tilerail
