#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/resources.hpp"
#include "model/problem.hpp"
#include "sched/policy/grid.hpp"

namespace tilerail {

/// Half-open interval [begin, end).
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// `extent` in `parts` contiguous pieces that differ by at most one alignment unit: 64 where every piece has at least
/// eight of them, so that only the last tile of a block is ragged; 1 otherwise.
std::vector<Interval> split_evenly(std::int64_t extent, int parts);

/// `range` in tiles of `tile`, the last one ragged.
std::vector<Interval> split_tiles(Interval range, std::int64_t tile);

/// Size of the longest; 0 of none.
std::int64_t longest(std::span<const Interval> intervals);

/// Most square factor pair with rows <= cols. Source: thesis 4.2.1.
Grid square_grid(int gpus);

/// Of all factor pairs, the one whose traffic takes the scarcest link or capacity group the least time for this shape
/// and placement; where those times are within a tenth, the one that moves the fewest bytes; then the most square. With
/// `batch`, a tile enters the row (A) or column (B) once and is passed on; without, every GPU fetches it from its home.
/// docs/model.md#grid
Grid automatic_grid(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices,
                    bool batch);

/// Most time that one link or capacity group needs for the traffic of a grid, and all its bytes.
struct GridTraffic {
  Seconds bottleneck{0};
  Bytes total{0};
};
GridTraffic grid_traffic(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices,
                         Grid grid, bool batch);

}  // namespace tilerail
