#include "sched/choose/set_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/threads.hpp"
#include "sched/choose/balance.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/strategies.hpp"
#include "sched/choose/surrogate.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/efforts.hpp"
#include "sched/policy/fields.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

struct Candidate {
  Policy policy;
  int64_t tile = 0;
  std::vector<double> shares = {};  // of balanced work; empty: as the policy says
};

/// A candidate that differs from a simulated candidate by a named change.
struct Move {
  Candidate to;
  Surrogate::Change change;
  bool measured = false;  // the change follows from a simulation, which the estimate does not contain
};

/// A candidate and its plan, estimate and simulation, each once it exists.
struct Trial {
  Candidate candidate;
  Grid grid = {};
  std::vector<double> shares = {};
  std::optional<Plan> plan = {};  // none if the plan does not exist or equals a known plan
  std::string decided = {}, hash = {};
  double estimated = unknown, expected = unknown, seconds = unknown;
  int64_t ops = 0;
  std::vector<Seconds> ends = {};
  bool measured = false;         // as of its move
  size_t arm = 0;                // the arm of the search
  std::vector<Move> moves = {};  // untried moves
  bool listed = false;           // whether the moves were listed
  bool closed = false;           // another trial takes as long, and its moves are tried instead
};

class Search final : public SetSearch {
 public:
  Search(const Question& question, const Judge& judge, const Plan& start)
      : question_{question}, judge_{judge}, start_{start}, tiles_{tiles_for(question_, start)} {}

  void judge_until(int64_t ops) override {
    if (!started_) begin();
    while (spent_ < ops && try_some(next())) {
    }
  }

  double seconds() const override {
    if (!best_) return unknown;
    return best_->seconds;
  }

  JudgedPlan take() override {
    if (!best_) return {start_, seconds(), {}};
    PlanOrigin& origin = best_->plan->origin;
    origin.judge = "simulator", origin.why = "the only candidate";
    origin.candidates = std::move(judged_);
    return {std::move(*best_->plan), seconds(), what(*best_)};
  }

 private:
  /// Plans the starting strategies, finds a tile for each, and begins an arm of the search with each of the fastest.
  void begin() {
    std::vector<Trial> trials = planned_starts(normal_effort / 4);
    find_tiles(trials, normal_effort / 3);
    begin_arms(trials);
    started_ = true;
  }

  /// The starting strategies with the tile of the set's first plan, until `ops` operations are planned.
  std::vector<Trial> planned_starts(int64_t ops) {
    const std::vector<Policy> starts = strategies_.starts();
    std::vector<Trial> trials;
    constexpr size_t least = 2 * threads;
    while (trials.size() < starts.size() && (spent_ < ops || trials.size() < least)) {
      const size_t first = trials.size();
      trials.resize(std::min(starts.size(), first + threads));
      share_work(trials.size() - first, [&](size_t i) {
        trials[first + i] = planned({starts[first + i], start_.tile});
      });
      for (size_t i = first; i < trials.size(); ++i) count(trials[i]);
    }
    return trials;
  }

  /// Finds a better tile for each trial, the fastest by the estimate first, until `ops` operations are planned.
  void find_tiles(std::vector<Trial>& trials, int64_t ops) {
    std::ranges::stable_sort(trials, {}, &Trial::estimated);
    for (size_t first = 0; first < trials.size() && spent_ < ops; first += threads) {
      const size_t some = std::min(threads, trials.size() - first);
      const int64_t each = (ops - spent_) / int64_t(some);
      share_work(some, [&](size_t i) { trials[first + i] = with_best_tile(std::move(trials[first + i]), each); });
    }
  }

  /// Simulates the fastest quarter by the estimate. If several take equally long, only the first begins an arm.
  void begin_arms(std::vector<Trial>& trials) {
    constexpr size_t most_arms = 4;
    std::set<double> times;
    for (const size_t i : judged(trials)) {
      trials[i].closed = !times.insert(trials[i].seconds).second;
      if (!trials[i].closed) left_.push_back(trials[i].arm = left_.size());
      add(std::move(trials[i]));
    }
    sort_arms();
    left_.resize(std::min(left_.size(), most_arms));
    std::vector<Trial*> starts;
    for (Trial& trial : trials_)
      if (!trial.closed && std::ranges::find(left_, trial.arm) != left_.end()) starts.push_back(&trial);
    for (Trial* const start : starts) try_tiles(*start);
  }

