#include "calibration/mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "model/machine/topology.hpp"

namespace tilerail {

SampleMean mean_of(std::span<const double> batch_means) {
  assert(!batch_means.empty());
  const size_t count = batch_means.size();
  if (count < 2) return {batch_means[0], INFINITY, 1};
  const auto n = double(count);
  const auto [mean, variance] = boost::math::statistics::mean_and_sample_variance(
      batch_means.begin(), batch_means.end());
  const double student = quantile(boost::math::students_t{n - 1}, 0.975);
  return {mean, student * std::sqrt(variance / n) / mean, count};
}

double scatter(const SampleMean& mean, double level) {
  if (mean.count < 2) return INFINITY;
  const auto n = double(mean.count);
  const boost::math::students_t student{n - 1};
  const double deviation = mean.half_width * std::sqrt(n) / quantile(student, 0.975);
  return quantile(student, (1 + level) / 2) * deviation * std::sqrt(1 + 1 / n);
}

double covering(std::vector<double> sizes, double level) {
  assert(!sizes.empty());
  const double rank = std::ceil(level * double(sizes.size() + 1));
  const auto at = std::min(sizes.size(), size_t(rank)) - 1;
  const auto found = sizes.begin() + ptrdiff_t(at);
  std::ranges::nth_element(sizes, found);
  return *found;
}

std::string width_text(double half_width) {
  return std::isfinite(half_width) ? fmt::format("{:.1f} %", 100 * half_width)
                                   : "an unknown width (one sample)";
}

std::string missed_target(std::string_view what, double half_width) {
  if (half_width <= target_half_width) return "";
  return fmt::format(
      "{}: 95 % intervals within {} instead of {}; the machine was busy, or needs more "
      "seconds",
      what, width_text(half_width), width_text(target_half_width));
}

void Deviations::add(double said, const SampleMean& measured) {
  const double far = measured.mean / said;
  if (const double noise = scatter(measured, Uncertainty::level); std::isfinite(noise))
    sizes_.push_back(std::hypot(far - 1, noise * far));
}

void Deviations::add_rate(double said, const SampleMean& measured) {
  add(1 / said, {1 / measured.mean, measured.half_width, measured.count});
}

double Deviations::half_width() const {
  constexpr double most = 0.99;
  return sizes_.empty() ? 0
                        : rounded(std::min(covering(sizes_, Uncertainty::level), most));
}

double rounded(double value) {
  return std::strtod(fmt::format("{:.4g}", value).c_str(),
                     nullptr);  // the nearest double, unlike scaling with powers of ten
}

}  // namespace tilerail
