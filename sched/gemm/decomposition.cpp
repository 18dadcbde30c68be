#include "sched/gemm/decomposition.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

std::vector<IndexRange> split_evenly(int64_t extent, int parts) {
  const std::vector<int64_t> borders = even_borders(extent, parts);
  std::vector<IndexRange> pieces;
  for (size_t i = 0; i + 1 < borders.size(); ++i)
    pieces.push_back({borders[i], borders[i + 1]});
  return pieces;
}

std::vector<IndexRange> split_tiles(IndexRange range, int64_t tile,
                                    std::span<const int64_t> borders, Ragged ragged) {
  const int64_t whole = ragged == Ragged::merged
                            ? tile + tile / 2
                            : tile;  // up to this length, the rest is one tile
  std::vector<IndexRange> tiles;
  for (int64_t begin = range.begin; begin < range.end; begin = tiles.back().end) {
    const auto border = std::ranges::upper_bound(borders, begin);
    const int64_t end =
        border != borders.end() ? std::min(*border, range.end) : range.end;
    tiles.push_back({begin, end - begin <= whole ? end : begin + tile});
  }
  return tiles;
}

namespace {

/// The next growing tile of at least `size`, with `left` remaining.
int64_t growing_tile(int64_t left, int64_t size) {
  return left - size < size ? left : size;
}

}  // namespace

std::vector<IndexRange> growing_tiles(IndexRange range, int64_t tile,
                                      std::span<const int64_t> borders) {
  std::vector<IndexRange> tiles;
  int64_t begin = range.begin;
  for (int64_t size = tile; begin < range.end; size *= 2) {
    const IndexRange next{begin, begin + growing_tile(range.end - begin, size)};
    for (const IndexRange part : split_tiles(next, next.size(), borders))
      tiles.push_back(part);
    begin = next.end;
  }
  return tiles;
}

int64_t growing_tile_count(int64_t extent, int64_t tile) {
  int64_t count = 0;
  for (int64_t size = tile; extent > 0; size *= 2, ++count)
    extent -= growing_tile(extent, size);
  return count;
}

namespace {

constexpr int64_t smallest_cut = 256;  // below, launch overhead dominates a kernel

/// The tile's size divided by `parts`, rounded down to a multiple of 64.
int64_t part_of(IndexRange tile, int64_t parts) { return tile.size() / parts / 64 * 64; }

}  // namespace

std::vector<IndexRange> with_small_first(std::vector<IndexRange> tiles) {
  if (tiles.empty() || tiles.front().size() < smallest_cut) return tiles;
  const IndexRange first = tiles.front();
  const int64_t quarter = part_of(first, 4);
  tiles.front().begin += 2 * quarter;
  tiles.insert(tiles.begin(), {{first.begin, first.begin + quarter},
                               {first.begin + quarter, tiles.front().begin}});
  return tiles;
}

std::vector<IndexRange> with_small_last(std::vector<IndexRange> tiles) {
  if (tiles.empty() || tiles.back().size() < smallest_cut) return tiles;
  const int64_t middle = tiles.back().begin + part_of(tiles.back(), 2),
                end = tiles.back().end;
  tiles.back().end = middle;
  tiles.push_back({middle, end});
  return tiles;
}

Borders borders_of(const GemmProblem& p) {
  Borders borders;
  const auto add = [&](int64_t rows, int64_t cols, const Layout& place,
                       std::vector<int64_t>& of_rows, std::vector<int64_t>& of_cols) {
    for (const MatrixBlock& block : place.blocks(rows, cols)) {
      if (block.row > 0) of_rows.push_back(block.row);
      if (block.col > 0) of_cols.push_back(block.col);
    }
  };
  const bool ta = p.trans_a == Trans::yes, tb = p.trans_b == Trans::yes;
  if (!p.scales_only()) {
    add(p.rows_a(), p.cols_a(), p.place_a, ta ? borders.k : borders.m,
        ta ? borders.m : borders.k);
    if (p.has_b())
      add(p.rows_b(), p.cols_b(), p.place_b, tb ? borders.n : borders.k,
          tb ? borders.k : borders.n);
  }
  add(p.m, p.n, p.place_c, borders.m, borders.n);
  for (auto* of : {&borders.m, &borders.n, &borders.k}) {
    std::ranges::sort(*of);
    of->erase(std::unique(of->begin(), of->end()), of->end());
  }
  return borders;
}

int64_t longest(std::span<const IndexRange> intervals) {
  int64_t size = 0;
  for (const IndexRange interval : intervals) size = std::max(size, interval.size());
  return size;
}

