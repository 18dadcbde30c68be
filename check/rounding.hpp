#pragma once

#include <algorithm>
#include <limits>

#include "model/problem.hpp"

namespace tilerail {

/// Bound of the error of an element over S, the sum of the magnitudes of its terms, with k products and unit roundoff
/// u:
///   gamma_{k+2} = (k + 2) u / (1 - (k + 2) u)
/// for any data and any order of summation (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 3.5).
///
/// A long dot product in f32 would pass without a tile: that changes a sum of k random numbers by much less than
/// gamma S. So it is held to what independent numbers, uniform in [-1, 1], allow. The products have a mean of 0 and a
/// standard deviation of 1/3, a sum of at most k of them one of sqrt(k) / 3, and k roundings of such sums add up to one
/// of u sqrt(k) sqrt(k) / 3 = 4/3 u S in any order, since S is k / 4. Twelve of these are 16 u S.
inline double element_bound(const GemmProblem& problem, double u) {
  const double nu = static_cast<double>(problem.k + 2) * u;
  const double gamma = nu < 1 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
  return problem.routine == Routine::dot ? std::min(gamma, 16 * u) : gamma;
}

}  // namespace tilerail
