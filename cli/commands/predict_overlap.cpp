#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/simulator.hpp"
#include "cli/commands/predict.hpp"
#include "cli/output/progress.hpp"
#include "cli/study.hpp"
#include "model/published/overlap_models.hpp"
#include "sched/choose/overlap_gemm.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/scheduler.hpp"
#include "study/transfer_file.hpp"

namespace tilerail::cli {
namespace {

struct Prediction {
  std::string model;
  std::int64_t tile = 0;
  std::optional<double> predicted, simulated;  // s
};

/// Simulated times of one GPU's plans, by tile; nothing where plans would be too long or there is no simulator.
class Simulations {
 public:
  Simulations(const Topology& topology, const GemmProblem& problem, MemoryId gpu, Policy policy)
      : topology_{topology},
        problem_{problem},
        gpu_{gpu},
        policy_{std::move(policy)},
        simulator_{make_simulator(topology)} {}

  std::int64_t chosen_tile() const { return plan(policy_).tile; }

  std::optional<double> of(std::int64_t tile) {
    if (!simulator_ || kernel_count(problem_.m, problem_.n, problem_.k, {1, 1}, tile) > most_judged_kernels)
      return std::nullopt;
    const auto [entry, is_new] = known_.try_emplace(tile, 0);
    if (is_new) {
      Policy fixed = policy_;
      fixed.tile = tile;
      entry->second = simulator_->execute(plan(fixed)).makespan().value;
    }
    return entry->second;
  }

  const std::map<std::int64_t, double>& all() const { return known_; }

 private:
  Plan plan(const Policy& policy) const { return plan_gemm(problem_, topology_, std::span{&gpu_, 1}, policy); }

  const Topology& topology_;
  GemmProblem problem_;
  MemoryId gpu_;
  Policy policy_;
  std::unique_ptr<Executor> simulator_;  // none in a build without
  std::map<std::int64_t, double> known_;
};

/// All of them, or the one of that name.
std::vector<OverlapModel> models_of(const std::string& name) {
  for (const OverlapModel model : overlap_models)
    if (name == to_string(model)) return {model};
  return {overlap_models.begin(), overlap_models.end()};
}

HostTransfers transfers(const PredictOptions& options) {
  HostTransfers measured;
  if (!options.transfers_in.empty()) measured.in = read_transfer_time(options.transfers_in);
  if (!options.transfers_out.empty()) measured.out = read_transfer_time(options.transfers_out);
  return measured;
}

std::string transfer_text(const std::string& name, const TransferTime& t) {
  return fmt::format("{}  {:.2f} GB/s after {}, {:.2f} times as long while both directions run\n", name,
                     1e-9 / t.per_byte, seconds_text(t.latency), t.slowdown);
}

std::string text_of(const OverlapProblem& problem, const std::vector<Prediction>& predictions) {
  std::vector<std::vector<std::string>> lines{{"model", "tile", "predicted", "simulated"}};
  for (const Prediction& p : predictions)
    lines.push_back({p.model, std::to_string(p.tile), time_text(p.predicted), time_text(p.simulated)});
  return transfer_text("to the GPU  ", problem.h2d) + transfer_text("from the GPU", problem.d2h) + "\n" +
         aligned(lines, "lr");
}

nlohmann::ordered_json json_of(const OverlapProblem& problem, const std::vector<Prediction>& predictions) {
  const auto transfer = [](const TransferTime& t) {
    return nlohmann::ordered_json{{"latency_s", t.latency}, {"bytes_per_s", 1 / t.per_byte}, {"slowdown", t.slowdown}};
  };
  nlohmann::ordered_json json{{"schema", 1}, {"h2d", transfer(problem.h2d)}, {"d2h", transfer(problem.d2h)}};
  for (const Prediction& p : predictions) {
    nlohmann::ordered_json row{{"model", p.model}, {"tile", p.tile}};
    row["predicted_s"] = or_null(p.predicted);
    row["simulated_s"] = or_null(p.simulated);
    json["predictions"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

PredictionReport predict_overlap(const PredictOptions& options, const Topology& topology, const GemmProblem& problem,
                                 MemoryId gpu) {
  const OverlapProblem overlap = overlap_problem(problem, topology, gpu, transfers(options));
  const Policy policy = options.policy.resolve();
  Simulations simulations{topology, problem, gpu, policy};
  const std::vector<std::int64_t> tiles =
      policy.tile > 0 ? std::vector{policy.tile} : overlap_tiles(problem, std::int64_t{1} << 40);
  std::vector<Prediction> predictions;
  {
    const Progress progress{"simulating"};
    for (const OverlapModel model : models_of(options.model)) {
      const std::int64_t tile = best_tile(model, overlap, tiles);
      predictions.push_back({std::string{to_string(model)}, tile,
                             predicted_time(model, overlap, static_cast<double>(tile)), simulations.of(tile)});
    }
    const std::int64_t chosen = simulations.chosen_tile();
    predictions.push_back({"policy", chosen, std::nullopt, simulations.of(chosen)});
    for (const std::int64_t tile : tiles) simulations.of(tile);
  }
  const auto& all = simulations.all();
  const auto best =
      std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best != all.end()) predictions.push_back({"simulator", best->first, std::nullopt, best->second});
  return {text_of(overlap, predictions), json_of(overlap, predictions)};
}

}  // namespace tilerail::cli
