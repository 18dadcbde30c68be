#include "sched/choose/set_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/base/threads.hpp"
#include "sched/choose/moves.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/strategies.hpp"
#include "sched/choose/surrogate.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/fields.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

constexpr double normal_effort = double(operations_of(Effort::normal));

constexpr size_t threads = 4;

class EvolutionarySearch final : public SetSearch {
 public:
  EvolutionarySearch(const Question& question, const PlanSimulator& simulator,
                     const Plan& start)
      : question_{question}, simulator_{simulator}, start_{start} {}

  void run_until(int64_t ops) override {
    constexpr int most_idle = 20;  // consecutive steps without a new plan
    if (!started_) begin();
    started_ = true;
    for (int idle = 0; spent_ < double(ops) && idle < most_idle;)
      idle = breed() ? 0 : idle + 1;
  }

  double seconds() const override {
    if (!best_) return Trial::unknown;
    return best_->seconds;
  }

  const std::vector<PlanCandidate>& simulated() const override { return simulated_; }
  bool has_simulated(const Plan& plan) const override {
    return known_.contains(content_hash(plan));
  }

  Plan take() override {
    if (!best_) return start_;
    simplify(*best_);
    simulated_[best_number_].what = what(*best_);
    PlanOrigin& origin = best_->plan->origin;
    origin.evaluator = Evaluator::simulator;
    origin.reasons = {{PlanReason::only_candidate, best_number_}};
    origin.candidates = std::move(simulated_);
    return std::move(*best_->plan);
  }

 private:
  using Trials = std::vector<Trial*>;

  /// Plans the starting strategies, finds a tile for each, and simulates the fastest.
  /// Then the fastest trial of each grid tries all tiles.
  void begin() {
    constexpr double for_starts = 0.2 * normal_effort,
                     for_first_tiles = 0.15 * normal_effort,
                     for_all_tiles = 0.02 * normal_effort;  // operations
    constexpr size_t most = 64;
    std::vector<Trial> trials = planned_starts(for_starts);
    find_tiles(trials, for_first_tiles);
    std::ranges::stable_sort(trials, {}, &Trial::estimated);
    if (trials.size() > most) trials.erase(trials.begin() + most, trials.end());
    for (const size_t i : simulate_fastest(trials)) add(std::move(trials[i]));
    for (const Trials& of_grid : grids(ranked()))
      try_tiles(*of_grid.front(), for_all_tiles);
  }

  /// The starting strategies with the tile of the set's first plan, until `ops`
  /// operations are planned. If that plan is large, strategies with few kernels go first.
  std::vector<Trial> planned_starts(double ops) {
    std::vector<Strategy> starts = strategies_.starts();
    std::vector<Trial> trials;
    constexpr size_t least = 2 * threads;
    if (double(least * start_.ops.size()) > 0.5 * normal_effort)
      std::ranges::stable_sort(starts, {},
                               [&](const Strategy& start) { return kernels_of(start); });
    while (trials.size() < starts.size() && (spent_ < ops || trials.size() < least)) {
      const size_t first = trials.size();
      trials.resize(std::min(starts.size(), first + threads));
      share_work(trials.size() - first, threads, [&](size_t i) {
        trials[first + i] = planned({starts[first + i], start_.tile});
      });
      for (size_t i = first; i < trials.size(); ++i) count(trials[i]);
    }
    return trials;
  }

  /// Finds a better tile for each trial, in the order of their estimates, until `ops`
  /// operations are planned.
  void find_tiles(std::vector<Trial>& trials, double ops) {
    const double end = spent_ + ops;
    std::ranges::stable_sort(trials, {}, &Trial::estimated);
    for (size_t first = 0; moves_.any_tile() && first < trials.size() && spent_ < end;
         first += threads) {
      const size_t some = std::min(threads, trials.size() - first);
      const double each = (end - spent_) / double(some);
      std::vector<double> spent(some, 0);
      share_work(some, threads,
                 [&](size_t i) { improve_tile(trials[first + i], each, spent[i]); });
      for (const double more : spent) spent_ += more;
    }
  }

