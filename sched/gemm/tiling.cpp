#include "sched/gemm/tiling.hpp"

#include <algorithm>

namespace tilerail {
namespace {

/// Cuts `range` in `parts` blocks and each block in tiles; appends the tiles and returns the block of each.
std::vector<std::size_t> cut(Interval range, int parts, std::int64_t tile, std::vector<Interval>& tiles) {
  std::vector<std::size_t> block_of;
  std::size_t block = 0;
  for (const Interval piece : split_evenly(range.size(), parts)) {
    for (const Interval t : split_tiles({range.begin + piece.begin, range.begin + piece.end}, tile)) tiles.push_back(t);
    block_of.resize(tiles.size(), block++);
  }
  return block_of;
}

void sort_unique(std::vector<std::int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Tiling::Tiling(const Region& region, Grid grid, std::int64_t tile) : k{split_tiles(region.k, tile)} {
  const auto row_of = cut(region.m, grid.rows, tile, m), col_of = cut(region.n, grid.cols, tile, n);
  owners_.reserve(m.size() * n.size());
  for (const std::size_t r : row_of)
    for (const std::size_t c : col_of) owners_.push_back(r * static_cast<std::size_t>(grid.cols) + c);
  index(static_cast<std::size_t>(std::int64_t{grid.rows} * grid.cols));
}

Tiling::Tiling(const Region& region, Grid grid, std::int64_t tile, Distribution distribution,
               std::span<const double> shares) {
  if (distribution == Distribution::blocks && all_equal(shares)) {
    *this = Tiling{region, grid, tile};
    return;
  }
  m = split_tiles(region.m, tile), n = split_tiles(region.n, tile), k = split_tiles(region.k, tile);
  owners_ =
      tile_owners(distribution, static_cast<std::int64_t>(m.size()), static_cast<std::int64_t>(n.size()), grid, shares);
  index(shares.size());
}

void Tiling::index(std::size_t devices) {
  tiles_of_.resize(devices), rows_of_.resize(devices), cols_of_.resize(devices);
  const auto columns = static_cast<std::int64_t>(n.size());
  for (std::size_t t = 0; t < owners_.size(); ++t) {
    const TileOfC tile{static_cast<std::int64_t>(t) / columns, static_cast<std::int64_t>(t) % columns};
    auto& rows = rows_of_[owners_[t]];
    if (rows.empty() || rows.back() != tile.i) rows.push_back(tile.i);
    cols_of_[owners_[t]].push_back(tile.j);
    tiles_of_[owners_[t]].push_back(tile);
  }
  for (auto& cols : cols_of_) sort_unique(cols);
}

}  // namespace tilerail