Grid square_grid(int gpus) {
  Grid best{1, gpus};
  for (int rows = 1; rows * rows <= gpus; ++rows)
    if (gpus % rows == 0) best = {rows, gpus / rows};
  return best;
}

namespace {

/// Busy time of every resource, accumulated over traffic.
class TrafficSum {
 public:
  TrafficSum(const Resources& resources)
      : resources_{resources}, busy_(std::max<size_t>(1, resources.count())) {}

  void add(MemoryId src, MemoryId dst, Bytes bytes) {
    if (src == dst) return;
    for (const auto& use : resources_.pair_cost(src, dst).uses)
      busy_[use.resource] += bytes * use.per_byte;
    total_ += bytes;
  }

  /// Adds a tensor's part on a device to or from its homes, an equal share each.
  void add_out(MemoryId device, const Layout& homes, Bytes bytes) {
    for (const MemoryId home : homes.members())
      add(device, home, bytes / double(homes.members().size()));
  }
  void add_in(const Layout& homes, MemoryId device, Bytes bytes) {
    for (const MemoryId home : homes.members())
      add(home, device, bytes / double(homes.members().size()));
  }

  /// Adds one panel for a group of GPUs, from each of its homes an equal share. Batched:
  /// every member receives an equal part first and forwards it to the others; otherwise
  /// each fetches the whole panel.
  void panel(const Layout& homes, const std::vector<MemoryId>& members, Bytes bytes,
             bool batch) {
    if (homes.is_replicated()) return;
    for (const MemoryId home : homes.members())
      panel_from(home, members, bytes / double(homes.members().size()), batch);
  }

  GridTraffic result() const { return {*std::ranges::max_element(busy_), total_}; }

 private:
  void panel_from(MemoryId home, const std::vector<MemoryId>& members, Bytes bytes,
                  bool batch) {
    const auto holder = std::ranges::find(members, home);
    const double g = double(members.size());
    for (const auto i : indices(members)) {
      if (!batch) {
        add(home, members[i], bytes);
      } else if (holder !=
                 members.end()) {  // the home is a member: its panel makes one round
        if (members[(i + 1) % members.size()] != home)
          add(members[i], members[(i + 1) % members.size()], bytes);
      } else {
        add(home, members[i], bytes / g);
        add(members[i], members[(i + 1) % members.size()], bytes * (g - 1) / g);
      }
    }
  }

  const Resources& resources_;
  std::vector<Seconds> busy_;
  Bytes total_{0};
};

}  // namespace

GridTraffic grid_traffic(const GemmProblem& p, const Resources& resources,
                         std::span<const MemoryId> devices, Grid grid, bool batch) {
  const Bytes element{double(element_size(p.dtype))};
  const auto row_blocks = split_evenly(p.m, grid.rows),
             col_blocks = split_evenly(p.n, grid.cols);
  const auto at = [&](int r, int c) {
    return devices[size_t(int64_t{r} * grid.cols + c)];
  };
  TrafficSum sum{resources};
  std::vector<MemoryId> members;
  for (int r = 0; r < grid.rows; ++r) {
    members.clear();
    for (int c = 0; c < grid.cols; ++c) members.push_back(at(r, c));
    sum.panel(p.place_a, members, element * double(row_blocks[r].size() * p.k), batch);
  }
  for (int c = 0; c < grid.cols; ++c) {
    members.clear();
    for (int r = 0; r < grid.rows; ++r) members.push_back(at(r, c));
    sum.panel(p.place_b, members, element * double(col_blocks[c].size() * p.k), batch);
  }
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) {
      const Bytes bytes = element * double(row_blocks[r].size() * col_blocks[c].size());
      if (p.beta != 0) sum.add_in(p.place_c, at(r, c), bytes);
      sum.add_out(at(r, c), p.place_c, bytes);
    }
  return sum.result();
}

Grid automatic_grid(const GemmProblem& problem, const Resources& resources,
                    std::span<const MemoryId> devices, bool batch) {
  constexpr double equal_within =
      0.1;  // accuracy of the traffic model: closer bottlenecks count as equal
  const int gpus = int(devices.size());
  Grid best = square_grid(gpus);
  GridTraffic least = grid_traffic(problem, resources, devices, best, batch);
  for (int rows = 1; rows <= gpus; ++rows) {
    if (gpus % rows != 0) continue;
    const Grid grid{rows, gpus / rows};
    const GridTraffic here = grid_traffic(problem, resources, devices, grid, batch);
    const Seconds gain = least.bottleneck - here.bottleneck;
    const Seconds even = equal_within * std::max(least.bottleneck, here.bottleneck);
    if (gain > even || (gain >= -even && here.total < least.total))
      best = grid, least = here;
  }
  return best;
}

}  // namespace tilerail