  /// Tries other tiles for the start of an arm, the nearest tile first, within a few operations.
  void try_tiles(Trial& start) {
    double left = 5000;
    start.moves = moves_from(start), start.listed = true;
    const double own = double(start.candidate.tile);
    std::vector<Option> options;
    for (size_t i = 0; i < start.moves.size(); ++i)
      if (const int64_t tile = start.moves[i].to.tile; tile != start.candidate.tile)
        options.push_back({&start, i, -std::abs(std::log(double(tile) / own))});
    std::ranges::stable_sort(options, std::greater{}, &Option::promise);
    const auto too_many = std::ranges::find_if(
        options, [&](const Option& option) { return (left -= ops_of(start, start.moves[option.number].to.tile)) < 0; });
    options.erase(too_many, options.end());
    try_all(std::move(options));
  }

  /// The trial with the best of the tiles of half or twice its side, and so on while the estimate falls. Plans at most
  /// about `ops` operations.
  Trial with_best_tile(Trial best, int64_t ops) {
    if (question_.policy.choices.tile > 0 || question_.policy.tile_choice != TileChoice::search) return best;
    for (const double factor : {0.5, 2.0}) {
      const double before = best.estimated;
      for (;;) {
        const int64_t tile = tile_near(factor * double(best.candidate.tile));
        if (!best.plan || ops_of(best, tile) > double(ops)) break;
        Trial next = planned({best.candidate.policy, tile});
        count(next);
        ops -= next.ops;
        if (next.estimated >= best.estimated) break;
        best = std::move(next);
      }
      if (best.estimated < before) break;
    }
    return best;
  }

  int64_t tile_near(double side) const {
    return *std::ranges::min_element(tiles_, {}, [&](int64_t tile) { return std::abs(std::log(double(tile) / side)); });
  }

  void count(const Trial& trial) { spent_ += trial.ops; }

  /// The plans whose moves are tried next. Successive halving: every arm makes the same number of steps, then the
  /// faster half of the arms makes twice as many. When the last arm has made its steps, the fastest plans of all arms
  /// follow.
  std::vector<Trial*> next() {
    for (;;) {
      while (!schedule_.empty()) {
        const size_t arm = schedule_.front();
        schedule_.pop_front();
        if (auto from = fastest_with_moves(arm); !from.empty()) return from;
      }
      if (left_.size() <= 1) return fastest_with_moves(std::nullopt);
      sort_arms();
      if (steps_ > 2) left_.resize((left_.size() + 1) / 2);
      for (const size_t arm : left_) schedule_.insert(schedule_.end(), steps_, arm);
      steps_ *= 2;
    }
  }

  void sort_arms() {
    std::ranges::stable_sort(left_, {}, [this](size_t arm) { return seconds_of(arm); });
  }

  double seconds_of(size_t arm) const {
    double least = unknown;
    for (const Trial& trial : trials_)
      if (trial.arm == arm) least = std::min(least, trial.seconds);
    return least;
  }

  std::vector<Trial*> fastest_with_moves(std::optional<size_t> arm) {
    constexpr size_t some = 8;
    std::vector<Trial*> open, fastest;
    for (Trial& trial : trials_)
      if ((!arm || trial.arm == *arm) && !trial.closed && !(trial.listed && trial.moves.empty()))
        open.push_back(&trial);
    std::ranges::stable_sort(open, {}, &Trial::seconds);
    for (Trial* const trial : open) {
      if (fastest.size() == some) break;
      if (!trial->listed && is_twin(*trial)) {
        trial->closed = true;
        continue;
      }
      if (!trial->listed) trial->moves = moves_from(*trial), trial->listed = true;
      if (!trial->moves.empty()) fastest.push_back(trial);
    }
    return fastest;
  }

