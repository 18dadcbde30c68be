#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/commands/predict.hpp"
#include "cli/output/progress.hpp"
#include "cli/study.hpp"
#include "model/base/error.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/scheduler.hpp"
#include "study/judge.hpp"
#include "study/link_map_csv.hpp"

namespace tilerail::cli {
namespace {

/// A workload as predicted, and its plan as simulated.
struct Row {
  std::string choice;
  std::vector<MemoryId> devices;
  std::vector<double> shares = {};                  // predicted
  std::optional<double> seconds = {}, joules = {};  // predicted
  std::int64_t tile = 0;                            // of the plan
  std::optional<double> simulated_s = {}, simulated_j = {};
};

class Predictions {
 public:
  Predictions(const PredictOptions& options, const Topology& topology, const GemmProblem& problem,
              std::span<const MemoryId> devices)
      : options_{options},
        topology_{topology},
        problem_{problem},
        devices_{devices},
        policy_{paralia()},
        judge_{judge_of(topology)},
        map_{options.link_map.empty() ? LinkMap{topology} : read_link_map(options.link_map, topology)},
        workload_{workload_problem(problem, topology, devices, policy_)} {}

  std::vector<Row> rows() const {
    std::vector<Row> rows{of_workload("all", of_all_devices())};
    for (const Metric& metric : metrics)
      if (!metric.needs_energy || has_watts())
        rows.push_back(of_workload(std::string{metric.name}, ranked_workloads(workload_, map_, metric).front()));
    const Plan plan = plan_gemm(problem_, topology_, devices_, options_.policy.resolve(), judge_);
    rows.push_back(simulated({"policy", plan.devices}, plan));
    return rows;
  }

  /// Of the kernels and transfers that the model counts.
  std::int64_t tile() const { return unsearched_tile(problem_, topology_, devices_, policy_); }
  bool has_watts() const { return !workload_.watts.empty(); }

 private:
  /// PARALiA's policy with the tile and the fields that the options give; what it selects is selected here.
  Policy paralia() const {
    PolicyText named = options_.policy;
    named.name = workload_model, named.select.clear();
    Policy policy = named.resolve();
    policy.select = nullptr, policy.device_choice = DeviceChoice::all;
    return policy;
  }

  Workload of_all_devices() const {
    std::vector<std::size_t> all(devices_.size());
    std::iota(all.begin(), all.end(), 0);
    Workload workload = WorkloadModel{workload_, map_}.predict(all);
    if (!std::isfinite(workload.seconds))
      throw InputError{
          fmt::format("--devices: not all of them have links to all operands and to each other{}; expected "
                      "devices that have",
                      options_.link_map.empty() ? "" : " in " + options_.link_map)};
    return workload;
  }

  Row of_workload(std::string choice, const Workload& workload) const {
    Row row{std::move(choice), workload.devices(devices_), workload.shares, workload.seconds};
    if (has_watts()) row.joules = workload.joules;
    const Plan plan = search_plan(problem_, topology_, row.devices, policy_, row.shares);
    return simulated(std::move(row), plan);
  }

  Row simulated(Row row, const Plan& plan) const {
    row.tile = plan.tile;
    if (!judge_.of) return row;
    const Judgement judgement = judge_.of(plan);
    row.simulated_s = judgement.makespan.value;
    if (judgement.energy) row.simulated_j = judgement.energy->value;
    return row;
  }

  const PredictOptions& options_;
  const Topology& topology_;
  const GemmProblem& problem_;
  std::span<const MemoryId> devices_;
  Policy policy_;
  Judge judge_;
  LinkMap map_;
  WorkloadProblem workload_;
};

std::string energy_text(const std::optional<double>& joules) { return joules ? joules_text(*joules) : "-"; }

std::string text_of(const Topology& topology, const Predictions& predictions, const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines{
      {"choice", "GPUs", "shares, %", "predicted", "energy", "tile", "simulated", "energy"}};
  for (const Row& row : rows) {
    std::vector<int> numbers;
    std::vector<std::string> shares;
    for (const MemoryId device : row.devices) numbers.push_back(topology.memory(device).device);
    for (const double share : row.shares) shares.push_back(fmt::format("{:.1f}", 100 * share));
    lines.push_back({row.choice, fmt::format("{}", fmt::join(numbers, ",")),
                     shares.empty() ? "-" : fmt::format("{}", fmt::join(shares, " ")), time_text(row.seconds),
                     energy_text(row.joules), std::to_string(row.tile), time_text(row.simulated_s),
                     energy_text(row.simulated_j)});
  }
  return fmt::format("{} counts kernels and transfers of tiles of {}\n\n", workload_model, predictions.tile()) +
         aligned(lines, "lllr") +
         (predictions.has_watts() ? ""
                                  : fmt::format("no metrics of energy: {} has no watts of them\n", topology.name()));
}

nlohmann::ordered_json json_of(const Topology& topology, const Predictions& predictions, const std::vector<Row>& rows) {
  nlohmann::ordered_json json{{"schema", 1}, {"model", workload_model}, {"tile", predictions.tile()}};
  for (const Row& row : rows) {
    std::vector<std::string> names;
    for (const MemoryId device : row.devices) names.push_back(topology.memory(device).name);
    nlohmann::ordered_json entry{{"choice", row.choice}, {"devices", names}};
    entry["shares"] = row.shares.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row.shares);
    entry["predicted_s"] = or_null(row.seconds);
    entry["predicted_energy_j"] = or_null(row.joules);
    entry["tile"] = row.tile;
    entry["simulated_s"] = or_null(row.simulated_s);
    entry["simulated_energy_j"] = or_null(row.simulated_j);
    json["predictions"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

PredictionReport predict_workload(const PredictOptions& options, const Topology& topology, const GemmProblem& problem,
                                  std::span<const MemoryId> devices) {
  const Predictions predictions{options, topology, problem, devices};
  const std::vector<Row> rows = [&] {
    const Progress progress{"simulating"};
    return predictions.rows();
  }();
  return {text_of(topology, predictions, rows), json_of(topology, predictions, rows)};
}

}  // namespace tilerail::cli
