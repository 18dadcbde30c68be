#include "sched/choose/set_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
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
#include "sched/choose/tile_choice.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

struct Candidate {
  Policy policy;
  std::int64_t tile = 0;
  std::vector<double> shares = {};  // of balanced work; empty: as the policy says
};

/// A candidate that differs from a judged one by a named change.
struct Move {
  std::string name;
  Candidate to;
  bool measured = false;  // it follows from what a judged plan did, which the estimate does not know
};

/// A candidate with its plan, as far as it has got.
struct Trial {
  Candidate candidate;
  Grid grid = {};
  std::vector<double> shares = {};
  std::optional<Plan> plan = {};  // none if there is no such plan, or an equal one is known
  std::string decided = {}, hash = {};
  double estimated = unknown, seconds = unknown;
  std::int64_t ops = 0;
  std::vector<Seconds> ends = {};
  bool measured = false;        // as of its move
  std::size_t arm = 0;          // of the search that it belongs to
  std::deque<Move> moves = {};  // that have not been tried
  bool listed = false;          // whether the moves were listed
  bool closed = false;          // it takes as long as another one whose moves were listed, or will be
};

class Search final : public SetSearch {
 public:
  Search(const Question& question, const Judge& judge, const Plan& start)
      : question_{question}, judge_{judge}, start_{start}, tiles_{tiles_for(question_, start)} {}

  void judge_until(std::int64_t ops) override {
    if (!started_) begin();
    while (spent_ < ops) {
      Trial* const from = next();
      if (!from) break;
      try_some(*from);
    }
  }

  double seconds() const override { return best_ ? best_->seconds : unknown; }

  JudgedPlan take() override {
    if (!best_) return {start_, seconds(), {}};
    PlanOrigin& origin = best_->plan->origin;
    origin.judge = "simulator", origin.why = "the only candidate";
    origin.candidates = std::move(judged_);
    return {std::move(*best_->plan), seconds(), what(*best_)};
  }

 private:
  /// Every strategy starts an arm of the search with the tile that the estimate prefers; the best part of them is
  /// judged.
  void begin() {
    const std::vector<Policy> starts = strategies_.starts();
    std::vector<Trial> trials(starts.size());
    share_work(starts.size(), threads, [&](std::size_t i) { trials[i] = with_best_tile(starts[i]); });
    std::set<double> times;  // of equally fast ones the first alone
    for (const std::size_t i : judged(trials)) {
      if (times.insert(trials[i].seconds).second)
        left_.push_back(trials[i].arm = left_.size());
      else
        trials[i].closed = true;
      add(std::move(trials[i]));
    }
    sort_arms();
    arms_ = left_.size();
    left_.resize(std::min(left_.size(), quarter_of(starts.size())));
    started_ = true;
  }

  /// From the tile of the start on, larger or smaller ones of the list while the estimate says that they are better.
  Trial with_best_tile(const Policy& policy) {
    Trial best = planned({policy, start_.tile});
    if (question_.policy.choices.tile > 0 || question_.policy.tile_choice != TileChoice::search) return best;
    const auto at = std::ranges::lower_bound(tiles_, start_.tile) - tiles_.begin();
    for (const std::ptrdiff_t step : {-1, 1}) {
      const double before = best.estimated;
      for (auto i = at + step; i >= 0 && i < std::ssize(tiles_); i += step) {
        Trial next = planned({policy, tiles_[static_cast<std::size_t>(i)]});
        if (next.estimated >= best.estimated && best.plan) break;
        best = std::move(next);
      }
      if (best.estimated < before) break;
    }
    return best;
  }

  /// Successive halving of the arms: each that is left goes on for as many steps, then the faster half of them for
  /// twice as many. With one left, whatever is fastest goes on.
  Trial* next() {
    for (;;) {
      while (!schedule_.empty()) {
        const std::size_t arm = schedule_.front();
        schedule_.pop_front();
        if (Trial* const from = fastest_with_moves(arm)) return from;
      }
      if (left_.size() <= 1) return fastest_left();
      sort_arms();
      if (steps_ > 2) left_.resize((left_.size() + 1) / 2);
      for (const std::size_t arm : left_) schedule_.insert(schedule_.end(), steps_, arm);
      steps_ *= 2;
    }
  }

  /// The best trial of the fastest arm whose best trial has moves left; or else the fastest trial that has.
  Trial* fastest_left() {
    Trial* best = nullptr;
    for (std::size_t arm = 0; arm < arms_; ++arm)
      if (Trial* const from = fastest_with_moves(arm);
          from && from->seconds == seconds_of(arm) && (!best || from->seconds < best->seconds))
        best = from;
    return best ? best : fastest_with_moves(std::nullopt);
  }

  void sort_arms() {
    std::ranges::stable_sort(left_, {}, [this](std::size_t arm) { return seconds_of(arm); });
  }