  /// Whether the moves of a plan that takes equally long were listed.
  bool is_twin(const Trial& trial) const {
    return std::ranges::any_of(trials_, [&](const Trial& other) {
      return &other != &trial && other.listed && other.seconds == trial.seconds;
    });
  }

  /// A move of a simulated plan, and the improvement that it promises.
  struct Option {
    Trial* from;
    size_t number;
    double promise;  // expected improvement for each operation
  };

  /// Tries the most promising moves of some plans. Returns false if there are none.
  bool try_some(const std::vector<Trial*>& parents) {
    constexpr size_t some = 8;
    if (parents.empty()) return false;
    std::vector<Option> options;
    for (Trial* const from : parents)
      for (size_t i = 0; i < from->moves.size(); ++i) {
        const Move& move = from->moves[i];
        Surrogate::Guess guess = surrogate_.guess(move.change);
        guess.mean += std::log(from->seconds / parents.front()->seconds);
        options.push_back({from, i, guess.improvement() / ops_of(*from, move.to.tile)});
      }
    std::ranges::stable_sort(options, std::greater{}, &Option::promise);
    options.resize(std::min(options.size(), some));
    try_all(std::move(options));
    return true;
  }

  std::vector<Move> moves_from(const Trial& trial) {
    std::vector<Move> moves;
    add_balance(trial, moves);
    add_tiles(trial, moves);
    const Candidate& from = trial.candidate;
    for (const Strategies::Change& each : strategies_.changes(from.policy)) {
      Candidate to{Strategies::changed(from.policy, each), from.tile, from.shares};
      if (to.policy.choices.distribution != from.policy.choices.distribution || each.key == "grid") to.shares.clear();
      moves.push_back({std::move(to),
                       {{surrogate_.feature(fmt::format("{}={}", each.key, value_of(from.policy, each.key))), -1},
                        {surrogate_.feature(each.text()), 1}}});
    }
    return moves;
  }

  void add_tiles(const Trial& trial, std::vector<Move>& moves) {
    if (question_.policy.choices.tile > 0 || question_.policy.tile_choice != TileChoice::search) return;
    const GemmProblem& p = question_.problem;
    const int64_t tile = trial.candidate.tile;
    std::set<int64_t> known{tile};
    const auto add = [&](int64_t side) {
      constexpr int64_t least = 128;
      constexpr double few = 4096, times = 4;
      if (side < std::min(least, tile) || side > tiles_.back() || !known.insert(side).second) return;
      if (ops_of(trial, side) > std::max(few, times * double(trial.ops))) return;
      Surrogate::Change change = tile_change(trial.candidate.policy, double(tile), double(side));
      moves.push_back({trial.candidate, std::move(change)});
      moves.back().to.tile = side;
    };
    for (const int64_t side : tiles_) add(side);
    const auto even = [&](int64_t extent, int blocks) {
      constexpr int64_t unit = 16;  // so that all columns are aligned
      const int64_t longest = largest_piece(extent, blocks), parts = ceil_div(longest, tile);
      for (const int64_t more : {0, 1, -1})
        if (parts + more > 0) add(ceil_div(longest, (parts + more) * unit) * unit);
    };
    even(p.m, trial.grid.rows);
    even(p.n, trial.grid.cols);
    even(p.k, trial.grid.layers);
  }

  /// The estimated number of operations of the plan with another tile: proportional to the number of tiles.
  double ops_of(const Trial& trial, int64_t side) const {
    const GemmProblem& p = question_.problem;
    const Choices& choices = trial.candidate.policy.choices;
    const auto tiles = [&](int64_t length) {
      const auto along = [&](int64_t extent, int blocks) {
        return double(ceil_div(std::max<int64_t>(1, largest_piece(extent, blocks)), length));
      };
      double count = along(p.n, trial.grid.cols);
      if (choices.tile_rows == TileRows::side) count *= along(p.m, trial.grid.rows);
      if (choices.tile_depth == TileDepth::side) count *= along(p.k, trial.grid.layers);
      return count;
    };
    return double(trial.ops) * tiles(side) / tiles(trial.candidate.tile);
  }

