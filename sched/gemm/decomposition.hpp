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
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// `extent` in `parts` contiguous pieces between its even_borders
/// (model/matrix_blocks.hpp), which are aligned, so that only the last tile of a block is
/// ragged.
std::vector<Interval> split_evenly(int64_t extent, int parts);

/// `range` in tiles of `tile`, the last one ragged; where it crosses one of the ascending
/// borders, a tile ends there. Merged, a rest of at most half a tile before a border or
/// the end is part of the tile before it.
std::vector<Interval> split_tiles(Interval range, int64_t tile,
                                  std::span<const int64_t> borders = {},
                                  Ragged ragged = Ragged::own);

/// How a region is cut in tiles: their side, their rows and depth
/// (docs/model.md#tile-shape), where they are smaller (docs/model.md#small-tiles), and
/// what rests become (docs/model.md#ragged-tiles).
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

/// `range` in tiles of `tile`, twice that, four times ...; a rest of less than half of
/// that is part of the tile before it. Where it crosses one of the borders, a tile ends
/// there.
std::vector<Interval> growing_tiles(Interval range, int64_t tile,
                                    std::span<const int64_t> borders = {});
int64_t growing_tile_count(int64_t extent,
                           int64_t tile);  // without borders; 0 of nothing

/// The first one in a quarter, a quarter and the rest, or the last one in halves, all but
/// the last of them multiples of 64; a tile below 256 stays whole.
std::vector<Interval> with_small_first(std::vector<Interval> tiles);
std::vector<Interval> with_small_last(std::vector<Interval> tiles);

/// Where blocks of matrices that are in several memories meet (model/matrix_blocks.hpp),
/// as rows of C, columns of C and along k, ascending: a tile must not go beyond, so that
/// it is in one memory.
struct Borders {
  std::vector<int64_t> m, n, k;
};
Borders borders_of(const GemmProblem& problem, const Topology& topology);

/// Size of the longest; 0 of none.
int64_t longest(std::span<const Interval> intervals);

/// Most square factor pair with rows <= cols. Source: thesis 4.2.1.
Grid square_grid(int gpus);

/// Of all factor pairs, the one whose traffic takes the scarcest link or capacity group
/// the least time for this shape and placement; where those times are within a tenth, the
/// one that moves the fewest bytes; then the most square. With `batch`, a tile enters the
/// row (A) or column (B) once and is passed on; without, every GPU fetches it from its
/// home. docs/model.md#grid
Grid automatic_grid(const GemmProblem& problem, const Resources& resources,
                    std::span<const MemoryId> devices, bool batch);

/// Most time that one link or capacity group needs for the traffic of a grid, and all its
/// bytes.
struct GridTraffic {
  Seconds bottleneck{0};
  Bytes total{0};
};
GridTraffic grid_traffic(const GemmProblem& problem, const Resources& resources,
                         std::span<const MemoryId> devices, Grid grid, bool batch);

}  // namespace tilerail
