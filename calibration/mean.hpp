#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// A mean and the half width of its 95 % confidence interval, relative to the mean.
struct SampleMean {
  double mean = 0;
  double half_width = 0;  // infinite with fewer than two samples
  size_t count = 0;
};

/// Mean of batch means with Student's interval: batch means are almost normally
/// distributed, whatever the distribution of a single timing. The mean and not the
/// median, because a makespan is a sum of times, including the rare long ones.
/// `batch_means` must not be empty. Source: Law, Simulation Modeling and Analysis, 9.5.3
/// (batch means).
SampleMean mean_of(std::span<const double> batch_means);

/// Half width of Student's prediction interval for one more batch mean, relative to the
/// mean; infinite with fewer than two samples.
double scatter(const SampleMean& mean, double level);

/// Upper bound for one more value of the same distribution with at least this
/// probability: the ceil(level (n + 1))-th smallest of n sizes, or the largest if n is
/// too small. `sizes` must not be empty. Source: Vovk, Gammerman, Shafer, Algorithmic
/// Learning in a Random World, 2.2 (conformal prediction).
double covering(std::vector<double> sizes, double level);

/// Calibrations repeat their measurements until the relative half width is below this.
inline constexpr double target_half_width = 0.05;

/// A relative half width as text: "1.3 %".
std::string width_text(double half_width);

/// "kernels: 95 % intervals within 36.2 % instead of 5.0 %; ..." if the widest interval
/// misses the target, else empty.
std::string missed_target(std::string_view what, double half_width);

/// Relative deviations of measured times of one class from their predictions.
/// docs/model.md#intervals
class Deviations {
 public:
  /// Adds the expected deviation of one more batch: the error of the mean, and the
  /// scatter of batches about it. A single batch adds nothing.
  void add(double said, const SampleMean& measured);
  /// The same for rates.
  void add_rate(double said, const SampleMean& measured);

  bool empty() const { return sizes_.empty(); }

  /// The 90 % quantile of deviations, to four digits and below 1; 0 without any.
  double half_width() const;

 private:
  std::vector<double> sizes_;
};

/// The source of a fitted Uncertainty.
inline constexpr const char* uncertainty_text =
    "nine of ten measurements deviate no more from the figures";

/// Rounds to four digits: more than the accuracy of measurements.
double rounded(double value);

}  // namespace tilerail
