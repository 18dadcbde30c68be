#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sched/gemm/decomposition.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/task_graph.hpp"

namespace tilerail {

/// Tiles of the matrix of a factorisation. Rows and columns are cut at the same places,
/// so that tiles on the diagonal have at least as many rows as columns, except in the
/// last row of tiles.
struct FactorTiles {
  std::vector<IndexRange> rows, cols;
  int64_t reflectors = 0;  // in a block of a T, at most

  /// `borders`: ascending; no tile crosses them.
  FactorTiles(const FactorProblem& problem, int64_t tile, int64_t most_reflectors,
              std::span<const int64_t> borders);

  /// Number of factored tiles on the diagonal.
  size_t steps() const { return std::min(rows.size(), cols.size()); }
  TileId of_a(size_t i, size_t j) const { return TileId{i + j * rows.size()}; }
  TileId of_t(size_t i, size_t j) const {
    return TileId{i + (j + cols.size()) * rows.size()};
  }
  /// By TileId: the tiles of A, then the tiles of T if there is a second tensor. The T of
  /// a tile takes the first rows of the same region, one row per reflector of a block.
  std::vector<TileDirectory::Tile> all(std::span<const BufferId> tensors) const;
};

/// Tasks of A = L L^T. For each k: factor the diagonal tile, solve for the tiles below
/// it, and subtract their products from the rest (right-looking variant).
TaskGraph potrf_tasks(const FactorTiles& tiles);

/// Tasks of A = Q R. For each k: factor the diagonal tile; then each tile below it
/// together with the R so far, from the top (flat tree). Every factorisation is followed
/// by the updates of the columns to the right.
/// Source: Buttari, Langou, Kurzak, Dongarra, A class of parallel tiled linear algebra
/// algorithms for multicore architectures, Parallel Computing 35 (1), 2009.
TaskGraph geqrf_tasks(const FactorTiles& tiles);

}  // namespace tilerail
