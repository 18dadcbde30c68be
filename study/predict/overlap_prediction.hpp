#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "model/published/transfer_time.hpp"
#include "study/predict/prediction_text.hpp"

namespace tilerail::study {

/// A tile chosen for one GPU. Times in seconds.
struct TilePrediction {
  std::string chooser;  // an overlap model, "policy" or "simulator"
  int64_t tile = 0;
  std::optional<double> predicted, simulated;  // by the model; with the plan
};

struct OverlapPrediction {
  TransferTime h2d, d2h;  // copies as the models describe them
  std::vector<TilePrediction> tiles;
};

/// The best tile of each overlap model, or of the named one; then the policy's tile and,
/// with a simulator, the best candidate. Plans of more than `most_judged_kernels` kernels
/// and tiles that do not fit in memory are not simulated. `problem` must multiply
/// something. Throws InputError.
OverlapPrediction predict_overlap(const PredictionText& text, const Topology& topology,
                                  const GemmProblem& problem, MemoryId gpu);

}  // namespace tilerail::study
