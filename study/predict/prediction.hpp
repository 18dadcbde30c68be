#pragma once

#include <string>
#include <variant>
#include <vector>

#include "study/predict/overlap_prediction.hpp"
#include "study/predict/workload_prediction.hpp"

namespace tilerail::study {

/// Names of all models: for one GPU, then for several.
std::vector<std::string> prediction_models();

/// For one GPU or several: the named model decides, else the number of GPUs. Throws
/// InputError, also for problems that the model does not support.
using Prediction = std::variant<OverlapPrediction, WorkloadPrediction>;
Prediction predict(const PredictionText& text, const Topology& topology);

}  // namespace tilerail::study
