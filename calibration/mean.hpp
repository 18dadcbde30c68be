#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// A mean and half the width of its 95 % confidence interval, relative to it.
struct Measured {
  double mean = 0;
  double half_width = 0;  // infinite with fewer than two samples
  size_t count = 0;
};

/// Mean of batch means with Student's interval: batch means are close to normally
/// distributed, whatever the distribution of a single timing. It is the mean and not the
/// median, because a makespan is a sum of times, the rare long ones included.
/// `batch_means` must not be empty. Source: Law, Simulation Modeling and Analysis, 9.5.3
/// (batch means).
Measured mean_of(std::span<const double> batch_means);

/// Half the width of the interval that one more batch mean lies in with this probability,
/// relative to the mean (Student's interval of prediction); infinite with fewer than two
/// samples.
double scatter(const Measured& mean, double level);

/// The size that one more value does not exceed with at least this probability if it is
/// drawn as these were: of n, the ceil(level (n + 1))-th; the largest where these are too
/// few for that. Not empty. Source: Vovk, Gammerman, Shafer, Algorithmic Learning in a
/// Random World, 2.2 (conformal prediction).
double covering(std::vector<double> sizes, double level);

/// The relative half width that calibrations repeat their measurements for.
inline constexpr double target_half_width = 0.05;

/// A relative half width as sources tell it: "1.3 %".
std::string width_text(double half_width);

/// "kernels: 95 % intervals within 36.2 % instead of 5.0 %; ..." where the widest one
/// misses the target, else nothing.
std::string missed_target(std::string_view what, double half_width);

/// How far measured times of one class are from what is said of them, relative to that.
/// docs/model.md#intervals
class Deviations {
 public:
  /// How far one more batch like those of the measurement would be: the distance of their
  /// mean, and the scatter of batches about it. A single batch tells nothing.
  void add(double said, const Measured& measured);
  /// The same of rates.
  void add_rate(double said, const Measured& measured);

  bool empty() const { return sizes_.empty(); }

  /// What nine of ten such deviations do not exceed, to four digits; 0 without any. No
  /// interval reaches down to 0.
  double half_width() const;

 private:
  std::vector<double> sizes_;
};

/// What the source of a fitted Uncertainty says.
inline constexpr const char* uncertainty_text =
    "nine of ten measurements deviate no more from the figures";

/// To four digits: more than measurements are worth, and still easy to read.
double rounded(double value);

}  // namespace tilerail
