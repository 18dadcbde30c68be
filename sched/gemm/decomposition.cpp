#include "sched/gemm/decomposition.hpp"

#include <algorithm>

namespace tilerail {

std::vector<Interval> split_evenly(std::int64_t extent, int parts) {
  constexpr std::int64_t unit = 64, least_units = 8;
  const std::int64_t align = extent >= parts * unit * least_units ? unit : 1;
  std::vector<Interval> pieces;
  std::int64_t begin = 0;
  for (int i = 0; i < parts; ++i) {
    const std::int64_t end = i + 1 == parts ? extent : (extent * (i + 1) / parts + align / 2) / align * align;
    pieces.push_back({begin, end});
    begin = end;
  }
  return pieces;
}

std::vector<Interval> split_tiles(Interval range, std::int64_t tile) {
  std::vector<Interval> tiles;
  for (std::int64_t begin = range.begin; begin < range.end; begin += tile)
    tiles.push_back({begin, std::min(begin + tile, range.end)});
  return tiles;
}

std::int64_t longest(std::span<const Interval> intervals) {
  std::int64_t size = 0;
  for (const Interval interval : intervals) size = std::max(size, interval.size());
  return size;
}

Grid square_grid(int gpus) {
  Grid best{1, gpus};
  for (int rows = 1; rows * rows <= gpus; ++rows)
    if (gpus % rows == 0) best = {rows, gpus / rows};
  return best;
}

namespace {

/// How long every resource is busy, as traffic is added.
class TrafficSum {
 public:
  TrafficSum(const Resources& resources) : resources_{resources}, busy_(resources.count()) {}

  void add(MemoryId src, MemoryId dst, Bytes bytes) {
    if (src == dst) return;
    for (const auto& use : resources_.way(src, dst).uses) busy_[use.resource] += bytes * use.per_byte;
    total_ += bytes;
  }

  /// One panel for a group of GPUs. Batched, every member is the first to receive an equal part and passes it on to
  /// the others in turn; otherwise each fetches the whole from its home.
  void panel(MemoryId home, const std::vector<MemoryId>& members, Bytes bytes, bool batch) {
    const auto holder = std::find(members.begin(), members.end(), home);
    const double g = static_cast<double>(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!batch) {
        add(home, members[i], bytes);
      } else if (holder != members.end()) {  // the home is a member: its panel goes round once
        if (members[(i + 1) % members.size()] != home) add(members[i], members[(i + 1) % members.size()], bytes);
      } else {
        add(home, members[i], bytes / g);
        add(members[i], members[(i + 1) % members.size()], bytes * (g - 1) / g);
      }
    }
  }

  GridTraffic result() const { return {*std::max_element(busy_.begin(), busy_.end()), total_}; }

 private:
  const Resources& resources_;
  std::vector<Seconds> busy_;
  Bytes total_{0};
};

}  // namespace

GridTraffic grid_traffic(const GemmProblem& p, const Resources& resources, std::span<const MemoryId> devices, Grid grid,
                         bool batch) {
  const Bytes element{static_cast<double>(element_size(p.dtype))};
  const auto row_blocks = split_evenly(p.m, grid.rows), col_blocks = split_evenly(p.n, grid.cols);
  const auto at = [&](int r, int c) { return devices[static_cast<std::size_t>(std::int64_t{r} * grid.cols + c)]; };
  TrafficSum sum{resources};
  std::vector<MemoryId> members;
  for (int r = 0; r < grid.rows; ++r) {
    members.clear();
    for (int c = 0; c < grid.cols; ++c) members.push_back(at(r, c));
    sum.panel(p.place_a, members, element * static_cast<double>(row_blocks[r].size() * p.k), batch);
  }
  for (int c = 0; c < grid.cols; ++c) {
    members.clear();
    for (int r = 0; r < grid.rows; ++r) members.push_back(at(r, c));
    sum.panel(p.place_b, members, element * static_cast<double>(col_blocks[c].size() * p.k), batch);
  }
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) {
      const Bytes bytes = element * static_cast<double>(row_blocks[r].size() * col_blocks[c].size());
      if (p.beta != 0) sum.add(p.place_c, at(r, c), bytes);
      sum.add(at(r, c), p.place_c, bytes);
    }
  return sum.result();
}

Grid automatic_grid(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices,
                    bool batch) {
  constexpr double alike = 0.1;  // the traffic model is no better than this: closer bottlenecks count as equal
  const int gpus = static_cast<int>(devices.size());
  Grid best = square_grid(gpus);
  GridTraffic least = grid_traffic(problem, resources, devices, best, batch);
  for (int rows = 1; rows <= gpus; ++rows) {
    if (gpus % rows != 0) continue;
    const Grid grid{rows, gpus / rows};
    const GridTraffic here = grid_traffic(problem, resources, devices, grid, batch);
    const Seconds gain = least.bottleneck - here.bottleneck;
    const Seconds even = alike * std::max(least.bottleneck, here.bottleneck);
    if (gain > even || (gain >= -even && here.total < least.total)) best = grid, least = here;
  }
  return best;
}

}  // namespace tilerail
