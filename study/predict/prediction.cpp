#include "study/predict/prediction.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/join.hpp>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail::study {

Prediction predict(const JobText& text, const Topology& topology) {
  const GemmProblem problem = text.problem.resolve(topology);
  const std::vector<MemoryId> devices = text.machine.resolve_devices(topology, false);
  if (devices.empty())
    throw fault_of("devices", fmt::format("{} has no GPU", topology.name()),
                   "at least one");
  if (!problem.has_product())
    throw fault_of(to_string(problem.routine), "has nothing to multiply",
                   "sizes and an alpha other than 0");
  check_places(problem, topology, devices);
  if (devices.size() == 1) return predict_overlap(text, topology, problem, devices[0]);
  if (problem.routine != Routine::gemm)
    throw fault_of(
        "devices",
        fmt::format("{} does not predict {}", workload_model, to_string(problem.routine)),
        "a gemm or one device");
  return predict_workload(text, topology, problem, devices);
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
    return boost::join(texts, ",");
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