  double seconds_of(std::size_t arm) const {
    double least = unknown;
    for (const Trial& trial : trials_)
      if (trial.arm == arm) least = std::min(least, trial.seconds);
    return least;
  }

  Trial* fastest_with_moves(std::optional<std::size_t> arm) {
    Trial* best = nullptr;
    for (Trial& trial : trials_) {
      if (arm && trial.arm != *arm) continue;
      if (trial.closed || (trial.listed && trial.moves.empty())) continue;
      if (best && trial.seconds >= best->seconds) continue;
      if (!trial.listed && is_twin(trial))
        trial.closed = true;
      else
        best = &trial;
    }
    return best;
  }

  /// Whether a plan that took just as long was the start of moves.
  bool is_twin(const Trial& trial) const {
    return std::ranges::any_of(trials_, [&](const Trial& other) {
      return &other != &trial && other.listed && other.seconds == trial.seconds;
    });
  }

  void try_some(Trial& from) {
    constexpr std::size_t some = 8;
    if (!from.listed) from.moves = moves_from(from), from.listed = true;
    std::ranges::stable_sort(from.moves, {}, [this](const Move& move) { return expected(move.name); });
    std::vector<Move> moves;
    for (; !from.moves.empty() && moves.size() < some; from.moves.pop_front())
      moves.push_back(std::move(from.moves.front()));
    try_all(moves, from);
  }

  /// Logarithm of what a move did to the time when it was last tried; that nothing came of it counts as a loss.
  double expected(const std::string& name) const {
    constexpr double nothing = 10;
    const auto found = ratio_.find(name);
    return found == ratio_.end() ? 0 : found->second == 0 ? nothing : found->second;
  }

  /// Balanced work first, then in turn another tile, the nearest first, and another value of a field.
  std::deque<Move> moves_from(const Trial& trial) const {
    std::deque<Move> moves, tiles, fields;
    add_balance(trial, moves);
    add_tiles(trial, tiles);
    const Candidate& from = trial.candidate;
    for (const Strategies::Change& change : strategies_.changes(from.policy)) {
      Candidate to{Strategies::changed(from.policy, change), from.tile, from.shares};
      if (to.policy.choices.distribution != from.policy.choices.distribution || change.key == "grid") to.shares.clear();
      fields.push_back({change.text(), std::move(to)});
    }
    const auto far = [&](const Move& move) {
      return std::abs(std::log(static_cast<double>(move.to.tile) / static_cast<double>(from.tile)));
    };
    std::ranges::stable_sort(tiles, {}, far);
    while (!tiles.empty() || !fields.empty())
      for (std::deque<Move>* const kind : {&tiles, &fields}) {
        if (kind->empty()) continue;
        moves.push_back(std::move(kind->front()));
        kind->pop_front();
      }
    return moves;
  }

  void add_tiles(const Trial& trial, std::deque<Move>& moves) const {
    if (question_.policy.choices.tile > 0 || question_.policy.tile_choice != TileChoice::search) return;
    const GemmProblem& p = question_.problem;
    const std::int64_t tile = trial.candidate.tile;
    std::set<std::int64_t> known{tile};
    const double ops =
        static_cast<double>(trial.ops) / static_cast<double>(kernel_count(p.m, p.n, p.k, trial.grid, tile));
    const auto add = [&](std::string name, std::int64_t side) {
      constexpr std::int64_t least = 128;
      constexpr double few = 4096, times = 4;
      if (side < std::min(least, tile) || side > tiles_.back() || !known.insert(side).second) return;
      const std::int64_t kernels = kernel_count(p.m, p.n, p.k, trial.grid, side);
      if (kernels > most_judged_kernels ||
          ops * static_cast<double>(kernels) > std::max(few, times * static_cast<double>(trial.ops)))
        return;
      Candidate to = trial.candidate;
      to.tile = side;
      moves.push_back({std::move(name), std::move(to)});
    };
    for (const std::int64_t side : tiles_) add(fmt::format("tile={}", side), side);
    const auto even = [&](std::int64_t extent, int blocks, std::array<const char*, 3> names) {
      constexpr std::int64_t unit = 16;  // so that all columns are aligned
      const std::int64_t longest = largest_piece(extent, blocks), parts = ceil_div(longest, tile);
      for (const std::int64_t more : {0, 1, -1})
        if (parts + more > 0)
          add(names[static_cast<std::size_t>(more + 1)], ceil_div(longest, (parts + more) * unit) * unit);
    };
    even(p.m, trial.grid.rows, {"m-", "m", "m+"});
    even(p.n, trial.grid.cols, {"n-", "n", "n+"});
    even(p.k, trial.grid.layers, {"k-", "k", "k+"});
  }

