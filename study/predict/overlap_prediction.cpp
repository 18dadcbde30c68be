#include "study/predict/overlap_prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "backends/simulator.hpp"
#include "model/base/error.hpp"
#include "model/published/overlap_models.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/emulation/overlap_gemm.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/judge.hpp"

namespace tilerail::study {
namespace {

/// Simulated times of one GPU's plans, by tile.
class Simulations {
 public:
  Simulations(const Topology& topology, const GemmProblem& problem, MemoryId gpu, Policy policy)
      : topology_{topology},
        problem_{problem},
        gpu_{gpu},
        policy_{std::move(policy)},
        judge_{judge_of(topology)},
        simulator_{make_simulator(topology)} {}

  Plan chosen() const { return plan(policy_, judge_); }

  /// Of a plan that is made already.
  std::optional<double> of(const Plan& plan) {
    if (!simulator_) return of(plan.tile);
    const double seconds = simulator_->execute(plan).makespan().value;
    best_plan_ = TilePrediction{"simulator", plan.tile, std::nullopt, seconds};
    return seconds;
  }

  /// Nothing where the plan would be too long, or tiles do not fit in memory, or there is no simulator.
  std::optional<double> of(int64_t tile) {
    if (!can_simulate(tile)) return std::nullopt;
    if (const auto known = known_.find(tile); known != known_.end()) return known->second;
    return known_[tile] = simulated(tile, judge_);
  }

  /// Of the one of these tiles whose plan is the fastest before the policy searches for better ones.
  void of_best(std::span<const int64_t> tiles) {
    std::optional<std::pair<double, int64_t>> best;
    for (const int64_t tile : tiles)
      if (const auto seconds = can_simulate(tile) ? simulated(tile, {}) : std::nullopt)
        if (!best || *seconds < best->first) best = {*seconds, tile};
    if (best) of(best->second);
  }

  /// Why some tiles were not simulated.
  std::string why_not() const {
    std::set<std::string> reasons = why_not_;
    if (too_large_)
      reasons.insert(fmt::format("tiles of {} and more do not fit in the memory of the GPU", *too_large_));
    return fmt::format("{}", fmt::join(reasons, "; "));
  }

  /// The tile of the least time so far.
  std::optional<TilePrediction> best() const {
    std::optional<TilePrediction> best = best_plan_;
    for (const auto& [tile, seconds] : known_)
      if (seconds && (!best || *seconds < *best->simulated))
        best = TilePrediction{"simulator", tile, std::nullopt, *seconds};
    return best;
  }

 private:
  bool can_simulate(int64_t tile) {
    const bool too_long = kernel_count(problem_.m, problem_.n, problem_.k, {1, 1}, tile) > most_judged_kernels;
    if (!simulator_)
      why_not_.insert("this build has no simulator");
    else if (too_long)
      why_not_.insert(fmt::format("plans of more than {} kernels", most_judged_kernels));
    return simulator_ && !too_long;
  }

  /// Nothing where the tiles do not fit: the problem itself can be planned.
  std::optional<double> simulated(int64_t tile, const Judge& judge) {
    Policy fixed = policy_;
    apply_override(fixed, fmt::format("tile={}", tile));
    std::optional<Plan> made;
    try {
      made = plan(fixed, judge);
    } catch (const InputError&) {
      too_large_ = std::min(tile, too_large_.value_or(tile));
      return std::nullopt;
    }
    return simulator_->execute(*made).makespan().value;
  }

  /// As `simulate` plans, with the judge.
  Plan plan(const Policy& policy, const Judge& judge) const {
    return plan_gemm(problem_, topology_, std::span{&gpu_, 1}, policy, judge);
  }

  const Topology& topology_;
  GemmProblem problem_;
  MemoryId gpu_;
  Policy policy_;
  Judge judge_;
  std::unique_ptr<Executor> simulator_;  // none in a build without
  std::map<int64_t, std::optional<double>> known_;
  std::optional<TilePrediction> best_plan_;
  std::set<std::string> why_not_;
  std::optional<int64_t> too_large_;  // the least of them
};

/// All of them, or the one of that name.
std::vector<OverlapModel> models_of(const std::string& name) {
  for (const OverlapModel model : overlap_models)
    if (name == to_string(model)) return {model};
  return {overlap_models.begin(), overlap_models.end()};
}

}  // namespace

OverlapPrediction predict_overlap(const PredictionText& text, const Topology& topology, const GemmProblem& problem,
                                  MemoryId gpu) {
  const OverlapProblem overlap = overlap_problem(problem, topology, gpu);
  const Policy policy = text.policy.resolve();
  Simulations simulations{topology, problem, gpu, policy};
  const std::vector<int64_t> tiles =
      policy.choices.tile > 0 ? std::vector{policy.choices.tile} : overlap_tiles(problem, int64_t{1} << 40);
  OverlapPrediction prediction{overlap.h2d, overlap.d2h, {}};
  const Plan chosen = simulations.chosen();  // first: where it cannot be made, the error is about the problem
  for (const OverlapModel model : models_of(text.model)) {
    const int64_t tile = best_tile(model, overlap, tiles);
    prediction.tiles.push_back({std::string{to_string(model)}, tile, predicted_time(model, overlap, double(tile)).value,
                                simulations.of(tile)});
  }
  prediction.tiles.push_back({"policy", chosen.tile, std::nullopt, simulations.of(chosen)});
  simulations.of_best(tiles);
  if (const auto best = simulations.best()) prediction.tiles.push_back(*best);
  prediction.not_simulated = simulations.why_not();
  return prediction;
}

}  // namespace tilerail::study
