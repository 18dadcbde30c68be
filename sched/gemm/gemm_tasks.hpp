#pragma once

#include "model/problem.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/tasks/directory.hpp"

namespace tilerail {

/// The stored region of op(X)[rows, cols].
View stored(BufferId buffer, Trans trans, IndexRange rows, IndexRange cols);

/// The tasks of C = alpha op(A) op(B) + beta C on a tiling, created on request:
/// sub-problem (i, j, k) reads A_ik and B_kj and writes C_ij. Tiles are numbered A_ik,
/// then B_kj, then C_ij; only tiles of A and B are shared, and thus in the directory.
/// Several k may share a tile (Tiling::column_of). Each of several layers has its own
/// C_ij, a sum over its part of k.
class GemmTasks {
 public:
  GemmTasks(const GemmProblem& problem, const Tiling& tiling);

  TileId a(int64_t i, int64_t k) const {
    return TileId{size_t(i) * depth_ + size_t(of_a(k).begin)};
  }
  TileId b(int64_t k, int64_t j) const {
    return TileId{(rows_ + size_t(j)) * depth_ + size_t(of_b(k).begin)};
  }
  TileId c(int64_t i, int64_t j, size_t layer = 0) const {
    return TileId{inputs() + (layer * rows_ + size_t(i)) * cols_ + size_t(j)};
  }
  size_t inputs() const { return (rows_ + cols_) * depth_; }

  /// `first`, `last`: whether it is the first or last planned k of its tile.
  Task task(const SubProblem& sub, bool first, bool last) const {
    return {
        {OpKind::gemm, problem_.trans_a, problem_.trans_b, Scalar::alpha, Scalar::one},
        {a(sub.i, sub.k), b(sub.k, sub.j)},
        {rows_read(of_a(sub.k), sub.k), rows_read(of_b(sub.k), sub.k)},
        c(sub.i, sub.j, layer_of_k_[size_t(sub.k)]),
        first,
        last};
  }

  /// The tiles of A, each with the devices that have tiles of C in its row, then the
  /// tiles of B, with the devices in its column.
  std::vector<TileDirectory::Tile> input_tiles(BufferId matrix_a,
                                               BufferId matrix_b) const;
  /// The region of C of a tile.
  View home_of_c(TileId tile, BufferId matrix_c) const;
  /// The layer's C_ij to which the others are added: on the device that holds C if it
  /// computes one of them; else the layers take turns.
  TileId total_of(TileId c_tile, std::span<const MemoryId> devices) const;
  /// Number of layers that have some of k.
  size_t parts() const;

 private:
  /// The tiles of k that share a tile of A, or of B, with this one; only the lowest
  /// number is used.
  IndexRange of_a(int64_t k) const { return joined(k, problem_.trans_a == Trans::yes); }
  IndexRange of_b(int64_t k) const { return joined(k, problem_.trans_b == Trans::no); }
  IndexRange joined(int64_t k, bool columns_along_k) const {
    return columns_along_k ? tiling_.column_of(k) : IndexRange{k, k + 1};
  }
  TileRowsRead rows_read(IndexRange of, int64_t k) const;
  IndexRange depth_of(IndexRange k_tiles) const;

  const GemmProblem& problem_;
  const Tiling& tiling_;
  size_t rows_, cols_, depth_;
  std::vector<size_t> layer_of_k_;
};

}  // namespace tilerail