  void add_balance(const Trial& trial, std::deque<Move>& moves) const {
    constexpr double even = 0.01;
    if (trial.ends.empty() || !balances() || imbalance(trial.ends) <= even) return;
    Candidate to = trial.candidate;
    to.policy.choices.distribution = Distribution::proportional;
    to.policy.shares = question_.policy.shares;  // those of balanced work replace them
    for (const double step : {1.0, 0.5, 0.25}) {
      to.shares = balanced_shares(trial.shares, trial.ends, step);
      moves.push_back({fmt::format("balance {}", step), to, step == 1});
    }
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
        decisions.choices.distribution = Distribution::blocks;  // which is the same
      for (const auto& [key, value] : to_text(decisions, question.topology))
        result.decided += fmt::format("{}={} ", key, value);
      if (known_.contains(result.decided)) return result;
      result.plan = scheduler.plan(decisions);
      check_routes(*result.plan, question_.topology);
      result.hash = content_hash(*result.plan);
      if (known_.contains(result.hash))
        result.plan.reset();
      else
        result.estimated = estimate_plan(*result.plan, question_.topology, question_.resources).makespan.value;
    } catch (const InputError&) {  // what does not fit in memory, or has no routes, is no candidate
      result.plan.reset();
    }
    return result;
  }

  /// Plans and estimates all of them, and judges the best part of them.
  void try_all(const std::vector<Move>& moves, const Trial& from) {
    std::vector<Trial> trials(moves.size());
    share_work(moves.size(), threads, [&](std::size_t i) { trials[i] = planned(moves[i].to); });
    for (std::size_t i = 0; i < moves.size(); ++i) trials[i].measured = moves[i].measured;
    const std::vector<std::size_t> fastest = judged(trials);
    for (std::size_t i = 0; i < trials.size(); ++i) learn(moves[i].name, trials[i], from);
    for (const std::size_t i : fastest) trials[i].arm = from.arm, add(std::move(trials[i]));
  }

  static std::size_t quarter_of(std::size_t count) { return (count + 3) / 4; }

  /// Judges those that the estimate prefers: a quarter of them or, of small plans, more. Returns their numbers.
  std::vector<std::size_t> judged(std::vector<Trial>& trials) {
    constexpr std::int64_t few = 2048;  // operations
    std::vector<std::size_t> fastest;
    std::set<std::string> hashes;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (!trials[i].plan) continue;
      spent_ += static_cast<std::int64_t>(trials[i].plan->ops.size());
      if (hashes.insert(trials[i].hash).second) fastest.push_back(i);
    }
    std::ranges::stable_sort(fastest, {}, [&](std::size_t i) {
      return std::pair{!trials[i].measured, trials[i].estimated};
    });
    std::size_t count = 0;
    for (std::int64_t ops = 0; count < fastest.size(); ++count) {
      ops += static_cast<std::int64_t>(trials[fastest[count]].plan->ops.size());
      if (count >= quarter_of(trials.size()) && ops > few) break;
      spent_ += judging_costs * static_cast<std::int64_t>(trials[fastest[count]].plan->ops.size());
    }
    fastest.resize(count);
    share_work(count, threads, [&](std::size_t i) { judge(trials[fastest[i]]); });
    return fastest;
  }

  void judge(Trial& trial) const {
    trial.ops = static_cast<std::int64_t>(trial.plan->ops.size());
    Judgement judgement = judge_.of(*trial.plan);
    trial.seconds = judgement.makespan.value, trial.ends = std::move(judgement.ends);
  }

  void learn(const std::string& name, const Trial& trial, const Trial& from) {
    const auto known = known_.find(trial.plan ? "" : trial.hash.empty() ? trial.decided : trial.hash);
    double seconds = known == known_.end() ? trial.seconds : known->second;
    if (seconds == unknown) seconds = trial.estimated * from.seconds / from.estimated;
    ratio_[name] = std::log(seconds / from.seconds);
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

  static constexpr std::size_t threads = 4;
  static constexpr std::int64_t judging_costs = 2;  // as much as to plan and estimate twice as many operations

  const Question question_;
  const Judge& judge_;
  const Plan& start_;
  const Strategies strategies_{question_};
  const std::vector<std::int64_t> tiles_;
  std::deque<Trial> trials_;             // that were judged
  std::map<std::string, double> known_;  // seconds by decisions and by hash
  std::map<std::string, double> ratio_;  // by name of a move
  bool started_ = false;
  std::size_t arms_ = 0;
  std::vector<std::size_t> left_;     // arms of the halving
  std::deque<std::size_t> schedule_;  // arms whose turn it is
  std::size_t steps_ = 2;             // of an arm, until the arms are compared
  std::int64_t spent_ = 0;
  Trial* best_ = nullptr;
  std::vector<PlanCandidate> judged_;
};

}  // namespace

std::unique_ptr<SetSearch> set_search(const Question& question, const Judge& judge, const Plan& start) {
  return std::make_unique<Search>(question, judge, start);
}

}  // namespace tilerail
