#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/problem.hpp"

namespace tilerail {

/// Bound of the error of an element over S, the sum of the magnitudes of its terms, with
/// k products and unit roundoff u:
///   gamma_{k+2} = (k + 2) u / (1 - (k + 2) u)
/// for any data and any order of summation (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd edition, 3.5).
///
/// A long dot product in f32 would pass without a tile: that changes a sum of k random
/// numbers by much less than gamma S. So it is held to what independent numbers, uniform
/// in [-1, 1], allow. The products have a mean of 0 and a standard deviation of 1/3, a
/// sum of at most k of them one of sqrt(k) / 3, and k roundings of such sums add up to
/// one of u sqrt(k) sqrt(k) / 3 = 4/3 u S in any order, since S is k / 4. Twelve of these
/// are 16 u S.
inline double element_bound(const GemmProblem& problem, double u) {
  const double nu = double(problem.k + 2) * u;
  const double gamma = nu < 1 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
  return problem.routine == Routine::dot ? std::min(gamma, 16 * u) : gamma;
}

/// A power of two of the size of alpha and beta, where they are large: what is compared
/// is divided by it, exactly, so that bounds of errors do not overflow where results do
/// not.
inline double unit_of(const GemmProblem& problem) {
  const double largest = std::max(std::abs(problem.alpha), std::abs(problem.beta));
  return largest > 1 ? std::ldexp(1.0, std::ilogb(largest)) : 1;
}

/// The error of a value over `scale`: 0 where it is as expected, be it infinite; infinite
/// where one of them is no number, where only one is infinite, or where no error is
/// allowed.
inline double residual_of(double computed, double expected, double scale) {
  if (computed == expected) return 0;
  const double residual = std::abs(computed - expected) / scale;
  return residual >= 0 && scale > 0 ? residual : std::numeric_limits<double>::infinity();
}

}  // namespace tilerail
