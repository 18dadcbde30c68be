#pragma once

#include <span>
#include <vector>

namespace tilerail {

/// The median; the mean of the two middle values for an even number. `values` must not be
/// empty.
double median(std::vector<double> values);

/// The least of the values that more than this share of them do not exceed, and the
/// largest for a share of 1: for 1 to 20, 11 at 0.5 and 20 at 0.95. `values` must not be
/// empty, 0 <= share <= 1. Boost.Math has medians and quartiles, but no sample quantile
/// for an arbitrary share.
double quantile(std::vector<double> values, double share);

/// The factor f that minimises the sum of (y - f x)^2; 0 if every x is 0. `x` and `y`
/// have equal sizes.
double least_squares_factor(std::span<const double> x, std::span<const double> y);

}  // namespace tilerail
