#include "sched/factor/factor_tasks.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

FactorTiles::FactorTiles(const FactorProblem& problem, int64_t tile,
                         int64_t most_reflectors, std::span<const int64_t> borders)
    : rows{split_tiles({0, problem.m}, tile, borders)},
      cols{split_tiles({0, problem.n}, tile, borders)},
      reflectors{most_reflectors} {}

std::vector<TileDirectory::Tile> FactorTiles::all(
    std::span<const BufferId> tensors) const {
  std::vector<TileDirectory::Tile> tiles;
  for (const BufferId tensor : tensors)
    for (const auto j : indices(cols))
      for (const IndexRange row : rows) {
        View home{tensor, row.begin, cols[j].begin, row.size(), cols[j].size()};
        if (tensor != tensors.front()) {
          if (j < steps()) home.cols = std::min(home.cols, rows[j].size());
          home.rows = std::min({reflectors, home.rows, home.cols});
        }
        tiles.push_back({home, {}});
      }
  return tiles;
}

double potrf_kernels(int64_t tiles) {
  const auto t = double(tiles);
  return t * (t + 1) * (t + 2) / 6;
}

/// The sum of (rows - k) (cols - k) over all steps k.
double geqrf_kernels(int64_t rows, int64_t cols) {
  const auto m = double(rows), n = double(cols), s = std::min(m, n);
  return s * m * n - (m + n) * s * (s - 1) / 2 + s * (s - 1) * (2 * s - 1) / 6;
}

TaskGraph potrf_tasks(const FactorTiles& tiles) {
  TaskGraph graph;
  const auto insert = [&](OpKind kind, TileId writes, TileId a = no_tile,
                          TileId b = no_tile) {
    const bool is_gemm = kind == OpKind::gemm;
    const Op op{.kind = kind,
                .trans_b = is_gemm ? Trans::yes : Trans::no,
                .alpha = is_gemm ? Scalar::minus_one : Scalar::one,
                .beta = is_gemm ? Scalar::one : Scalar::zero};
    graph.insert({op, {a, b}, {}, writes});
  };
  for (size_t k = 0; k < tiles.steps(); ++k) {
    insert(OpKind::potrf, tiles.of_a(k, k));
    for (size_t i = k + 1; i < tiles.steps(); ++i)
      insert(OpKind::trsm, tiles.of_a(i, k), tiles.of_a(k, k));
    for (size_t j = k + 1; j < tiles.steps(); ++j) {
      insert(OpKind::syrk, tiles.of_a(j, j), tiles.of_a(j, k));
      for (size_t i = j + 1; i < tiles.steps(); ++i)
        insert(OpKind::gemm, tiles.of_a(i, j), tiles.of_a(i, k), tiles.of_a(j, k));
    }
  }
  return graph;
}

TaskGraph geqrf_tasks(const FactorTiles& tiles) {
  TaskGraph graph;
  const auto factor = [](OpKind kind, TileId y, TileId t) {
    Task task;
    task.op = {.kind = kind}, task.writes = y, task.also_writes = {{t}};
    return task;
  };
  const auto update = [](OpKind kind, TileId y, TileId v, TileId t) {
    Task task;
    task.op = {.kind = kind}, task.writes = y, task.reads = {v, t};
    return task;
  };
  for (size_t k = 0; k < tiles.steps(); ++k) {
    const TileId r = tiles.of_a(k, k);
    graph.insert(factor(OpKind::geqrt, r, tiles.of_t(k, k)));
    for (size_t j = k + 1; j < tiles.cols.size(); ++j)
      graph.insert(update(OpKind::ormqr, tiles.of_a(k, j), r, tiles.of_t(k, k)));
    for (size_t i = k + 1; i < tiles.rows.size(); ++i) {
      const TileId v = tiles.of_a(i, k), t = tiles.of_t(i, k);
      Task stacked = factor(OpKind::tsqrt, v, t);
      stacked.also_writes.push_back({r});
      graph.insert(stacked);
      for (size_t j = k + 1; j < tiles.cols.size(); ++j) {
        Task both = update(OpKind::tsmqr, tiles.of_a(i, j), v, t);
        both.also_writes.push_back({tiles.of_a(k, j)});
        graph.insert(both);
      }
    }
  }
  return graph;
}

}  // namespace tilerail
