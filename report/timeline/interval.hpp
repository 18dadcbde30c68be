#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The 90 % prediction interval of a makespan, in seconds. docs/model.md#intervals has
/// the measured coverage.
struct PredictedInterval {
  double low = 0, high = 0;

  /// With a half width above this share of the middle, almost any makespan is in the
  /// interval.
  static constexpr double widest = 0.5;

  bool holds(double makespan) const { return low <= makespan && makespan <= high; }
  bool is_wide() const { return high - low > widest * (high + low); }
  bool operator==(const PredictedInterval&) const = default;
};

/// Half widths along the critical path of a simulated timeline, in seconds, by cause.
/// Errors within a class have the same cause and add up; classes are independent.
struct PathUncertainty {
  double kernels = 0, load = 0, copies = 0, columns = 0, issue = 0;

  double half_width() const;  // sqrt of the sum of the squares
};

/// Absent without uncertainties in the machine, or for this type of kernels.
/// docs/model.md#intervals
std::optional<PathUncertainty> path_uncertainty(const Plan& plan,
                                                const Topology& topology,
                                                std::span<const OpTime> times);
std::optional<PredictedInterval> predicted_interval(const Plan& plan,
                                                    const Topology& topology,
                                                    std::span<const OpTime> times);

/// "85.1 ms to 104.8 ms in 90% of cases"
std::string interval_text(const PredictedInterval& interval);

}  // namespace tilerail
