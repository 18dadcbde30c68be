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

/// A choice of devices: PARALiA's prediction and the simulated plan. Times in seconds,
/// energies in joules; unknown values are absent.
struct DevicePrediction {
  std::string choice;  // "all", a metric or "policy"
  std::vector<MemoryId> devices;
  std::vector<double> shares = {};  // predicted, of the sub-kernels; empty for "policy"
  std::optional<double> predicted_s = {}, predicted_j = {};
  int64_t tile = 0;  // of the plan
  std::optional<double> simulated_s = {}, simulated_j = {};
};

struct WorkloadPrediction {
  int64_t tile = 0;        // of the modelled kernels and transfers
  bool has_watts = false;  // without watts, metrics of energy are omitted
  std::vector<DevicePrediction> choices;
};

/// The model's prediction for all devices, its choice of devices for each metric, and the
/// devices of the policy's plan. `problem` must be a GEMM that multiplies something.
/// Throws InputError.
WorkloadPrediction predict_workload(const PredictionText& text, const Topology& topology,
                                    const GemmProblem& problem,
                                    std::span<const MemoryId> devices);

}  // namespace tilerail::study
