#include "sched/choose/moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "model/base/extents.hpp"
#include "sched/choose/balance.hpp"
#include "sched/choose/tile_choice.hpp"

namespace tilerail {

Moves::Moves(const Question& question, Strategies& strategies, Surrogate& surrogate,
             std::vector<int64_t> tiles)
    : question_{question},
      strategies_{strategies},
      surrogate_{surrogate},
      tiles_{std::move(tiles)},
      any_tile_{tilerail::any_tile(question.policy)} {}

Move Moves::child(const Trial& from, const Trial& other) {
  constexpr double balanced = 0.1, mixed = 0.5;  // probabilities
  constexpr double alone = 1.5, besides = 0.8;   // mean number of further changes
  constexpr size_t most = 20;
  if (chance(balanced))
    if (auto move = balance(from)) return *std::move(move);
  Candidate to = from.candidate;
  const bool mixes = &other != &from && chance(mixed);
  if (mixes) mix(to, other.candidate);
  for (size_t changes = mixes ? low(most, besides) : 1 + low(most, alone); changes > 0;
       --changes)
    change(to, from);
  return move(from, std::move(to));
}

std::vector<Move> Moves::tiles_of(const Trial& from) {
  std::vector<Move> moves;
  if (!any_tile_) return moves;
  const int64_t own = from.candidate.tile;
  std::vector<int64_t> tiles = tiles_;
  std::ranges::stable_sort(tiles, {}, [&](int64_t tile) {
    return std::abs(std::log(double(tile) / double(own)));
  });
  for (const int64_t tile : tiles) {
    Candidate to = from.candidate;
    to.tile = tile;
    if (tile != own) moves.push_back(move(from, std::move(to)));
  }
  return moves;
}

int64_t Moves::tile_near(double side) const {
  return *std::ranges::min_element(
      tiles_, {}, [&](int64_t tile) { return std::abs(std::log(double(tile) / side)); });
}

double Moves::ops_of(const Trial& trial, int64_t tile) const {
  const GemmProblem& p = question_.problem;
  const Strategy& strategy = trial.candidate.strategy;
  const bool cuts_rows = strategies_.value(strategy, "tile-rows") == "side";
  const bool cuts_depth = strategies_.value(strategy, "tile-depth") == "side";
  const auto tiles = [&](int64_t side) {
    const auto along = [&](int64_t extent, int blocks) {
      return double(ceil_div(std::max<int64_t>(1, largest_piece(extent, blocks)), side));
    };
    double count = along(p.n, trial.grid.cols);
    if (cuts_rows) count *= along(p.m, trial.grid.rows);
    if (cuts_depth) count *= along(p.k, trial.grid.layers);
    return count;
  };
  return double(trial.ops) * tiles(tile) / tiles(trial.candidate.tile);
}

size_t Moves::low(size_t count, double mean) {
  return size_t(-std::log(1 - uniform()) * mean) % count;
}

/// Moves work from devices that end late to devices that end early, completely or in
/// part.
std::optional<Move> Moves::balance(const Trial& from) {
  constexpr double even = 0.01;
  if (from.ends.empty() || !balances() || imbalance(from.ends) <= even)
    return std::nullopt;
  constexpr std::array steps{1.0, 0.5, 0.25};
  const double step = steps[below(steps.size())];
  Candidate to = from.candidate;
  strategies_.set(to.strategy, "distribution", "proportional");
  to.shares = balanced_shares(from.shares, from.ends, step);
  Surrogate::Change change = change_between(from.candidate, to);
  change.emplace_back(surrogate_.feature(fmt::format("balance {}", step)), 1.0);
  return Move{std::move(to), std::move(change), step == 1};
}

bool Moves::balances() const {
  return question_.devices.size() > 1 && question_.problem.has_product() &&
         question_.problem.routine != Routine::dot && question_.varies("shares") &&
         question_.varies("distribution");
}

Move Moves::move(const Trial& from, Candidate to) {
  const auto is_as_before = [&](std::string_view key) {
    return strategies_.value(to.strategy, key) ==
           strategies_.value(from.candidate.strategy, key);
  };
  if (!is_as_before("distribution") || !is_as_before("grid")) to.shares.clear();
  Surrogate::Change change = change_between(from.candidate, to);
  return {std::move(to), std::move(change)};
}

void Moves::mix(Candidate& to, const Candidate& other) {
  for (size_t field = 0; field < to.strategy.size(); ++field)
    if (chance(0.5)) to.strategy[field] = other.strategy[field];
  if (chance(0.5)) to.tile = other.tile;
}

void Moves::change(Candidate& to, const Trial& from) {
  constexpr double of_tile = 0.25;
  if (to.strategy.empty() || chance(of_tile)) {
    to.tile = other_tile(from, to.tile);
    return;
  }
  const size_t field = below(to.strategy.size());
  const std::vector<size_t>& values = strategies_.neighbors(to.strategy, field);
  if (!values.empty()) to.strategy[field] = values[below(values.size())];
}

/// A random candidate tile, a neighbour of `tile`, or a divisor of an extent; `tile` if
/// the other makes too many operations.
int64_t Moves::other_tile(const Trial& from, int64_t tile) {
  if (!any_tile_) return tile;
  constexpr int64_t least = 128;
  constexpr double few = 4096, times = 4;
  int64_t side = tile;
  if (chance(0.3)) {
    side = tiles_[below(tiles_.size())];
  } else if (chance(0.5)) {
    const auto at = std::ranges::lower_bound(tiles_, tile) - tiles_.begin();
    const auto by = ptrdiff_t(1 + low(tiles_.size(), 1));
    side = tiles_[size_t(std::clamp<ptrdiff_t>(chance(0.5) ? at + by : at - by, 0,
                                               std::ssize(tiles_) - 1))];
  } else {
    side = even_tile(from, tile);
  }
  if (side < std::min(least, tile) || side > tiles_.back()) return tile;
  return ops_of(from, side) > std::max(few, times * double(from.ops)) ? tile : side;
}

/// The side that divides the longest block of an extent into as many pieces as `tile`
/// does, plus or minus one.
int64_t Moves::even_tile(const Trial& from, int64_t tile) {
  constexpr int64_t unit = 16;  // keeps all columns aligned
  const GemmProblem& p = question_.problem;
  const std::array<std::pair<int64_t, int>, 3> extents{
      {{p.m, from.grid.rows}, {p.n, from.grid.cols}, {p.k, from.grid.layers}}};
  const auto& [extent, blocks] = extents[below(extents.size())];
  const int64_t longest = largest_piece(extent, blocks);
  const int64_t pieces = ceil_div(longest, tile) + int64_t(below(3)) - 1;
  return pieces > 0 ? ceil_div(longest, pieces * unit) * unit : tile;
}

/// Features: the values of fields; and, for each tile shape and each octave of sizes, the
/// part of the octave below the tile.
Surrogate::Change Moves::change_between(const Candidate& from, const Candidate& to) {
  std::map<size_t, double> by;
  for (size_t field = 0; field < to.strategy.size(); ++field) {
    if (to.strategy[field] == from.strategy[field]) continue;
    by[from.strategy[field]] -= 1;
    by[to.strategy[field]] += 1;
  }
  if (to.tile != from.tile) {
    const std::string shape = strategies_.value(to.strategy, "tile-rows") +
                              strategies_.value(to.strategy, "tile-depth") +
                              strategies_.value(to.strategy, "order");
    const double before = std::log2(from.tile), after = std::log2(to.tile);
    for (int octave = int(std::floor(std::min(before, after)));
         octave < std::max(before, after); ++octave)
      by[surrogate_.feature(fmt::format("octave {} {}", octave, shape))] +=
          std::clamp(after - octave, 0.0, 1.0) - std::clamp(before - octave, 0.0, 1.0);
  }
  return {by.begin(), by.end()};
}

}  // namespace tilerail
