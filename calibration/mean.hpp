#pragma once

#include <cstddef>
#include <span>

namespace tilerail {

/// A mean and half the width of its 95 % confidence interval, relative to it.
struct Measured {
  double mean = 0;
  double half_width = 0;  // infinite with fewer than two samples
  std::size_t count = 0;
};

/// Mean of batch means, whose distribution is close to normal whatever that of a single timing is, with Student's
/// interval. The mean, not the median: a makespan is a sum of times, the rare long ones included.
/// `batch_means` must not be empty. Source: Law, Simulation Modeling and Analysis, 9.5.3 (batch means).
Measured mean_of(std::span<const double> batch_means);

}  // namespace tilerail
