#pragma once

#include "sched/gemm/decomposition.hpp"
#include "sched/tasks/task_graph.hpp"

namespace tilerail {

/// Tasks of A = L L^T on the lower triangle of square tiles: tile (i, j), i >= j, is
/// number i (i + 1) / 2 + j. For each k: factor the diagonal tile, solve for the tiles
/// below it, and subtract their products from the rest (right-looking variant).
inline TileId cholesky_tile(int64_t i, int64_t j) {
  return TileId{size_t(i * (i + 1) / 2 + j)};
}

inline TaskGraph cholesky_tasks(int64_t tiles) {
  TaskGraph graph;
  const auto insert = [&](OpKind kind, TileId writes, TileId a = no_tile,
                          TileId b = no_tile) {
    const bool is_gemm = kind == OpKind::gemm;
    const Op op{.kind = kind,
                .trans_b = is_gemm ? Trans::yes : Trans::no,
                .alpha = is_gemm ? Scalar::minus_one : Scalar::one,
                .beta = Scalar::one};
    graph.insert({op, {a, b}, {}, writes});
  };
  for (int64_t k = 0; k < tiles; ++k) {
    insert(OpKind::potrf, cholesky_tile(k, k));
    for (int64_t i = k + 1; i < tiles; ++i)
      insert(OpKind::trsm, cholesky_tile(i, k), cholesky_tile(k, k));
    for (int64_t j = k + 1; j < tiles; ++j) {
      insert(OpKind::syrk, cholesky_tile(j, j), cholesky_tile(j, k));
      for (int64_t i = j + 1; i < tiles; ++i)
        insert(OpKind::gemm, cholesky_tile(i, j), cholesky_tile(i, k),
               cholesky_tile(j, k));
    }
  }
  return graph;
}

}  // namespace tilerail
