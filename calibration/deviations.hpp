#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "calibration/mean.hpp"
#include "model/machine/uncertainty.hpp"

namespace tilerail {

/// How far measured times of one class are from what is said of them, relative to that. docs/model.md#intervals
class Deviations {
 public:
  /// How far one more batch like those of the measurement would be: the distance of their mean, and the scatter of
  /// batches about it. A single batch tells nothing.
  void add(double said, const Measured& measured) {
    const double far = measured.mean / said;
    if (const double noise = scatter(measured, Uncertainty::level); std::isfinite(noise))
      sizes_.push_back(std::hypot(far - 1, noise * far));
  }
  /// The same of rates.
  void add_rate(double said, const Measured& measured) {
    add(1 / said, {1 / measured.mean, measured.half_width, measured.count});
  }

  bool empty() const { return sizes_.empty(); }

  /// What nine of ten such deviations do not exceed, to four digits; 0 without any. No interval reaches down to 0.
  double half_width() const {
    constexpr double most = 0.99;
    const double exact = sizes_.empty() ? 0 : std::min(covering(sizes_, Uncertainty::level), most);
    return std::strtod(fmt::format("{:.4g}", exact).c_str(), nullptr);
  }

 private:
  std::vector<double> sizes_;
};

/// What the source of a fitted Uncertainty says.
inline constexpr const char* uncertainty_text = "nine of ten measurements deviate no more from the figures";

}  // namespace tilerail