  /// Halves or doubles the tile of a trial while its estimate improves. Spends at most
  /// about `ops` operations.
  void improve_tile(Trial& best, double ops, double& spent) const {
    for (const double factor : {0.5, 2.0}) {
      const double before = best.estimated;
      for (;;) {
        const int64_t tile = moves_.tile_near(factor * double(best.candidate.tile));
        if (!best.plan || spent + moves_.ops_of(best, tile) > ops) break;
        Trial next = planned({best.candidate.strategy, tile});
        spent += double(next.ops) + cost_of_plan;
        if (next.estimated >= best.estimated) break;
        best = std::move(next);
      }
      if (best.estimated < before) break;
    }
  }

  double kernels_of(const Strategy& strategy) const {
    const Policy policy = strategies_.policy(strategy);
    const TileScheduler scheduler{question_.by(policy)};
    const Grid grid = scheduler.fitting(scheduler.grid(), start_.tile);
    return scheduler.kernels(scheduler.decisions(start_.tile, grid));
  }

  void count(const Trial& trial) { spent_ += double(trial.ops) + cost_of_plan; }

  /// Tries all tiles for a trial, the nearest first, for at most `ops` operations.
  void try_tiles(Trial& from, double ops) {
    std::vector<Option> options;
    for (Move& move : moves_.tiles_of(from)) {
      if (tried_.contains(move.to)) continue;
      if ((ops -= cost_of(from, move)) < 0) break;
      options.push_back({&from, std::move(move)});
    }
    try_all(std::move(options));
  }

  /// The simulated trials, the fastest first; ties keep only the first.
  Trials ranked() {
    Trials all;
    for (Trial& trial : trials_) all.push_back(&trial);
    std::ranges::stable_sort(all, {}, &Trial::seconds);
    const auto take_equally_long = [](const Trial* a, const Trial* b) {
      return a->seconds == b->seconds;
    };
    all.erase(std::unique(all.begin(), all.end(), take_equally_long), all.end());
    return all;
  }

  /// The ranked trials by grid, the fastest grid first, without much slower grids.
  static std::vector<Trials> grids(const Trials& ranked) {
    constexpr double much = 1.3;
    constexpr size_t most = 6;
    std::vector<Trials> all;
    for (Trial* const trial : ranked) {
      const auto same = std::ranges::find_if(
          all, [&](const Trials& of) { return of.front()->grid == trial->grid; });
      if (same != all.end())
        same->push_back(trial);
      else if (all.size() < most && trial->seconds <= much * ranked.front()->seconds)
        all.push_back({trial});
    }
    return all;
  }

  /// A move from a simulated trial, and its expected improvement.
  struct Option {
    Trial* from;
    Move move;
    double promise = 0;  // expected improvement per operation
  };

  double cost_of(const Trial& from, const Move& move) const {
    return moves_.ops_of(from, move.to.tile) + cost_of_plan;
  }

  /// Draws children of fast plans, every other turn from one grid, and tries the most
  /// promising. Returns whether a new plan was simulated.
  bool breed() {
    constexpr size_t drawn = 48, some = 8;
    constexpr double mean_rank = 9;
    Trials parents = ranked();
    if (parents.empty()) return false;
    if (++turn_ % 2 == 0) {
      std::vector<Trials> all = grids(parents);
      parents = std::move(all[turn_ / 2 % all.size()]);
    }
    const auto parent = [&]() -> Trial& {
      return *parents[moves_.low(parents.size(), mean_rank)];
    };
    std::vector<Option> options;
    std::set<Candidate> known;
    for (size_t i = 0; i < drawn; ++i) {
      Trial& from = parent();
      Move move = moves_.child(from, parent());
      if (tried_.contains(move.to) || !known.insert(move.to).second) continue;
      Surrogate::Forecast forecast = surrogate_.predict(move.change);
      forecast.mean += std::log(from.seconds / parents.front()->seconds);
      const double promise = forecast.improvement() / cost_of(from, move);
      options.push_back({&from, std::move(move), promise});
    }
    if (options.empty()) return false;
    std::ranges::stable_sort(options, std::greater{}, &Option::promise);
    if (options.size() > some) options.erase(options.begin() + some, options.end());
    return try_all(std::move(options)) > 0;
  }

