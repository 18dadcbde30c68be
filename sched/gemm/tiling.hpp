#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/gemm/decomposition.hpp"
#include "sched/place/distribution.hpp"

namespace tilerail {

/// A region of the problem: rows of C, columns of C, and a range of k.
struct Region {
  IndexRange m, n, k;
};

/// The tile of C in tile row i and tile column j.
struct TileOfC {
  int64_t i = 0, j = 0;
};

/// A region cut into tiles, and their owners (thesis 4.2.1).
///
///        j:  0  1 | 2  3        blocks, grid 2 x 2, two tile rows and two tile
///                               columns per block:
///   i: 0    d0 d0 | d1 d1       device d1 computes tiles (i, j) with i in {0, 1},
///      1    d0 d0 | d1 d1       j in {2, 3}
///      ------------------
///      2    d2 d2 | d3 d3
class Tiling {
 public:
  std::vector<IndexRange> m, n, k;  // tile boundaries in the problem

  /// Blocks of equal shares: the region is cut in blocks, and each block in tiles. No
  /// tile crosses a border.
  Tiling(const Region& region, Grid grid, TileCut how, const Borders& borders = {});
  /// Cuts the region in tiles and assigns them by `distribution`; `shares` has one weight
  /// per device. Blocks of equal shares are cut as above, proportional blocks at the
  /// shares of the devices' rows and columns. Each layer of the grid has all tiles of C,
  /// and a part of k proportional to the shares of its devices.
  Tiling(const Region& region, Grid grid, TileCut how, Distribution distribution,
         std::span<const double> shares, const Borders& borders = {});

  size_t devices() const { return tiles_of_.size(); }
  size_t layers() const { return depths_.size(); }
  size_t layer_of(size_t device) const { return device / (devices() / layers()); }
  size_t owner(TileOfC tile, size_t layer = 0) const {
    return owners_[(layer * m.size() + size_t(tile.i)) * n.size() + size_t(tile.j)];
  }
  /// The tiles of k of a layer, as an interval of their numbers.
  IndexRange depth(size_t layer) const { return depths_[layer]; }
  IndexRange depth_of(size_t device) const { return depths_[layer_of(device)]; }
  /// The tiles of k, as an interval of their numbers, that share one tile of a matrix
  /// whose columns run along k: with tile-depth=columns all of the layer up to the next
  /// border, else only this one.
  IndexRange column_of(int64_t k_tile) const { return columns_[size_t(k_tile)]; }
  /// Row by row.
  const std::vector<TileOfC>& tiles_of(size_t device) const { return tiles_of_[device]; }

  /// Tile rows and tile columns of a device's tiles, ascending.
  const std::vector<int64_t>& rows_of(size_t device) const { return rows_of_[device]; }
  const std::vector<int64_t>& cols_of(size_t device) const { return cols_of_[device]; }

 private:
  void index(size_t devices);
  void add_columns(TileCut how, IndexRange depth, std::span<const int64_t> borders);

  std::vector<size_t> owners_;       // of each tile of C, row by row, layer by layer
  std::vector<IndexRange> depths_;   // by layer
  std::vector<IndexRange> columns_;  // by tile of k
  std::vector<std::vector<TileOfC>> tiles_of_;
  std::vector<std::vector<int64_t>> rows_of_, cols_of_;
};

/// One sub-problem: C_ij += alpha A_ik B_kj.
struct SubProblem {
  int64_t i = 0, j = 0, k = 0;
};

}  // namespace tilerail
