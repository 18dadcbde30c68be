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

  /// If half the width is above this share of the middle, almost any makespan is in the
  /// interval.
  static constexpr double widest = 0.5;

  bool holds(double makespan) const { return low <= makespan && makespan <= high; }
  bool is_wide() const { return high - low > widest * (high + low); }
  bool operator==(const PredictedInterval&) const = default;
};

/// Half widths along the critical path of a simulated timeline, in seconds, by what makes
/// them. Those of one class have the same cause, so they add up; those of different
/// classes have nothing to do with each other.
struct PathUncertainty {
  double kernels = 0, load = 0, copies = 0, columns = 0, issue = 0;

  double half_width() const;  // sqrt of the sum of the squares
};

/// Absent where the machine does not say, of this type of kernels or at all.
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