  Trial planned(const Candidate& candidate) const {
    auto trial = feasible([&] { return make(candidate, true); }).result;
    if (!trial) return {candidate};
    if (known_.contains(trial->hash)) trial->plan.reset();
    if (trial->plan)
      trial->estimated =
          estimate_plan(*trial->plan, question_.topology, question_.resources)
              .makespan.value;
    return *std::move(trial);
  }

  /// Plans the candidate; if `only_new`, not if its decisions are known.
  Trial make(const Candidate& candidate, bool only_new) const {
    Trial trial{candidate};
    const Policy policy = strategies_.policy(candidate.strategy);
    const Question question =
        question_.on(question_.devices, candidate.shares).by(policy);
    const TileScheduler scheduler{question};
    trial.grid = scheduler.fitting(scheduler.grid(), candidate.tile);
    Decisions decisions = scheduler.decisions(candidate.tile, trial.grid);
    trial.shares = decisions.shares;
    if (decisions.choices.distribution == Distribution::proportional &&
        all_equal(decisions.shares))
      decisions.choices.distribution = Distribution::blocks;  // the same plan
    for (const auto& [key, value] : to_text(decisions, question.topology))
      trial.decided += fmt::format("{}={} ", key, value);
    if (only_new &&
        (known_.contains(trial.decided) || scheduler.kernels(decisions) > normal_effort))
      return trial;
    trial.plan = scheduler.plan(decisions);
    check_routes(*trial.plan, question_.topology);
    trial.ops = int64_t(trial.plan->ops.size());
    trial.hash = content_hash(*trial.plan);
    return trial;
  }

  /// Resets fields to the policy's values if the plan stays the same. Balanced shares
  /// keep their distribution.
  void simplify(Trial& trial) {
    constexpr double most = 0.1 * normal_effort;
    const Strategy own = strategies_.strategy(question_.policy);
    double spent = 0;
    for (const size_t field : indices(own)) {
      if (trial.candidate.strategy[field] == own[field]) continue;
      if ((spent += cost_of_plan + double(trial.ops)) > most) return;
      Candidate plain = trial.candidate;
      plain.strategy[field] = own[field];
      if (!plain.shares.empty() &&
          strategies_.value(plain.strategy, "distribution") !=
              strategies_.value(trial.candidate.strategy, "distribution"))
        continue;
      auto same = feasible([&] { return make(plain, false); }).result;
      if (!same || same->hash != trial.hash) continue;
      same->seconds = trial.seconds;
      trial = *std::move(same);
    }
  }

  /// Plans and estimates the moves, and simulates the fastest part of the plans. Returns
  /// the number of simulated plans.
  size_t try_all(std::vector<Option> options) {
    std::vector<Trial> trials(options.size());
    share_work(options.size(), threads,
               [&](size_t i) { trials[i] = planned(options[i].move.to); });
    for (const size_t i : indices(trials)) {
      const Trial& from = *options[i].from;
      trials[i].measured = options[i].move.measured;
      trials[i].expected = from.seconds * trials[i].estimated / from.estimated;
      tried_.insert(options[i].move.to);
      count(trials[i]);
    }
    const std::vector<size_t> fastest = simulate_fastest(trials);
    for (const size_t i : indices(trials))
      learn(options[i].move.change, trials[i], *options[i].from);
    for (const size_t i : fastest) add(std::move(trials[i]));
    return fastest.size();
  }

