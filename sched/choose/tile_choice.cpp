#include "sched/choose/tile_choice.hpp"

#include <algorithm>

#include "model/base/extents.hpp"

namespace tilerail {

int64_t largest_piece(int64_t extent, int parts) {
  return longest(split_evenly(extent, parts));
}

double thesis_tile_cost(int64_t m_r, int64_t n_c, int64_t k, int gpus, Grid grid,
                        int64_t tile, int64_t t_min) {
  double padding = 0;
  for (const int64_t d : {m_r, n_c, k})
    if (d > tile && d % tile != 0) padding += 1.0 / double(d / tile);
  const double sub_problems = double(grid.rows * ceil_div(m_r, tile)) *
                              double(grid.cols * ceil_div(n_c, tile)) *
                              double(ceil_div(k, tile));
  const double overlap = gpus / sub_problems;
  constexpr double weight = 0.2;
  const double latency = tile < t_min ? weight * double(t_min) / double(tile) : 0.0;
  return padding + overlap + latency;
}

int64_t thesis_tile(int64_t m, int64_t n, int64_t k, Grid grid, int64_t largest,
                    const TileSizes& sizes) {
  const auto [smallest, step, t_min] = sizes;
  const int64_t m_r = largest_piece(m, grid.rows), n_c = largest_piece(n, grid.cols);
  const int64_t longest = std::max({m_r, n_c, k});
  const int64_t top =
      std::min(largest, std::max(std::min({m_r, n_c, k}), std::min(t_min, longest)));
  int64_t best = std::max<int64_t>(1, top);
  double best_cost =
      thesis_tile_cost(m_r, n_c, k, grid.rows * grid.cols, grid, best, t_min);
  if (top % step != 0 && top > smallest)
    best_cost = 1e300;  // a size that is slow for kernels
  for (int64_t tile = top / step * step; tile >= smallest; tile -= step) {
    const double cost =
        thesis_tile_cost(m_r, n_c, k, grid.rows * grid.cols, grid, tile, t_min);
    if (cost < best_cost - 1e-12) best = tile, best_cost = cost;
  }
  return best;
}

int64_t kernel_count(int64_t m, int64_t n, int64_t k, Grid grid, int64_t tile) {
  const int64_t m_r = largest_piece(m, grid.rows), n_c = largest_piece(n, grid.cols);
  const int64_t depth = grid.layers * ceil_div(largest_piece(k, grid.layers), tile);
  return grid.rows * ceil_div(m_r, tile) * grid.cols * ceil_div(n_c, tile) * depth;
}

std::vector<int64_t> tile_candidates(int64_t m, int64_t n, int64_t k, Grid grid,
                                     int64_t largest, int64_t most_kernels) {
  const int64_t m_r = largest_piece(m, grid.rows), n_c = largest_piece(n, grid.cols);
  const int64_t longest = std::max({m_r, n_c, largest_piece(k, grid.layers), int64_t{1}});
  std::vector<int64_t> sides{longest, std::max(m_r, n_c)};
  constexpr int64_t least = 256;
  const int64_t shorter = std::min(m_r, n_c);
  for (const int64_t parts : {1, 2, 4, 8})  // without a rest
    if (shorter % parts == 0 && shorter / parts >= least)
      sides.push_back(shorter / parts);
  constexpr int64_t unit = 16;        // keeps all columns aligned
  for (const int64_t parts : {3, 6})  // with a small rest
    if (shorter / parts >= least) sides.push_back(ceil_div(shorter, parts * unit) * unit);
  for (int64_t power = least; power <= longest; power *= 2)
    for (const int64_t side : {power, power + power / 2}) sides.push_back(side);
  std::sort(sides.begin(), sides.end());
  std::vector<int64_t> tiles;
  for (const int64_t tile : sides) {
    if (tile < 1 || tile > std::min(largest, longest) ||
        (!tiles.empty() && tile == tiles.back()))
      continue;
    if (kernel_count(m, n, k, grid, tile) <= most_kernels) tiles.push_back(tile);
  }
  if (tiles.empty()) tiles.push_back(std::max<int64_t>(1, std::min(longest, largest)));
  return tiles;
}

}  // namespace tilerail
