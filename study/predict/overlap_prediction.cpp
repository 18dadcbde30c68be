#include "study/predict/overlap_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "backends/simulator.hpp"
#include "model/published/overlap_models.hpp"
#include "sched/choose/overlap_gemm.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/scheduler.hpp"
#include "study/predict/transfer_file.hpp"

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
        simulator_{make_simulator(topology)} {}

  Plan chosen() const { return plan(policy_); }

  /// Nothing where the plan would be too long or there is no simulator.
  std::optional<double> of(std::int64_t tile) {
    if (!simulator_) {
      why_not_ = "this build has no simulator";
      return std::nullopt;
    }
    if (kernel_count(problem_.m, problem_.n, problem_.k, {1, 1}, tile) > most_judged_kernels) {
      why_not_ = fmt::format("plans of more than {} kernels", most_judged_kernels);
      return std::nullopt;
    }
    const auto [entry, is_new] = known_.try_emplace(tile, 0);
    if (is_new) {
      Policy fixed = policy_;
      fixed.tile = tile;
      entry->second = simulator_->execute(plan(fixed)).makespan().value;
    }
    return entry->second;
  }

  /// Why some tiles were not simulated.
  const std::string& why_not() const { return why_not_; }

  /// The tile of the least time so far.
  std::optional<TilePrediction> best() const {
    const auto faster = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto best = std::min_element(known_.begin(), known_.end(), faster);
    if (best == known_.end()) return std::nullopt;
    return TilePrediction{"simulator", best->first, std::nullopt, best->second};
  }

 private:
  Plan plan(const Policy& policy) const { return plan_gemm(problem_, topology_, std::span{&gpu_, 1}, policy); }

  const Topology& topology_;
  GemmProblem problem_;
  MemoryId gpu_;
  Policy policy_;
  std::unique_ptr<Executor> simulator_;  // none in a build without
  std::map<std::int64_t, double> known_;
  std::string why_not_;
};

/// All of them, or the one of that name.
std::vector<OverlapModel> models_of(const std::string& name) {
  for (const OverlapModel model : overlap_models)
    if (name == to_string(model)) return {model};
  return {overlap_models.begin(), overlap_models.end()};
}

HostTransfers transfers(const PredictionText& text) {
  HostTransfers measured;
  if (!text.transfers_in.empty()) measured.in = read_transfer_time(text.transfers_in);
  if (!text.transfers_out.empty()) measured.out = read_transfer_time(text.transfers_out);
  return measured;
}

}  // namespace

OverlapPrediction predict_overlap(const PredictionText& text, const Topology& topology, const GemmProblem& problem,
                                  MemoryId gpu) {
  const OverlapProblem overlap = overlap_problem(problem, topology, gpu, transfers(text));
  const Policy policy = text.policy.resolve();
  Simulations simulations{topology, problem, gpu, policy};
  const std::vector<std::int64_t> tiles =
      policy.tile > 0 ? std::vector{policy.tile} : overlap_tiles(problem, std::int64_t{1} << 40);
  OverlapPrediction prediction{overlap.h2d, overlap.d2h, {}, {}, {}};
  for (const OverlapModel model : models_of(text.model)) {
    const std::int64_t tile = best_tile(model, overlap, tiles);
    prediction.tiles.push_back({std::string{to_string(model)}, tile,
                                predicted_time(model, overlap, static_cast<double>(tile)).value, simulations.of(tile)});
  }
  const Plan chosen = simulations.chosen();
  prediction.without_effect = chosen.origin.without_effect;
  prediction.tiles.push_back({"policy", chosen.tile, std::nullopt, simulations.of(chosen.tile)});
  for (const std::int64_t tile : tiles) simulations.of(tile);
  if (const auto best = simulations.best()) prediction.tiles.push_back(*best);
  prediction.not_simulated = simulations.why_not();
  return prediction;
}

}  // namespace tilerail::study
