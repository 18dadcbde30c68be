#include "sched/emulation/library_tiles.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "model/base/extents.hpp"

namespace tilerail {
namespace {

double gemmex_cost(const std::array<int64_t, 3>& sides, double volume, int gpus,
                   int64_t tile) {
  double padding = 0;
  for (const int64_t d : sides)
    if (d % tile != 0) padding += 1.0 / double(d / tile);
  constexpr double weight = 0.2, t_min = 2048;
  const auto t = double(tile);
  return padding + gpus * t * t * t / volume + weight * t_min / t;
}

double sub_kernels(int64_t m, int64_t n, int64_t k, int64_t tile) {
  return double(ceil_div(m, tile)) * double(ceil_div(n, tile)) *
         double(ceil_div(k, tile));
}

}  // namespace

std::vector<int64_t> gemmex_tiles(int64_t m, int64_t n, int64_t k, Grid grid,
                                  int64_t largest, size_t count) {
  constexpr int64_t smallest = 128;
  const auto side = [](int64_t extent, int parts) {
    return extent % parts == 0 ? extent / parts : extent;
  };
  const std::array sides{side(m, grid.rows), side(n, grid.cols), k};
  const int64_t top =
      std::min({largest, ceil_div(m, grid.rows), ceil_div(n, grid.cols), k});
  const double volume = double(m) * double(n) * double(k);
  std::vector<std::pair<double, int64_t>> costs;
  for (int64_t tile = top; tile >= smallest; --tile)
    costs.emplace_back(gemmex_cost(sides, volume, grid.gpus(), tile), -tile);
  count = std::min(count, costs.size());
  std::ranges::partial_sort(costs, costs.begin() + ptrdiff_t(count));
  std::vector<int64_t> tiles;
  for (size_t i = 0; i < count; ++i) tiles.push_back(-costs[i].second);
  return tiles;
}

int64_t paralia_tile(int64_t m, int64_t n, int64_t k, int gpus) {
  constexpr int64_t fewest = 32, most = 128,
                    smallest = 1024;  // sub-kernels per GPU; side
  const int64_t common = std::gcd(std::gcd(m, n), k);
  int64_t tile = common;
  while (tile > smallest && sub_kernels(m, n, k, tile) < double(fewest * gpus))
    tile = std::max(tile / 2, smallest);
  if (tile < common) return tile;
  while (sub_kernels(m, n, k, tile) > double(most * gpus)) tile *= 2;
  return tile;
}

std::vector<int64_t> cublasxt_tiles(int64_t m, int64_t n, int64_t k,
                                    int64_t most_kernels) {
  constexpr int64_t step = 1024, most = 10'000;
  const int64_t least = std::max<int64_t>(1, std::min({m, n, k})),
                largest = std::max({m, n, k});
  const auto too_small = [&](int64_t tile) {
    return sub_kernels(m, n, k, tile) > double(most_kernels);
  };
  if (least < most && too_small(least)) {
    std::vector<int64_t> usual{step, 2 * step, 4 * step};
    std::erase_if(usual, [&](int64_t tile) {
      return tile > std::max(step, largest) || too_small(tile);
    });
    if (usual.empty()) usual.push_back(too_small(8 * step) ? most : 8 * step);
    return usual;
  }
  std::vector<int64_t> tiles{std::max<int64_t>(1, least / 2), least};
  const int64_t first =
      std::min(ceil_div(std::max(step, least / 8), step), most / step) * step;
  for (int64_t tile = first; tile < std::min(least, most); tile += step)
    tiles.push_back(tile);
  std::erase_if(tiles, [&](int64_t tile) {
    return tile > most || (tile < least && too_small(tile));
  });
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  return tiles;
}

int64_t xkblas_tile(int64_t m, int64_t n, int gpus) {
  constexpr int64_t large = 16'384, least_of_large = 2048, most = 4096, least = 512,
                    step = 64;
  const int64_t side = std::max(m, n);
  int64_t tile = side / gpus;
  if (side > large) tile = std::max(tile, least_of_large);
  if (tile > most) tile /= 2;
  return ceil_div(std::max(tile, least), step) * step;
}

}  // namespace tilerail
