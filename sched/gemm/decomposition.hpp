#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/resources.hpp"
#include "model/problem.hpp"
#include "sched/policy/grid.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// Half-open interval [begin, end).
struct IndexRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// Cuts `extent` in `parts` contiguous pieces at its even_borders
/// (model/machine/matrix_blocks.hpp), which are aligned, so that only the last tile of a
/// block is ragged.
std::vector<IndexRange> split_evenly(int64_t extent, int parts);

/// Cuts `range` in tiles of `tile`, the last one ragged; tiles end at each of the
/// ascending borders. Ragged::merged: a rest of at most half a tile before a border or
/// the end is part of the tile before it.
std::vector<IndexRange> split_tiles(IndexRange range, int64_t tile,
                                    std::span<const int64_t> borders = {},
                                    Ragged ragged = Ragged::own);

/// How a region is cut in tiles: side, rows and depth (docs/model.md#tile-shape), smaller
/// tiles (docs/model.md#small-tiles), and ragged rests (docs/model.md#ragged-tiles).
struct TileCut {
  int64_t tile = 0;
  SmallTiles small = SmallTiles::none;
  Ragged ragged = Ragged::own;
  TileRows rows = TileRows::side;
  TileDepth depth = TileDepth::side;

  bool squares() const { return rows == TileRows::side && depth == TileDepth::side; }

  TileCut(int64_t side, SmallTiles where = SmallTiles::none, Ragged rests = Ragged::own)
      : tile{side}, small{where}, ragged{rests} {}
};

/// Cuts `range` in tiles of `tile`, twice, four times ... that size; a rest of less than
/// half of the next size is part of the tile before it. Tiles end at borders.
std::vector<IndexRange> growing_tiles(IndexRange range, int64_t tile,
                                      std::span<const int64_t> borders = {});
int64_t growing_tile_count(int64_t extent,
                           int64_t tile);  // without borders; 0 if empty

/// Cuts the first tile in a quarter, a quarter and the rest, or the last tile in halves;
/// all pieces but the last are multiples of 64. A tile below 256 stays whole.
std::vector<IndexRange> with_small_first(std::vector<IndexRange> tiles);
std::vector<IndexRange> with_small_last(std::vector<IndexRange> tiles);

/// Where blocks of matrices in several memories meet (model/machine/matrix_blocks.hpp),
/// as rows of C, columns of C and along k, ascending. A tile must not cross them, so that
/// it is in one memory.
struct Borders {
  std::vector<int64_t> m, n, k;
};
Borders borders_of(const GemmProblem& problem);

/// Size of the longest interval; 0 if empty.
int64_t longest(std::span<const IndexRange> intervals);

/// Most square factor pair with rows <= cols. Source: thesis 4.2.1.
Grid square_grid(int gpus);

/// The factor pair whose traffic takes the scarcest link or capacity group the least time
/// for this shape and placement; ties within a tenth go to the pair that moves the fewest
/// bytes, then to the most square. With `batch`, a tile enters the row (A) or column (B)
/// once and is forwarded; without, every GPU fetches it from its home. docs/model.md#grid
Grid automatic_grid(const GemmProblem& problem, const Resources& resources,
                    std::span<const MemoryId> devices, bool batch);

/// The longest time of a link or capacity group for the traffic of a grid, and all its
/// bytes.
struct GridTraffic {
  Seconds bottleneck{0};
  Bytes total{0};
};
GridTraffic grid_traffic(const GemmProblem& problem, const Resources& resources,
                         std::span<const MemoryId> devices, Grid grid, bool batch);

}  // namespace tilerail
