#include "sched/factor/factor_tasks.hpp"

#include <algorithm>
#include <initializer_list>

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

static Task task_of(OpKind kind, TileId writes, std::initializer_list<TileId> reads,
                    std::initializer_list<TileId> also_writes = {}) {
  Task task;
  task.op = {.kind = kind}, task.writes = writes;
  std::ranges::copy(reads, task.reads.begin());
  for (const TileId tile : also_writes) task.also_writes.push_back({tile});
  return task;
}

TaskGraph potrf_tasks(const FactorTiles& tiles) {
  TaskGraph graph;
  const size_t n = tiles.steps();
  for (size_t k = 0; k < n; ++k) {
    graph.insert(task_of(OpKind::potrf, tiles.of_a(k, k), {}));
    for (size_t i = k + 1; i < n; ++i)
      graph.insert(task_of(OpKind::trsm, tiles.of_a(i, k), {tiles.of_a(k, k)}));
    for (size_t j = k + 1; j < n; ++j) {
      const TileId b = tiles.of_a(j, k);
      graph.insert(task_of(OpKind::syrk, tiles.of_a(j, j), {b}));
      for (size_t i = j + 1; i < n; ++i) {
        Task product = task_of(OpKind::gemm, tiles.of_a(i, j), {tiles.of_a(i, k), b});
        product.op.trans_b = Trans::yes, product.op.alpha = Scalar::minus_one,
        product.op.beta = Scalar::one;
        graph.insert(product);
      }
    }
  }
  return graph;
}

TaskGraph geqrf_tasks(const FactorTiles& tiles) {
  TaskGraph graph;
  for (size_t k = 0; k < tiles.steps(); ++k) {
    const TileId r = tiles.of_a(k, k), t = tiles.of_t(k, k);
    graph.insert(task_of(OpKind::geqrt, r, {}, {t}));
    for (size_t j = k + 1; j < tiles.cols.size(); ++j)
      graph.insert(task_of(OpKind::ormqr, tiles.of_a(k, j), {r, t}));
    for (size_t i = k + 1; i < tiles.rows.size(); ++i) {
      const TileId v = tiles.of_a(i, k), t_of_v = tiles.of_t(i, k);
      graph.insert(task_of(OpKind::tsqrt, v, {}, {t_of_v, r}));
      for (size_t j = k + 1; j < tiles.cols.size(); ++j)
        graph.insert(
            task_of(OpKind::tsmqr, tiles.of_a(i, j), {v, t_of_v}, {tiles.of_a(k, j)}));
    }
  }
  return graph;
}

}  // namespace tilerail