  void add_balance(const Trial& trial, std::vector<Move>& moves) {
    constexpr double even = 0.01;
    if (trial.ends.empty() || !balances() || imbalance(trial.ends) <= even) return;
    Candidate to = trial.candidate;
    to.policy.choices.distribution = Distribution::proportional;
    to.policy.shares = question_.policy.shares;  // `to.shares` replaces them
    for (const double step : {1.0, 0.5, 0.25}) {
      to.shares = balanced_shares(trial.shares, trial.ends, step);
      moves.push_back({to, {{surrogate_.feature(fmt::format("balance {}", step)), 1.0}}, step == 1});
    }
  }

  /// The features of a tile, for each shape of tiles: the part of every octave of sizes that lies below the tile.
  Surrogate::Change tile_change(const Policy& policy, double from, double to) {
    Surrogate::Change all;
    const std::string shape =
        value_of(policy, "tile-rows") + value_of(policy, "tile-depth") + value_of(policy, "order");
    const double low = std::log2(from), high = std::log2(to);
    const int first = int(std::floor(std::min(low, high)));
    for (int octave = first; octave < std::max(low, high); ++octave)
      all.emplace_back(surrogate_.feature(fmt::format("octave {} {}", octave, shape)),
                       std::clamp(high - octave, 0.0, 1.0) - std::clamp(low - octave, 0.0, 1.0));
    return all;
  }

  bool balances() const {
    return question_.devices.size() > 1 && question_.problem.has_product() &&
           question_.problem.routine != Routine::dot && question_.varies("shares") && question_.varies("distribution");
  }

  Trial planned(const Candidate& candidate) const {
    Trial result{candidate};
    const Question question = question_.on(question_.devices, candidate.shares).by(candidate.policy);
    try {
      const TileScheduler scheduler{question};
      result.grid = scheduler.fitting(scheduler.grid(), candidate.tile);
      Decisions decisions = scheduler.decisions(candidate.tile, result.grid);
      result.shares = decisions.shares;
      if (decisions.choices.distribution == Distribution::proportional && all_equal(decisions.shares))
        decisions.choices.distribution = Distribution::blocks;  // the same plan
      for (const auto& [key, value] : to_text(decisions, question.topology))
        result.decided += fmt::format("{}={} ", key, value);
      if (known_.contains(result.decided)) return result;
      result.plan = scheduler.plan(decisions);
      check_routes(*result.plan, question_.topology);
      result.ops = int64_t(result.plan->ops.size());
      result.hash = content_hash(*result.plan);
      if (known_.contains(result.hash))
        result.plan.reset();
      else
        result.estimated = estimate_plan(*result.plan, question_.topology, question_.resources).makespan.value;
    } catch (const InputError&) {  // a plan that does not fit in memory or has no routes is not a candidate
      result.plan.reset();
    }
    return result;
  }

  /// Plans and estimates the moves, and simulates the fastest part of the plans.
  void try_all(std::vector<Option> options) {
    std::vector<Trial> trials(options.size());
    const auto move_of = [](const Option& option) -> const Move& { return option.from->moves[option.number]; };
    share_work(options.size(), threads, [&](size_t i) { trials[i] = planned(move_of(options[i]).to); });
    for (size_t i = 0; i < options.size(); ++i) {
      trials[i].measured = move_of(options[i]).measured;
      trials[i].expected = options[i].from->seconds * trials[i].estimated / options[i].from->estimated;
    }
    for (const Trial& trial : trials) count(trial);
    const std::vector<size_t> fastest = judged(trials);
    for (size_t i = 0; i < trials.size(); ++i) learn(move_of(options[i]).change, trials[i], *options[i].from);
    for (const size_t i : fastest) trials[i].arm = options[i].from->arm, add(std::move(trials[i]));
    std::ranges::sort(options, std::greater{}, &Option::number);
    for (const Option& option : options)
      option.from->moves.erase(option.from->moves.begin() + ptrdiff_t(option.number));
  }

