#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/table.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "model/published/overlap_models.hpp"
#include "study/job.hpp"

namespace tilerail::study {

/// The model of several GPUs. `overlap_models` are for one GPU.
inline constexpr const char* workload_model = "paralia";

/// A tile for one GPU. Times in seconds.
struct TilePrediction {
  std::string_view chosen_by;  // name of a model, "policy" or "simulator"
  int64_t tile = 0;
  std::optional<double> predicted = {}, simulated = {};  // by the model; with the plan
};

struct OverlapPrediction {
  TransferTime h2d, d2h;  // copies as the models describe them
  std::vector<TilePrediction>
      choices;  // the best of each model, the policy's, and the fastest of all simulated
};

/// For all overlap models. Plans of more than `most_candidate_kernels`
/// kernels and tiles that do not fit in memory are not simulated. `problem` must multiply
/// something. Throws InputError.
OverlapPrediction predict_overlap(const JobText& text, const Topology& topology,
                                  const GemmProblem& problem, MemoryId gpu);

/// A choice of devices: PARALiA's prediction and the simulated plan. Times in seconds,
/// energies in joules; unknown values are absent.
struct DevicePrediction {
  std::string_view chosen_by;  // "all", name of a metric, or "policy"
  std::vector<MemoryId> devices;
  std::optional<std::vector<double>> shares = {};  // predicted, of the sub-kernels
  std::optional<double> predicted_s = {}, predicted_j = {};
  int64_t tile = 0;  // of the plan
  double simulated_s = 0;
  std::optional<double> simulated_j = {};
};

struct WorkloadPrediction {
  int64_t tile = 0;        // of the modelled kernels and transfers
  bool has_watts = false;  // without watts, metrics of energy are omitted
  std::vector<DevicePrediction>
      choices;  // all devices, the model's for each metric, and the policy's
};

/// `problem` must be a GEMM that multiplies something.
/// Throws InputError.
WorkloadPrediction predict_workload(const JobText& text, const Topology& topology,
                                    const GemmProblem& problem,
                                    std::span<const MemoryId> devices);

/// For one GPU or several. Throws InputError, also for problems that the model does not
/// support.
using Prediction = std::variant<OverlapPrediction, WorkloadPrediction>;
Prediction predict(const JobText& text, const Topology& topology);

/// Descriptions of the choices. The topology must outlive them.
Columns<TilePrediction> columns_of(const OverlapPrediction& prediction,
                                   const Topology& topology);
Columns<DevicePrediction> columns_of(const WorkloadPrediction& prediction,
                                     const Topology& topology);

/// The link map of a machine's routes (docs/formats.md#link-map).
std::string link_map_csv(const Topology& topology);

}  // namespace tilerail::study
