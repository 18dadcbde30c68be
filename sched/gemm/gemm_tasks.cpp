#include "sched/gemm/gemm_tasks.hpp"

namespace tilerail {

View stored(BufferId buffer, Trans trans, IndexRange rows, IndexRange cols) {
  return trans == Trans::no
             ? View{buffer, rows.begin, cols.begin, rows.size(), cols.size()}
             : View{buffer, cols.begin, rows.begin, cols.size(), rows.size()};
}

GemmTasks::GemmTasks(const GemmProblem& problem, const Tiling& tiling)
    : problem_{problem},
      tiling_{tiling},
      rows_{tiling.m.size()},
      cols_{tiling.n.size()},
      depth_{tiling.k.size()} {
  for (size_t layer = 0; layer < tiling.layers(); ++layer)
    layer_of_k_.insert(layer_of_k_.end(), size_t(tiling.depth(layer).size()), layer);
}

/// The range of k of these tiles.
IndexRange GemmTasks::depth_of(IndexRange k_tiles) const {
  return {tiling_.k[size_t(k_tiles.begin)].begin, tiling_.k[size_t(k_tiles.end) - 1].end};
}

TileRowsRead GemmTasks::rows_read(IndexRange of, int64_t k) const {
  if (of.size() == 1) return {};
  const IndexRange here = tiling_.k[size_t(k)];
  return {here.begin - depth_of(of).begin, here.size()};
}

std::vector<TileDirectory::Tile> GemmTasks::input_tiles(BufferId matrix_a,
                                                        BufferId matrix_b) const {
  using Users = std::vector<std::vector<size_t>>;  // by layer and row or column
  Users row_users(tiling_.layers() * rows_), col_users(tiling_.layers() * cols_);
  for (size_t d = 0; d < tiling_.devices(); ++d) {
    const size_t layer = tiling_.layer_of(d);
    for (const int64_t i : tiling_.rows_of(d))
      row_users[layer * rows_ + size_t(i)].push_back(d);
    for (const int64_t j : tiling_.cols_of(d))
      col_users[layer * cols_ + size_t(j)].push_back(d);
  }
  std::vector<TileDirectory::Tile> tiles;
  tiles.reserve(inputs());
  for (size_t i = 0; i < rows_; ++i)
    for (size_t k = 0; k < depth_; ++k)
      tiles.push_back(
          {stored(matrix_a, problem_.trans_a, tiling_.m[i], depth_of(of_a(int64_t(k)))),
           row_users[layer_of_k_[k] * rows_ + i]});
  for (size_t j = 0; j < cols_; ++j)
    for (size_t k = 0; k < depth_; ++k)
      tiles.push_back(
          {stored(matrix_b, problem_.trans_b, depth_of(of_b(int64_t(k))), tiling_.n[j]),
           col_users[layer_of_k_[k] * cols_ + j]});
  return tiles;
}

View GemmTasks::home_of_c(TileId tile, BufferId matrix_c) const {
  const size_t number = (tile.index() - inputs()) % (rows_ * cols_);
  return stored(matrix_c, Trans::no, tiling_.m[number / cols_],
                tiling_.n[number % cols_]);
}

TileId GemmTasks::total_of(TileId c_tile, std::span<const MemoryId> devices) const {
  const size_t number = (c_tile.index() - inputs()) % (rows_ * cols_);
  const TileOfC at{int64_t(number / cols_), int64_t(number % cols_)};
  std::vector<size_t> summing;
  for (size_t layer = 0; layer < tiling_.layers(); ++layer) {
    if (tiling_.depth(layer).size() == 0) continue;
    if (problem_.place_c.is_whole_in(devices[tiling_.owner(at, layer)]))
      return c(at.i, at.j, layer);
    summing.push_back(layer);
  }
  return c(at.i, at.j, summing[size_t(at.i + at.j) % summing.size()]);
}

size_t GemmTasks::parts() const {
  size_t count = 0;
  for (size_t layer = 0; layer < tiling_.layers(); ++layer)
    count += tiling_.depth(layer).size() > 0;
  return count;
}

}  // namespace tilerail
