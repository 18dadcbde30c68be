#pragma once

#include <cstdint>
#include <vector>

#include "sched/decomposition.hpp"

namespace tilerail {

/// A region of the problem: rows of C, columns of C, and a range of k.
struct Region {
  Interval m, n, k;
};

/// A region cut into tiles, and who computes them (thesis 4.2.1). Tile rows of one grid row belong together, as do
/// tile columns of one grid column.
///
///        j:  0  1 | 2  3        grid 2 x 2, two tile rows and two tile columns a block:
///   i: 0    d0 d0 | d1 d1       device d1 computes tiles (i, j) with i in rows_of[0], j in cols_of[1]
///      1    d0 d0 | d1 d1
///      ------------------
///      2    d2 d2 | d3 d3
struct Tiling {
  Grid grid;
  std::vector<Interval> m, n, k;           // tile boundaries in the problem
  std::vector<Interval> rows_of, cols_of;  // tile rows of each grid row, tile columns of each grid column

  Tiling(const Region& region, Grid grid, std::int64_t tile);

  std::size_t devices() const { return static_cast<std::size_t>(grid.rows * grid.cols); }
  Interval tile_rows(std::size_t device) const { return rows_of[device / static_cast<std::size_t>(grid.cols)]; }
  Interval tile_cols(std::size_t device) const { return cols_of[device % static_cast<std::size_t>(grid.cols)]; }
};

/// One sub-problem: C_ij += alpha A_ik B_kj.
struct SubProblem {
  std::int64_t i = 0, j = 0, k = 0;
};

}  // namespace tilerail