  static size_t quarter_of(size_t count) { return (count + 3) / 4; }

  /// Simulates the fastest quarter of the trials by the estimate, and more if the plans are small. Returns the numbers
  /// of the simulated trials.
  std::vector<size_t> judged(std::vector<Trial>& trials) {
    constexpr int64_t few = 2048;  // operations
    std::vector<size_t> fastest;
    std::set<std::string> hashes;
    for (size_t i = 0; i < trials.size(); ++i) {
      if (!trials[i].plan) continue;
      if (hashes.insert(trials[i].hash).second) fastest.push_back(i);
    }
    std::ranges::stable_sort(fastest, {}, [&](size_t i) {
      return std::pair{!trials[i].measured, trials[i].expected == unknown ? trials[i].estimated : trials[i].expected};
    });
    size_t count = 0;
    for (int64_t ops = 0; count < fastest.size(); ++count) {
      ops += trials[fastest[count]].ops;
      if (count >= quarter_of(trials.size()) && ops > few) break;
      spent_ += judging_costs * trials[fastest[count]].ops;
    }
    fastest.resize(count);
    share_work(count, threads, [&](size_t i) { judge(trials[fastest[i]]); });
    return fastest;
  }

  void judge(Trial& trial) const {
    Judgement judgement = judge_.of(*trial.plan);
    trial.seconds = judgement.makespan.value, trial.ends = std::move(judgement.ends);
  }

  void learn(const Surrogate::Change& change, const Trial& trial, const Trial& from) {
    constexpr double of_estimates = 0.05, of_interactions = 0.02;
    const auto known = known_.find(trial.plan ? "" : trial.hash.empty() ? trial.decided : trial.hash);
    const double seconds = known == known_.end() ? trial.seconds : known->second;
    if (seconds != unknown)
      surrogate_.learn(change, std::log(seconds / from.seconds), of_interactions);
    else if (trial.estimated != unknown)
      surrogate_.learn(change, std::log(trial.estimated / from.estimated), of_estimates);
  }

  void add(Trial trial) {
    known_[trial.decided] = known_[trial.hash] = trial.seconds;
    judged_.push_back({what(trial), trial.seconds, "simulator"});
    trials_.push_back(std::move(trial));
    Trial& last = trials_.back();
    if (!best_ || last.seconds < best_->seconds) {
      if (best_) best_->plan.reset();
      best_ = &last;
    } else {
      last.plan.reset();
    }
  }

  std::string what(const Trial& trial) const {
    std::string text =
        fmt::format("tile={} grid={} gpus={}{}", trial.candidate.tile, trial.grid.text(),
                    gpus_text(question_.topology, question_.devices), strategies_.text(trial.candidate.policy));
    if (!trial.candidate.shares.empty()) text += fmt::format(" shares={:.4g}", fmt::join(trial.shares, ":"));
    return text;
  }

  static constexpr size_t threads = 4;
  static constexpr int64_t judging_costs = 2;  // of a simulated operation; 1: planned and estimated

  const Question question_;
  const Judge& judge_;
  const Plan& start_;
  const Strategies strategies_{question_};
  const std::vector<int64_t> tiles_;
  std::deque<Trial> trials_;             // the simulated trials
  std::map<std::string, double> known_;  // seconds by decisions and by hash
  Surrogate surrogate_;
  bool started_ = false;
  std::vector<size_t> left_;     // arms of the halving
  std::deque<size_t> schedule_;  // the next arms
  size_t steps_ = 2;             // steps of an arm in this round
  std::atomic<int64_t> spent_ = 0;
  Trial* best_ = nullptr;
  std::vector<PlanCandidate> judged_;
};

}  // namespace

std::unique_ptr<SetSearch> set_search(const Question& question, const Judge& judge, const Plan& start) {
  return std::make_unique<Search>(question, judge, start);
}

}  // namespace tilerail
