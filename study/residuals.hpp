#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "calibration/fit_topology.hpp"

namespace tilerail::study {

/// How far a description lies from what was measured; errors are relative.
struct ResidualSummary {
  std::size_t count = 0;
  double median = 0, within_95 = 0;  // sizes of errors
  Residual worst;
};

/// At least one residual.
ResidualSummary summary_of(std::span<const Residual> residuals);

}  // namespace tilerail::study
