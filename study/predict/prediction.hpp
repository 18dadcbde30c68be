#pragma once

#include <string>
#include <variant>
#include <vector>

#include "study/predict/overlap_prediction.hpp"
#include "study/predict/workload_prediction.hpp"

namespace tilerail::study {

/// Names of all models: those of one GPU, then that of several.
std::vector<std::string> prediction_models();

/// Of one GPU, or of several: by the model that the text names, else by how many GPUs it
/// names. Throws InputError, also for what the models of so many GPUs do not know.
using Prediction = std::variant<OverlapPrediction, WorkloadPrediction>;
Prediction predict(const PredictionText& text, const Topology& topology);

}  // namespace tilerail::study
