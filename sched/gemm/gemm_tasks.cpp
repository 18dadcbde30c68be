#include "sched/gemm/gemm_tasks.hpp"

namespace tilerail {
namespace {

/// The stored region of op(X)[rows, cols].
View stored(BufferId buffer, Trans trans, Interval rows, Interval cols) {
  return trans == Trans::no ? View{buffer, rows.begin, cols.begin, rows.size(), cols.size()}
                            : View{buffer, cols.begin, rows.begin, cols.size(), rows.size()};
}

}  // namespace

std::vector<TileDirectory::Tile> GemmTasks::input_tiles(BufferId matrix_a, BufferId matrix_b) const {
  std::vector<std::vector<std::size_t>> row_users(rows_), col_users(cols_);
  for (std::size_t d = 0; d < tiling_.devices(); ++d) {
    for (const std::int64_t i : tiling_.rows_of(d)) row_users[static_cast<std::size_t>(i)].push_back(d);
    for (const std::int64_t j : tiling_.cols_of(d)) col_users[static_cast<std::size_t>(j)].push_back(d);
  }
  std::vector<TileDirectory::Tile> tiles;
  tiles.reserve(inputs());
  for (std::size_t i = 0; i < rows_; ++i)
    for (const Interval k : tiling_.k)
      tiles.push_back({stored(matrix_a, problem_.trans_a, tiling_.m[i], k), problem_.place_a, row_users[i]});
  for (std::size_t j = 0; j < cols_; ++j)
    for (const Interval k : tiling_.k)
      tiles.push_back({stored(matrix_b, problem_.trans_b, k, tiling_.n[j]), problem_.place_b, col_users[j]});
  return tiles;
}

View GemmTasks::home_of_c(TileId tile, BufferId matrix_c) const {
  const std::size_t number = tile.index() - inputs();
  return stored(matrix_c, Trans::no, tiling_.m[number / cols_], tiling_.n[number % cols_]);
}

}  // namespace tilerail
