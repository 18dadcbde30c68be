#pragma once

#include <string>

#include "model/machine/topology.hpp"
#include "study/predict/prediction.hpp"

namespace tilerail::cli {

/// For a terminal.
std::string to_text(const study::Prediction& prediction, const Topology& topology);

/// JSON object (docs/formats.md#prediction), with a line break at the end.
std::string to_json(const study::Prediction& prediction, const Topology& topology);

}  // namespace tilerail::cli
