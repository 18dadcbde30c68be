#pragma once

#include <string>

#include "study/job.hpp"

namespace tilerail::study {

/// The model of several GPUs. `overlap_models` are for one GPU.
inline constexpr const char* workload_model = "paralia";

/// A prediction as specified by users. Without a model: all models.
struct PredictionText : JobText {
  std::string model;  // one only
};

}  // namespace tilerail::study
