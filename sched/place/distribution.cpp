#include "sched/place/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

using Owners = std::vector<size_t>;

/// Owners of contiguous runs.
Owners in_runs(int64_t count, std::span<const double> weights) {
  const auto sizes = apportioned(count, weights);
  Owners holders;
  for (const auto w : indices(sizes)) holders.insert(holders.end(), size_t(sizes[w]), w);
  return holders;
}

/// Distributes columns to grid columns, then the rows of each column to its devices, both
/// by `deal`.
Owners by_columns(int64_t rows, int64_t cols, Grid grid, std::span<const double> shares,
                  Owners (*deal)(int64_t, std::span<const double>)) {
  const auto grid_rows = size_t(grid.rows), grid_cols = size_t(grid.cols);
  std::vector<double> of_column(grid_cols, 0.0);
  for (const auto d : indices(shares)) of_column[d % grid_cols] += shares[d];
  std::vector<Owners> rows_of(grid_cols);
  for (size_t c = 0; c < grid_cols; ++c) {
    if (of_column[c] == 0) continue;
    std::vector<double> in_column(grid_rows);
    for (size_t r = 0; r < grid_rows; ++r) in_column[r] = shares[r * grid_cols + c];
    rows_of[c] = deal(rows, in_column);
  }
  const Owners column_of = deal(cols, of_column);
  Owners owners;
  for (size_t i = 0; i < size_t(rows); ++i)
    for (const size_t c : column_of) owners.push_back(rows_of[c][i] * grid_cols + c);
  return owners;
}

/// Equal blocks of whole tile rows and columns; then in turn the tiles right of all
/// blocks, below them, and right of and below them, each row by row. A device takes no
/// more than its part of all tiles: the next device with room takes the excess.
Owners even_blocks(int64_t rows, int64_t cols, Grid grid,
                   std::span<const double> shares) {
  std::vector<int64_t> room = apportioned(rows * cols, shares);
  Owners owners(size_t(rows * cols));
  const auto take = [&](int64_t i, int64_t j, size_t device) {
    device %= room.size();
    while (room[device] == 0) device = (device + 1) % room.size();
    --room[device];
    return owners[size_t(i * cols + j)] = device;
  };
  const int64_t block_rows = rows / grid.rows, block_cols = cols / grid.cols;
  const bool has_blocks = block_rows > 0 && block_cols > 0;
  const int64_t below = has_blocks ? block_rows * grid.rows : 0,
                right = has_blocks ? block_cols * grid.cols : 0;
  for (int64_t i = 0; i < below; ++i)
    for (int64_t j = 0; j < right; ++j)
      take(i, j, size_t(i / block_rows * grid.cols + j / block_cols));
  size_t next = 0;
  const auto take_in_turn = [&](int64_t first_row, int64_t last_row, int64_t first_col,
                                int64_t last_col) {
    for (int64_t i = first_row; i < last_row; ++i)
      for (int64_t j = first_col; j < last_col; ++j) next = take(i, j, next) + 1;
  };
  take_in_turn(0, below, right, cols);
  take_in_turn(below, rows, 0, right);
  take_in_turn(below, rows, right, cols);
  return owners;
}

/// The tile of one device for which another needs the fewest additional rows of A and
/// columns of B; ties go to the last.
size_t tile_to_give(const Owners& owners, size_t cols, size_t from, size_t to) {
  std::set<size_t> known_rows, known_cols;
  for (const auto t : indices(owners))
    if (owners[t] == to) known_rows.insert(t / cols), known_cols.insert(t % cols);
  size_t best = 0, fewest = 3;
  for (size_t t = owners.size(); t-- > 0 && fewest > 0;) {
    if (owners[t] != from) continue;
    const size_t added = 2 - known_rows.count(t / cols) - known_cols.count(t % cols);
    if (added < fewest) best = t, fewest = added;
  }
  return best;
}

/// Unless all shares are equal, moves tiles until no move reduces the maximum load.
Owners balanced(Owners owners, int64_t cols, std::span<const double> shares) {
  if (all_equal(shares)) return owners;
  std::vector<int64_t> tiles(shares.size(), 0);
  for (const size_t d : owners) ++tiles[d];
  const auto load = [&](size_t device, int more) {
    const double own = double(tiles[device] + more);
    if (own == 0) return 0.0;
    return shares[device] > 0 ? own / shares[device]
                              : std::numeric_limits<double>::infinity();
  };
  while (true) {
    size_t from = 0, to = 0;
    for (const auto d : indices(shares)) {
      if (load(d, 0) > load(from, 0)) from = d;
      if (load(d, 1) < load(to, 1)) to = d;
    }
    constexpr double rounding = 1e-9;
    if (load(to, 1) >= (1 - rounding) * load(from, 0)) return owners;
    owners[tile_to_give(owners, size_t(cols), from, to)] = to;
    --tiles[from], ++tiles[to];
  }
}

}  // namespace

std::vector<int64_t> apportioned(int64_t count, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> parts;
  std::vector<double> rests;
  for (const double weight : weights) {
    const double exact = double(count) * weight / sum;
    parts.push_back(int64_t(exact));
    rests.push_back(exact - std::floor(exact));
  }
  for (int64_t left = count - std::accumulate(parts.begin(), parts.end(), int64_t{0});
       left > 0; --left) {
    const auto most = std::ranges::max_element(rests);
    ++parts[size_t(most - rests.begin())];
    *most = -1;
  }
  return parts;
}

std::vector<size_t> assigned(int64_t count, std::span<const double> weights) {
  std::vector<double> next(weights.size());  // (things + 1) / weight
  for (const auto w : indices(weights))
    next[w] = weights[w] > 0 ? 1 / weights[w] : std::numeric_limits<double>::infinity();
  std::vector<double> things(weights.size(), 1);
  Owners holders;
  for (int64_t i = 0; i < count; ++i) {
    const auto w = size_t(std::ranges::min_element(next) - next.begin());
    holders.push_back(w);
    next[w] = ++things[w] / weights[w];
  }
  return holders;
}

std::vector<size_t> tile_owners(Distribution distribution, int64_t rows, int64_t cols,
                                Grid grid, std::span<const double> shares) {
  switch (distribution) {
    case Distribution::blocks:
    case Distribution::proportional:  // in whole tiles here; Tiling cuts blocks first:
                                      // docs/model.md#distribution
      return balanced(by_columns(rows, cols, grid, shares, in_runs), cols, shares);
    case Distribution::sequential:
      return in_runs(rows * cols, shares);
    case Distribution::round_robin:
      return assigned(rows * cols, shares);
    case Distribution::cyclic_1d: {
      const Owners columns = assigned(cols, shares);
      Owners owners;
      for (int64_t i = 0; i < rows; ++i)
        owners.insert(owners.end(), columns.begin(), columns.end());
      return owners;
    }
    case Distribution::even_blocks:
      return even_blocks(rows, cols, grid, shares);
    case Distribution::cyclic_2d:
      return balanced(by_columns(rows, cols, grid, shares, assigned), cols, shares);
  }
  return {};
}

}  // namespace tilerail
