#pragma once

#include <span>
#include <vector>

namespace tilerail {

/// The middle value, or the mean of the two middle ones. `values` is not empty.
double median(std::vector<double> values);

/// The least of the values that more than this share of them do not exceed, the largest
/// for a share of 1: of 1 to 20 it is 11 for 0.5 and 20 for 0.95. `values` is not empty,
/// 0 <= share <= 1. Boost.Math has medians and quartiles, but no quantile of a sample for
/// any share.
double quantile(std::vector<double> values, double share);

/// The factor f with the least sum of (y - f x)^2; 0 where every x is 0. As many of each.
double least_squares_factor(std::span<const double> x, std::span<const double> y);

}  // namespace tilerail
