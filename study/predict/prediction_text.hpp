#pragma once

#include <string>

#include "study/job.hpp"

namespace tilerail::study {

/// The model of several GPUs; those of one are `overlap_models`.
inline constexpr const char* workload_model = "paralia";

/// What users write of a prediction. Without a model: every model.
struct PredictionText : JobText {
  std::string model;  // one only
};

}  // namespace tilerail::study