  /// Simulates the fastest quarter of the trials by the estimate, and more if the plans
  /// are small. Returns the indices of the simulated trials.
  std::vector<size_t> simulate_fastest(std::vector<Trial>& trials) {
    constexpr int64_t few = 512;  // operations
    std::vector<size_t> fastest;
    std::set<std::string> hashes;
    for (const size_t i : indices(trials))
      if (trials[i].plan && hashes.insert(trials[i].hash).second) fastest.push_back(i);
    std::ranges::stable_sort(fastest, {}, [&](size_t i) {
      return std::pair{!trials[i].measured, trials[i].expected == Trial::unknown
                                                ? trials[i].estimated
                                                : trials[i].expected};
    });
    const size_t quarter = (trials.size() + 3) / 4;
    size_t count = 0;
    for (int64_t ops = 0; count < fastest.size(); ++count) {
      ops += trials[fastest[count]].ops;
      if (count >= quarter && ops > few) break;
      spent_ += cost_of_simulating * double(trials[fastest[count]].ops);
    }
    fastest.resize(count);
    share_work(count, threads, [&](size_t i) { simulate(trials[fastest[i]]); });
    return fastest;
  }

  void simulate(Trial& trial) const {
    PlanCost cost = simulator_.of(*trial.plan);
    trial.seconds = cost.makespan.value, trial.ends = std::move(cost.ends);
  }

  void learn(const Surrogate::Change& change, const Trial& trial, const Trial& from) {
    constexpr double of_estimates = 0.1, of_interactions = 0.02;
    const auto known = known_.find(trial.plan           ? ""
                                   : trial.hash.empty() ? trial.decided
                                                        : trial.hash);
    const double seconds = known == known_.end() ? trial.seconds : known->second;
    if (seconds != Trial::unknown)
      surrogate_.learn(change, std::log(seconds / from.seconds), of_interactions);
    else if (trial.estimated != Trial::unknown)
      surrogate_.learn(change, std::log(trial.estimated / from.estimated), of_estimates);
  }

  void add(Trial trial) {
    known_[trial.decided] = known_[trial.hash] = trial.seconds;
    simulated_.push_back({what(trial), trial.seconds, Evaluator::simulator});
    trials_.push_back(std::move(trial));
    Trial& last = trials_.back();
    if (!best_ || last.seconds < best_->seconds) {
      if (best_) best_->plan.reset();
      best_ = &last, best_number_ = simulated_.size() - 1;
    } else {
      last.plan.reset();
    }
  }

  std::string what(const Trial& trial) const {
    std::string text =
        fmt::format("tile={} grid={} gpus={}{}", trial.candidate.tile, trial.grid.text(),
                    gpus_text(question_.topology, question_.devices),
                    strategies_.text(trial.candidate.strategy));
    if (!trial.candidate.shares.empty())
      text += fmt::format(" shares={:.4g}", fmt::join(trial.shares, ":"));
    return text;
  }

  const Question question_;
  const PlanSimulator& simulator_;
  const Plan& start_;
  Surrogate surrogate_;
  Strategies strategies_{question_, surrogate_};
  Moves moves_{question_, strategies_, surrogate_, tiles_for(question_, start_)};
  std::deque<Trial> trials_;             // simulated
  std::map<std::string, double> known_;  // seconds by decisions and by hash
  std::set<Candidate> tried_;
  bool started_ = false;
  size_t turn_ = 0;   // number of parent selections
  double spent_ = 0;  // operations
  Trial* best_ = nullptr;
  size_t best_number_ = 0;  // among the simulated candidates
  std::vector<PlanCandidate> simulated_;
};

}  // namespace

std::unique_ptr<SetSearch> set_search(const Question& question,
                                      const PlanSimulator& simulator, const Plan& start) {
  return std::make_unique<EvolutionarySearch>(question, simulator, start);
}

}  // namespace tilerail
