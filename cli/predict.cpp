#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/option_group.hpp"
#include "cli/options.hpp"
#include "cli/output_set.hpp"
#include "cli/progress.hpp"
#include "cli/transfer_file.hpp"
#include "model/error.hpp"
#include "model/overlap_models.hpp"
#include "report/text.hpp"
#include "sched/overlap_gemm.hpp"
#include "sched/scheduler.hpp"
#include "sched/tile_choice.hpp"
#ifdef TILERAIL_HAVE_SIM
#include "backends/sim/sim_executor.hpp"
#endif

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(One GPU. Each model's own best tile, its time for that tile, and what the simulator gives for it; 'simulator' is the
best of all these tiles and of the policy's choice.
Examples:
  tilerail predict --gemm 8K --topology cocopelia-testbed-2 --devices 0
  tilerail predict --gemm 8K --topology machine.toml --devices 0 --transfers-in h2d.csv --transfers-out d2h.csv
  tilerail predict --gemm 16K --topology clx-ai --devices 0 --place h:0:h --model dr --json -
  tilerail predict --axpy 64M --topology cocopelia-testbed-2 --devices 0 --model bts
  tilerail simulate --gemm 8K --topology cocopelia-testbed-2 --devices 0 --tile auto:dr)";

struct PredictOptions {
  ProblemOptions problem;
  MachineOptions machine;
  PolicyOptions policy;
  std::string model, json, transfers_in, transfers_out;

  HostTransfers transfers() const {
    HostTransfers measured;
    if (!transfers_in.empty()) measured.in = read_transfer_time(transfers_in);
    if (!transfers_out.empty()) measured.out = read_transfer_time(transfers_out);
    return measured;
  }
};

struct Prediction {
  std::string model;
  std::int64_t tile = 0;
  std::optional<double> predicted, simulated;  // s
};

/// Simulated times of one GPU's plans, by tile; nothing where plans would be too long or there is no simulator.
class Simulations {
 public:
  Simulations(const Topology& topology, const GemmProblem& problem, MemoryId gpu, Policy policy)
      : topology_{topology}, problem_{problem}, gpu_{gpu}, policy_{std::move(policy)} {}

  std::int64_t chosen_tile() const { return plan(policy_).tile; }

  std::optional<double> of([[maybe_unused]] std::int64_t tile) {
#ifdef TILERAIL_HAVE_SIM
    if (kernel_count(problem_.m, problem_.n, problem_.k, {1, 1}, tile) > most_judged_kernels) return std::nullopt;
    const auto [entry, is_new] = known_.try_emplace(tile, 0);
    if (is_new) {
      Policy fixed = policy_;
      fixed.tile = tile;
      entry->second = SimExecutor{topology_}.execute(plan(fixed)).makespan().value;
    }
    return entry->second;
#else
    return std::nullopt;
#endif
  }

  const std::map<std::int64_t, double>& all() const { return known_; }

 private:
  Plan plan(const Policy& policy) const { return plan_gemm(problem_, topology_, std::span{&gpu_, 1}, policy); }

  const Topology& topology_;
  GemmProblem problem_;
  MemoryId gpu_;
  Policy policy_;
  std::map<std::int64_t, double> known_;
};

std::vector<OverlapModel> models_of(const std::string& name) {
  std::string known;
  for (const OverlapModel model : overlap_models) {
    if (name == to_string(model)) return {model};
    known += (known.empty() ? "" : ", ") + std::string{to_string(model)};
  }
  if (name.empty()) return {overlap_models.begin(), overlap_models.end()};
  throw InputError{fmt::format("--model: '{}' is no model; there are: {}", name, known)};
}

std::string time_text(const std::optional<double>& seconds) { return seconds ? seconds_text(*seconds) : "-"; }

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

std::string json_of(const OverlapProblem& problem, const std::vector<Prediction>& predictions) {
  const auto transfer = [](const TransferTime& t) {
    return nlohmann::ordered_json{{"latency_s", t.latency}, {"bytes_per_s", 1 / t.per_byte}, {"slowdown", t.slowdown}};
  };
  nlohmann::ordered_json json{{"schema", 1}, {"h2d", transfer(problem.h2d)}, {"d2h", transfer(problem.d2h)}};
  for (const Prediction& p : predictions) {
    nlohmann::ordered_json row{{"model", p.model}, {"tile", p.tile}};
    row["predicted_s"] = p.predicted ? nlohmann::ordered_json(*p.predicted) : nullptr;
    row["simulated_s"] = p.simulated ? nlohmann::ordered_json(*p.simulated) : nullptr;
    json["predictions"].push_back(std::move(row));
  }
  return json.dump(2) + "\n";
}

int run_predict(const PredictOptions& options) {
  OutputSet files;
  const bool to_file = !options.json.empty() && options.json != "-";
  if (to_file) files.expect(options.json, "--json");
  const std::vector<OverlapModel> models = models_of(options.model);
  const Topology topology = options.machine.load();
  const GemmProblem problem = options.problem.resolve(topology);
  const std::vector<MemoryId> devices = options.machine.resolve_devices(topology);
  if (devices.size() != 1)
    throw InputError{fmt::format("--devices: these models are of one GPU; {} are given", devices.size())};
  if (problem.m == 0 || problem.n == 0 || problem.k == 0 || problem.alpha == 0)
    throw InputError{
        fmt::format("--{}: nothing to multiply; expected sizes and an alpha other than 0", to_string(problem.routine))};

  const OverlapProblem overlap = overlap_problem(problem, topology, devices[0], options.transfers());
  const Policy policy = options.policy.resolve();
  Simulations simulations{topology, problem, devices[0], policy};
  const std::vector<std::int64_t> tiles =
      policy.tile > 0 ? std::vector{policy.tile} : overlap_tiles(problem, std::int64_t{1} << 40);
  std::vector<Prediction> predictions;
  {
    const Progress progress{"simulating"};
    for (const OverlapModel model : models) {
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

  const std::string json = json_of(overlap, predictions);
  if (to_file) files.add(options.json, json);
  files.commit();
  std::fputs((options.json == "-" ? json : text_of(overlap, predictions)).c_str(), stdout);
  return exit_ok;
}

}  // namespace

Command add_predict(CLI::App& root) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* app = root.add_subcommand("predict", "Predict a time and a tile without planning, by models of one GPU");
  app->footer(footer);
  options->problem.add_to(*app);
  options->machine.add_to(*app);
  options->policy.add_to(*app);
  OptionGroup model{*app, "MODEL"};
  model.add("--model", "NAME", options->model, "One model only: baseline, dataloc, bts, dr or cso");
  model.add("--transfers-in", "FILE", options->transfers_in,
            "Measured copies from the host to the GPU (.csv), for the models instead of the topology's");
  model.add("--transfers-out", "FILE", options->transfers_out, "The same from the GPU to the host");
  OptionGroup{*app, "OUTPUT"}.add("--json", "FILE", options->json, "Result as JSON into a file, or - for stdout");
  return {app, [options] { return run_predict(*options); }};
}

}  // namespace tilerail::cli
