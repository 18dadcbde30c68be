#include "study/predict/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/published/overlap_models.hpp"

namespace tilerail::study {
namespace {

void check_model(const std::string& name) {
  const std::vector<std::string> names = prediction_models();
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    throw InputError{fmt::format("--model: '{}' is no model; there are: {}", name, fmt::join(names, ", "))};
}

/// Whether the workload model is asked for. Refuses what the models of so many GPUs do not know.
bool is_workload(const PredictionText& text, const GemmProblem& problem, std::size_t devices) {
  const bool workload = text.model.empty() ? devices > 1 : text.model == workload_model;
  if (!workload && devices > 1)
    throw InputError{fmt::format("--model: '{}' is a model of one GPU; {} are given; expected {}, or one of --devices",
                                 text.model, devices, workload_model)};
  if (workload && problem.routine != Routine::gemm)
    throw InputError{fmt::format("--{}: {} predicts GEMMs; expected --gemm, or one of --devices",
                                 to_string(problem.routine), workload_model)};
  if (workload && !(text.transfers_in.empty() && text.transfers_out.empty()))
    throw InputError{fmt::format("--transfers-{}: is for models of one GPU; expected --link-map, or one of --devices",
                                 text.transfers_in.empty() ? "out" : "in")};
  if (!workload && !text.link_map.empty())
    throw InputError{
        fmt::format("--link-map: is for --model {}; this model of one GPU expects --transfers-in and "
                    "--transfers-out",
                    workload_model)};
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
  const std::vector<MemoryId> devices = text.machine.resolve_devices(topology);
  if (devices.empty())
    throw InputError{fmt::format("--devices: {} has no GPU; expected at least one", topology.name())};
  if (!problem.has_product())
    throw InputError{
        fmt::format("--{}: nothing to multiply; expected sizes and an alpha other than 0", to_string(problem.routine))};
  if (is_workload(text, problem, devices.size())) return predict_workload(text, topology, problem, devices);
  return predict_overlap(text, topology, problem, devices[0]);
}

}  // namespace tilerail::study
