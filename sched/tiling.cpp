#include "sched/tiling.hpp"

namespace tilerail {
namespace {

/// Cuts `range` in `parts` blocks and each block in tiles; appends the tiles and returns which belong to which block.
std::vector<Interval> cut(Interval range, int parts, std::int64_t tile, std::vector<Interval>& tiles) {
  std::vector<Interval> blocks;
  for (const Interval piece : split_evenly(range.size(), parts)) {
    const auto begin = static_cast<std::int64_t>(tiles.size());
    for (const Interval t : split_tiles({range.begin + piece.begin, range.begin + piece.end}, tile)) tiles.push_back(t);
    blocks.push_back({begin, static_cast<std::int64_t>(tiles.size())});
  }
  return blocks;
}

}  // namespace

Tiling::Tiling(const Region& region, Grid grid_shape, std::int64_t tile)
    : grid{grid_shape},
      k{split_tiles(region.k, tile)},
      rows_of{cut(region.m, grid_shape.rows, tile, m)},
      cols_of{cut(region.n, grid_shape.cols, tile, n)} {}

}  // namespace tilerail
