#include "calibration/mean.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>

namespace tilerail {
namespace {

/// Quantile 0.975 of Student's t, for 1, 2, ... degrees of freedom; above the table, that of the last entry.
double student(std::size_t freedom) {
  constexpr double quantiles[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
                                  2.20,  2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09};
  return quantiles[std::min(freedom, std::size(quantiles)) - 1];
}

}  // namespace

Measured mean_of(std::span<const double> batch_means) {
  assert(!batch_means.empty());
  const auto n = static_cast<double>(batch_means.size());
  double sum = 0, squares = 0;
  for (const double x : batch_means) sum += x;
  const double mean = sum / n;
  if (batch_means.size() < 2) return {mean, std::numeric_limits<double>::infinity(), 1};
  for (const double x : batch_means) squares += (x - mean) * (x - mean);
  const double deviation = std::sqrt(squares / (n - 1));
  return {mean, student(batch_means.size() - 1) * deviation / std::sqrt(n) / mean, batch_means.size()};
}

}  // namespace tilerail
