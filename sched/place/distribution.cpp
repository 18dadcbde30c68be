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

/// Holders of contiguous runs.
Owners in_runs(int64_t count, std::span<const double> weights) {
  const auto sizes = apportioned(count, weights);
  Owners holders;
  for (const auto w : indices(sizes)) holders.insert(holders.end(), size_t(sizes[w]), w);
  return holders;
}

/// Columns to grid columns, then the rows of each column to its devices, both by `deal`.
template <class Deal>
Owners by_columns(int64_t rows, int64_t cols, Grid grid, std::span<const double> shares, Deal&& deal) {
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

/// Equal blocks of whole tile rows and columns; then the tiles right of all blocks, those below them, and those right
/// of and below them, each row by row, in turn. A device takes no more than its part of all tiles: the next one that
/// has room takes what is over.
class EvenBlocks {
 public:
  EvenBlocks(int64_t rows, int64_t cols, Grid grid, std::span<const double> shares)
      : rows_{rows},
        cols_{cols},
        grid_{grid},
        block_rows_{rows / grid.rows},
        block_cols_{cols / grid.cols},
        room_{apportioned(rows * cols, shares)},
        owners_(size_t(rows * cols)) {}

  Owners dealt() {
    const bool has_blocks = block_rows_ > 0 && block_cols_ > 0;
    const int64_t right = has_blocks ? block_cols_ * grid_.cols : 0;
    const int64_t below = has_blocks ? block_rows_ * grid_.rows : 0;
    each({0, below}, {0, right},
         [&](int64_t i, int64_t j) { take(i, j, size_t(i / block_rows_ * grid_.cols + j / block_cols_)); });
    const auto in_turn = [&](int64_t i, int64_t j) { next_ = take(i, j, next_) + 1; };
    each({0, below}, {right, cols_}, in_turn);
    each({below, rows_}, {0, right}, in_turn);
    each({below, rows_}, {right, cols_}, in_turn);
    return owners_;
  }

 private:
  struct Range {
    int64_t begin, end;
  };

  template <class Function>
  static void each(Range rows, Range cols, Function&& f) {
    for (int64_t i = rows.begin; i < rows.end; ++i)
      for (int64_t j = cols.begin; j < cols.end; ++j) f(i, j);
  }

  size_t take(int64_t i, int64_t j, size_t device) {
    device %= room_.size();
    while (room_[device] == 0) device = (device + 1) % room_.size();
    --room_[device];
    return owners_[size_t(i * cols_ + j)] = device;
  }

  int64_t rows_, cols_;
  Grid grid_;
  int64_t block_rows_, block_cols_;
  std::vector<int64_t> room_;
  Owners owners_;
  size_t next_ = 0;
};

/// Tiles and shares as they change hands.
class Balance {
 public:
  Balance(Owners owners, int64_t cols, std::span<const double> shares)
      : owners_{std::move(owners)}, cols_{size_t(cols)}, shares_{shares}, tiles_(shares.size(), 0) {
    for (const size_t d : owners_) ++tiles_[d];
  }

  Owners balanced() {
    while (true) {
      size_t from = 0, to = 0;
      for (const auto d : indices(shares_)) {
        if (load(d, 0) > load(from, 0)) from = d;
        if (load(d, 1) < load(to, 1)) to = d;
      }
      constexpr double rounding = 1e-9;
      if (load(to, 1) >= (1 - rounding) * load(from, 0)) return owners_;
      give(from, to);
    }
  }

 private:
  double load(size_t device, int more) const {
    const double tiles = double(tiles_[device] + more);
    if (tiles == 0) return 0;
    return shares_[device] > 0 ? tiles / shares_[device] : std::numeric_limits<double>::infinity();
  }

  /// The tile for which the receiver needs the fewest rows of A and columns of B that it does not need already; of
  /// equal ones, the last.
  void give(size_t from, size_t to) {
    std::set<size_t> rows, cols;
    for (const auto t : indices(owners_))
      if (owners_[t] == to) rows.insert(t / cols_), cols.insert(t % cols_);
    size_t best = 0, fewest = 3;
    for (size_t t = owners_.size(); t-- > 0 && fewest > 0;) {
      if (owners_[t] != from) continue;
      const size_t added = 2 - rows.count(t / cols_) - cols.count(t % cols_);
      if (added < fewest) best = t, fewest = added;
    }
    owners_[best] = to;
    --tiles_[from], ++tiles_[to];
  }

  Owners owners_;
  size_t cols_;
  std::span<const double> shares_;
  std::vector<int64_t> tiles_;
};

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
  for (int64_t left = count - std::accumulate(parts.begin(), parts.end(), int64_t{0}); left > 0; --left) {
    const auto most = std::ranges::max_element(rests);
    ++parts[size_t(most - rests.begin())];
    *most = -1;
  }
  return parts;
}

std::vector<size_t> dealt(int64_t count, std::span<const double> weights) {
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

std::vector<size_t> tile_owners(Distribution distribution, int64_t rows, int64_t cols, Grid grid,
                                std::span<const double> shares) {
  const auto evened = [&](Owners owners) {
    return all_equal(shares) ? owners : Balance{std::move(owners), cols, shares}.balanced();
  };
  switch (distribution) {
    case Distribution::blocks:
    case Distribution::proportional:  // of whole tiles; docs/model.md#distribution cuts blocks first
      return evened(by_columns(rows, cols, grid, shares, in_runs));
    case Distribution::sequential:
      return in_runs(rows * cols, shares);
    case Distribution::round_robin:
      return dealt(rows * cols, shares);
    case Distribution::cyclic_1d: {
      const Owners columns = dealt(cols, shares);
      Owners owners;
      for (int64_t i = 0; i < rows; ++i) owners.insert(owners.end(), columns.begin(), columns.end());
      return owners;
    }
    case Distribution::even_blocks:
      return EvenBlocks{rows, cols, grid, shares}.dealt();
    case Distribution::cyclic_2d:
      return evened(by_columns(rows, cols, grid, shares, dealt));
  }
  return {};
}

}  // namespace tilerail
