#pragma once

#include <string>

#include "study/job.hpp"

namespace tilerail::study {

/// The model of several GPUs; those of one are `overlap_models`.
inline constexpr const char* workload_model = "paralia";

/// A prediction as users specify it. Without a model: all models.
struct PredictionText : JobText {
  std::string model;  // one only
};

}  // namespace tilerail::study
