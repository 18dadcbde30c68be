#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>

#include "cli/options/options.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {

/// The model of several GPUs; those of one are `overlap_models`.
inline constexpr const char* workload_model = "paralia";

struct PredictOptions {
  ProblemText problem;
  MachineText machine;
  PolicyText policy;
  std::string model, json, transfers_in, transfers_out, link_map;
};

/// What predictions are printed as.
struct PredictionReport {
  std::string text;
  nlohmann::ordered_json json;
};

/// By the overlap models, or by the one that the options name. `problem` has something to multiply. Throws InputError.
PredictionReport predict_overlap(const PredictOptions& options, const Topology& topology, const GemmProblem& problem,
                                 MemoryId gpu);

/// By PARALiA's workload model. The same.
PredictionReport predict_workload(const PredictOptions& options, const Topology& topology, const GemmProblem& problem,
                                  std::span<const MemoryId> devices);

/// What is not known.
inline std::string time_text(const std::optional<double>& seconds) { return seconds ? seconds_text(*seconds) : "-"; }
inline nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nullptr;
}

}  // namespace tilerail::cli
