#include "study/predict/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail::study {
namespace {

void check_model(const std::string& name) {
  const std::vector<std::string> names = prediction_models();
  if (!name.empty() && std::ranges::find(names, name) == names.end())
    throw unknown_name("model", name, "a model", names);
}

/// Whether to use the workload model. Throws InputError if the model does not support
/// this routine or number of devices.
bool is_workload(const PredictionText& text, const GemmProblem& problem, size_t devices) {
  const bool workload = text.model.empty() ? devices > 1 : text.model == workload_model;
  if (!workload && devices > 1)
    throw InputError{"model", text.model,
                     fmt::format("is a model of one GPU; {} are given", devices),
                     fmt::format("{} or one device", workload_model)};
  if (workload && problem.routine != Routine::gemm)
    throw InputError{"model", workload_model,
                     fmt::format("does not predict {}", to_string(problem.routine)),
                     "a gemm or one device"};
  return workload;
}

}  // namespace

std::vector<std::string> prediction_models() {
  std::vector<std::string> names;
  for (const OverlapModel model : overlap_models) names.emplace_back(to_string(model));
  names.emplace_back(workload_model);
  return names;
}

Prediction predict(const PredictionText& text, const Topology& topology) {
  check_model(text.model);
  const GemmProblem problem = text.problem.resolve(topology);
  const std::vector<MemoryId> devices = text.machine.resolve_devices(topology, false);
  if (devices.empty())
    throw fault_of("devices", fmt::format("{} has no GPU", topology.name()),
                   "at least one");
  if (!problem.has_product())
    throw fault_of(to_string(problem.routine), "has nothing to multiply",
                   "sizes and an alpha other than 0");
  check_places(problem, topology, devices);
  if (is_workload(text, problem, devices.size()))
    return predict_workload(text, topology, problem, devices);
  return predict_overlap(text, topology, problem, devices[0]);
}

Columns<TilePrediction> columns_of(const OverlapPrediction&, const Topology&) {
  using P = TilePrediction;
  return {{"model", &P::chosen_by, "model"},
          {"tile", &P::tile, "tile"},
          {"predicted_s", &P::predicted, "predicted", seconds_text},
          {"simulated_s", &P::simulated, "simulated", seconds_text}};
}

Columns<DevicePrediction> columns_of(const WorkloadPrediction&,
                                     const Topology& topology) {
  using P = DevicePrediction;
  const auto names = [&](const P& prediction) {
    std::vector<std::string> texts;
    for (const MemoryId device : prediction.devices)
      texts.push_back(topology.processor_name(device));
    return texts;
  };
  const auto joined = [](const std::vector<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, ","));
  };
  const auto shares = [=](const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double share : values) texts.push_back(share_text(share));
    return joined(texts);
  };
  return {{"choice", &P::chosen_by, "choice"},
          {"devices", names, "devices", joined},
          {"shares", &P::shares, "shares", shares},
          {"predicted_s", &P::predicted_s, "predicted", seconds_text},
          {"predicted_energy_j", &P::predicted_j, "predicted energy", joules_text},
          {"tile", &P::tile, "tile"},
          {"simulated_s", &P::simulated_s, "simulated", seconds_text},
          {"simulated_energy_j", &P::simulated_j, "simulated energy", joules_text}};
}

}  // namespace tilerail::study
