#include "study/predict/overlap_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
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
  Simulations(const Topology& topology, const GemmProblem& problem, MemoryId gpu,
              Policy policy)
      : topology_{topology},
        problem_{problem},
        gpu_{gpu},
        policy_{std::move(policy)},
        judge_{judge_of(topology)},
        simulator_{make_simulator(topology)} {}

  Plan chosen() const { return plan(policy_, judge_); }

  std::optional<double> of(const Plan& plan) const {
    return simulator_ ? std::optional{simulator_->execute(plan).makespan().value}
                      : std::nullopt;
  }

  /// Nullopt if the plan would be too long, if tiles do not fit in memory, or without
  /// simulator.
  std::optional<double> of(int64_t tile) {
    if (const auto known = known_.find(tile); known != known_.end()) return known->second;
    return known_[tile] = simulated(tile, judge_);
  }

  /// The tile whose plan is fastest before the policy's own search.
  std::optional<int64_t> best(std::span<const int64_t> tiles) const {
    std::map<double, int64_t> by_seconds;
    for (const int64_t tile : tiles)
      if (const auto seconds = simulated(tile, {})) by_seconds.emplace(*seconds, tile);
    return by_seconds.empty() ? std::nullopt : std::optional{by_seconds.begin()->second};
  }

 private:
  std::optional<double> simulated(int64_t tile, const Judge& judge) const {
    const bool too_long = kernel_count(problem_.m, problem_.n, problem_.k, {1, 1}, tile) >
                          most_judged_kernels;
    if (!simulator_ || too_long) return std::nullopt;
    Policy fixed = policy_;
    apply_override(fixed, fmt::format("tile={}", tile));
    try {
      return of(plan(fixed, judge));
    } catch (
        const InputError&) {  // the tiles do not fit; the problem itself can be planned
      return std::nullopt;
    }
  }

  /// Plans as `simulate` does, with the judge.
  Plan plan(const Policy& policy, const Judge& judge) const {
    return plan_gemm(problem_, topology_, std::span{&gpu_, 1}, policy, judge);
  }

  const Topology& topology_;
  GemmProblem problem_;
  MemoryId gpu_;
  Policy policy_;
  Judge judge_;
  std::unique_ptr<Executor> simulator_;  // null in builds without simulator
  std::map<int64_t, std::optional<double>> known_;
};

/// All models, or the named one.
std::vector<OverlapModel> models_of(const std::string& name) {
  for (const OverlapModel model : overlap_models)
    if (name == to_string(model)) return {model};
  return {overlap_models.begin(), overlap_models.end()};
}

/// Replaces a plan that no model or policy chose with the fastest of all.
void add_best(std::vector<TilePrediction>& tiles) {
  const auto seconds = [](const TilePrediction& each) {
    return each.simulated.value_or(INFINITY);
  };
  TilePrediction best = *std::ranges::min_element(tiles, {}, seconds);
  if (tiles.back().chooser.empty()) tiles.pop_back();
  best.chooser = "simulator", best.predicted.reset();
  if (best.simulated) tiles.push_back(std::move(best));
}

}  // namespace

OverlapPrediction predict_overlap(const PredictionText& text, const Topology& topology,
                                  const GemmProblem& problem, MemoryId gpu) {
  const OverlapProblem overlap = overlap_problem(problem, topology, gpu);
  const Policy policy = text.policy.resolve();
  Simulations simulations{topology, problem, gpu, policy};
  const std::vector<int64_t> tiles = policy.choices.tile > 0
                                         ? std::vector{policy.choices.tile}
                                         : overlap_tiles(problem, int64_t{1} << 40);
  OverlapPrediction prediction{overlap.h2d, overlap.d2h, {}};
  const Plan chosen = simulations.chosen();  // first: its errors concern the problem
  for (const OverlapModel model : models_of(text.model)) {
    const int64_t tile = best_tile(model, overlap, tiles);
    prediction.tiles.push_back({std::string{to_string(model)}, tile,
                                predicted_time(model, overlap, double(tile)).value,
                                simulations.of(tile)});
  }
  prediction.tiles.push_back(
      {"policy", chosen.tile, std::nullopt, simulations.of(chosen)});
  if (const auto tile = simulations.best(tiles))
    prediction.tiles.push_back({"", *tile, {}, simulations.of(*tile)});
  add_best(prediction.tiles);
  return prediction;
}

}  // namespace tilerail::study
