#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "study/predict/prediction_text.hpp"

namespace tilerail::study {

/// Devices that something chose: as predicted by PARALiA's model, and their plan as
/// simulated. Times in seconds, energies in joules; absent what is not known.
struct DevicePrediction {
  std::string choice;  // "all", a metric or "policy"
  std::vector<MemoryId> devices;
  std::vector<double> shares = {};  // of the sub-kernels, predicted; empty for "policy"
  std::optional<double> predicted_s = {}, predicted_j = {};
  int64_t tile = 0;  // of the plan
  std::optional<double> simulated_s = {}, simulated_j = {};
};

struct WorkloadPrediction {
  int64_t tile = 0;        // of the kernels and transfers that the model counts
  bool has_watts = false;  // without them there are no choices by metrics of energy
  std::vector<DevicePrediction> choices;
};

/// What the model says of all devices, the devices that it would take by each metric, and
/// those of the policy's plan. `problem` is a GEMM with something to multiply. Throws
/// InputError.
WorkloadPrediction predict_workload(const PredictionText& text, const Topology& topology,
                                    const GemmProblem& problem,
                                    std::span<const MemoryId> devices);

}  // namespace tilerail::study
