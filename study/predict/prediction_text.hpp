#pragma once

#include <string>

#include "study/job.hpp"

namespace tilerail::study {

/// The model of several GPUs; those of one are `overlap_models`.
inline constexpr const char* workload_model = "paralia";

/// What users write of a prediction. Empty texts: every model; the topology's own figures.
struct PredictionText : JobText {
  std::string model;                        // one only
  std::string transfers_in, transfers_out;  // files of measured copies, for the models of one GPU
  std::string link_map;                     // a file of measured links, for the model of several
};

}  // namespace tilerail::study
