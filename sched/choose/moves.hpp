#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/strategies.hpp"
#include "sched/choose/surrogate.hpp"
#include "sched/policy/grid.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

struct Candidate {
  Strategy strategy;
  int64_t tile = 0;
  std::vector<double> shares = {};  // of the work, balanced; empty: set by the strategy

  auto operator<=>(const Candidate&) const = default;
};

/// A candidate and its plan, estimate and simulation, each once it exists.
struct Trial {
  static constexpr double unknown = std::numeric_limits<double>::infinity();

  Candidate candidate;
  Grid grid = {};
  std::vector<double> shares = {};
  std::optional<Plan> plan =
      {};  // absent if the plan does not exist or equals a known plan
  std::string decided = {}, hash = {};
  double estimated = unknown, expected = unknown, seconds = unknown;
  int64_t ops = 0;
  std::vector<Seconds> ends = {};  // of the devices
  bool measured = false;           // as in its move
};

/// A candidate, and how it differs from a simulated trial.
struct Move {
  Candidate to;
  Surrogate::Change change;
  bool measured =
      false;  // the change follows from a simulation, which the estimate does not contain
};

/// The candidates that a search draws, the same ones in every run.
/// docs/model.md#evaluator
class Moves {
 public:
  /// Keeps references. `tiles`: candidate tiles, ascending.
  Moves(const Question& question, Strategies& strategies, Surrogate& surrogate,
        std::vector<int64_t> tiles);

  /// A candidate near that of a trial, with values of the other trial or balanced work,
  /// or with random changes.
  Move child(const Trial& from, const Trial& other);
  /// The trial's candidate with every other tile, the nearest first.
  std::vector<Move> tiles_of(const Trial& from);
  /// The tile that is nearest to a side, by ratio.
  int64_t tile_near(double side) const;
  bool any_tile() const { return any_tile_; }
  /// The estimated number of operations of the trial's plan with another tile:
  /// proportional to the number of tiles.
  double ops_of(const Trial& trial, int64_t tile) const;
  /// A number below `count`; small numbers are more likely, and `mean` is the mean for a
  /// large `count`.
  size_t low(size_t count, double mean);

 private:
  std::optional<Move> balance(const Trial& from);
  Move move(const Trial& from, Candidate to);
  void mix(Candidate& to, const Candidate& other);
  void change(Candidate& to, const Trial& from);
  int64_t other_tile(const Trial& from, int64_t tile);
  int64_t even_tile(const Trial& from, int64_t tile);
  Surrogate::Change change_between(const Candidate& from, const Candidate& to);
  bool balances() const;

  size_t below(size_t count) { return random_() % count; }
  double uniform() { return double(random_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }

  const Question& question_;
  Strategies& strategies_;
  Surrogate& surrogate_;
  const std::vector<int64_t> tiles_;
  const bool any_tile_;
  std::mt19937_64 random_;
};

}  // namespace tilerail
