#include "study/predict/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "model/base/error.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/emulation/overlap_gemm.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::study {
namespace {

/// Simulated times of one GPU's plans, by tile.
struct Simulations {
  const Topology& topology;
  const GemmProblem& problem;
  MemoryId gpu;
  const Policy& policy;
  PlanSimulator simulator = plan_simulator(topology);
  std::map<int64_t, std::optional<double>> known = {};

  double of(const Plan& plan) const { return simulator.of(plan).makespan.value; }

  /// Nullopt if the plan would be too long or if tiles do not fit in memory.
  std::optional<double> of(int64_t tile) {
    const auto [found, is_new] = known.try_emplace(tile);
    if (is_new) found->second = simulated(tile, simulator);
    return found->second;
  }

  /// The tile whose plan is fastest before the policy's own search.
  std::optional<int64_t> best(std::span<const int64_t> tiles) const {
    std::map<double, int64_t> by_seconds;
    for (const int64_t tile : tiles)
      if (const auto seconds = simulated(tile, {})) by_seconds.emplace(*seconds, tile);
    return by_seconds.empty() ? std::nullopt : std::optional{by_seconds.begin()->second};
  }

  std::optional<double> simulated(int64_t tile, const PlanSimulator& by) const {
    if (kernel_count(problem.m, problem.n, problem.k, {1, 1}, tile) >
        most_candidate_kernels)
      return std::nullopt;
    Policy fixed = policy;
    apply_override(fixed, fmt::format("tile={}", tile));
    try {
      return of(plan(fixed, by));
    } catch (
        const InputError&) {  // the tiles do not fit; the problem itself can be planned
      return std::nullopt;
    }
  }

  /// Plans as `simulate` does, with the simulator.
  Plan plan(const Policy& like, const PlanSimulator& by) const {
    return plan_gemm(problem, topology, std::span{&gpu, 1}, like, by);
  }
};

}  // namespace

OverlapPrediction predict_overlap(const JobText& text, const Topology& topology,
                                  const GemmProblem& problem, MemoryId gpu) {
  const OverlapProblem overlap = overlap_problem(problem, topology, gpu);
  const Policy policy = text.policy.resolve();
  Simulations simulations{topology, problem, gpu, policy};
  const std::vector<int64_t> tiles = policy.choices.tile > 0
                                         ? std::vector{policy.choices.tile}
                                         : overlap_tiles(problem, int64_t{1} << 40);
  std::vector<TilePrediction> choices;
  const Plan chosen = simulations.plan(
      policy, simulations.simulator);  // first: its errors concern the problem
  for (const OverlapModel model : overlap_models) {
    const int64_t tile = best_tile(model, overlap, tiles);
    choices.push_back({to_string(model), tile,
                       predicted_time(model, overlap, double(tile)).value,
                       simulations.of(tile)});
  }
  choices.push_back({"policy", chosen.tile, {}, simulations.of(chosen)});
  std::vector<TilePrediction> all = choices;
  if (const auto tile = simulations.best(tiles))
    all.push_back({"", *tile, {}, simulations.of(*tile)});
  const TilePrediction& fastest = *std::ranges::min_element(
      all, {},
      [](const TilePrediction& each) { return each.simulated.value_or(INFINITY); });
  choices.push_back({"simulator", fastest.tile, {}, fastest.simulated});
  return {overlap.h2d, overlap.d2h, std::move(choices)};
}

}  // namespace tilerail::study
