#include "sched/choose/tile_choice.hpp"

#include <algorithm>

#include "model/base/extents.hpp"

namespace tilerail {

std::int64_t largest_piece(std::int64_t extent, int parts) { return longest(split_evenly(extent, parts)); }

double thesis_tile_cost(std::int64_t m_r, std::int64_t n_c, std::int64_t k, int gpus, Grid grid, std::int64_t tile,
                        std::int64_t t_min) {
  double padding = 0;
  for (const std::int64_t d : {m_r, n_c, k})
    if (d > tile && d % tile != 0) padding += 1.0 / static_cast<double>(d / tile);
  const double sub_problems = static_cast<double>(grid.rows * ceil_div(m_r, tile)) *
                              static_cast<double>(grid.cols * ceil_div(n_c, tile)) *
                              static_cast<double>(ceil_div(k, tile));
  const double overlap = gpus / sub_problems;
  constexpr double weight = 0.2;
  const double latency = tile < t_min ? weight * static_cast<double>(t_min) / static_cast<double>(tile) : 0.0;
  return padding + overlap + latency;
}

std::int64_t thesis_tile(std::int64_t m, std::int64_t n, std::int64_t k, Grid grid, std::int64_t largest,
                         const TileSizes& sizes) {
  const auto [smallest, step, t_min] = sizes;
  const std::int64_t m_r = largest_piece(m, grid.rows), n_c = largest_piece(n, grid.cols);
  const std::int64_t longest = std::max({m_r, n_c, k});
  const std::int64_t top = std::min(largest, std::max(std::min({m_r, n_c, k}), std::min(t_min, longest)));
  std::int64_t best = std::max<std::int64_t>(1, top);
  double best_cost = thesis_tile_cost(m_r, n_c, k, grid.rows * grid.cols, grid, best, t_min);
  if (top % step != 0 && top > smallest) best_cost = 1e300;  // not a size kernels like
  for (std::int64_t tile = top / step * step; tile >= smallest; tile -= step) {
    const double cost = thesis_tile_cost(m_r, n_c, k, grid.rows * grid.cols, grid, tile, t_min);
    if (cost < best_cost - 1e-12) best = tile, best_cost = cost;
  }
  return best;
}

std::int64_t kernel_count(std::int64_t m, std::int64_t n, std::int64_t k, Grid grid, std::int64_t tile) {
  const std::int64_t m_r = largest_piece(m, grid.rows), n_c = largest_piece(n, grid.cols);
  const std::int64_t depth = grid.layers * ceil_div(largest_piece(k, grid.layers), tile);
  return grid.rows * ceil_div(m_r, tile) * grid.cols * ceil_div(n_c, tile) * depth;
}

std::vector<std::int64_t> tile_candidates(std::int64_t m, std::int64_t n, std::int64_t k, Grid grid,
                                          std::int64_t largest, std::int64_t most_kernels) {
  const std::int64_t m_r = largest_piece(m, grid.rows), n_c = largest_piece(n, grid.cols);
  const std::int64_t longest = std::max({m_r, n_c, largest_piece(k, grid.layers), std::int64_t{1}});
  std::vector<std::int64_t> sides{longest, std::max(m_r, n_c)};
  constexpr std::int64_t least = 256;
  const std::int64_t shorter = std::min(m_r, n_c);
  for (const std::int64_t parts : {1, 2, 4, 8})  // that leave no rest
    if (shorter % parts == 0 && shorter / parts >= least) sides.push_back(shorter / parts);
  constexpr std::int64_t unit = 16;        // so that all columns are aligned
  for (const std::int64_t parts : {3, 6})  // that leave little
    if (shorter / parts >= least) sides.push_back(ceil_div(shorter, parts * unit) * unit);
  for (std::int64_t power = least; power <= longest; power *= 2)
    for (const std::int64_t side : {power, power + power / 2}) sides.push_back(side);
  std::sort(sides.begin(), sides.end());
  std::vector<std::int64_t> tiles;
  for (const std::int64_t tile : sides) {
    if (tile < 1 || tile > std::min(largest, longest) || (!tiles.empty() && tile == tiles.back())) continue;
    if (kernel_count(m, n, k, grid, tile) <= most_kernels) tiles.push_back(tile);
  }
  if (tiles.empty()) tiles.push_back(std::max<std::int64_t>(1, std::min(longest, largest)));
  return tiles;
}

}  // namespace tilerail
