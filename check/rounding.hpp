#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/problem.hpp"

namespace tilerail {

/// Unit roundoffs: of sums and of inputs in a product, and of halves in C.
struct Precision {
  double sums = 0x1p-24, inputs = 0, stores = 0;
  explicit Precision(const GemmProblem& p) {
    const DType dtype = p.dtype;
    if (dtype == DType::f64) sums = 0x1p-53;
    if (dtype == DType::tf32 && !p.of_vectors()) inputs = 0x1p-11;
    if (dtype == DType::f16) stores = 0x1p-11;
    if (dtype == DType::bf16) stores = 0x1p-8;
  }
};

/// Error bound of an element, divided by the sum S of its terms' magnitudes, with k
/// products and unit roundoff u:
///   gamma_{k+2} = (k + 2) u / (1 - (k + 2) u)
/// for any data and any order of summation (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd edition, 3.5).
///
/// For a long dot product in f32, this bound misses an absent tile: the tile changes a
/// sum of k random numbers by much less than gamma S. A tighter bound applies, for
/// independent numbers uniform in [-1, 1]. Products have mean 0 and standard deviation
/// 1/3, a sum of at most k of them has sqrt(k) / 3, and k roundings of such sums have u
/// sqrt(k) sqrt(k) / 3 = 4/3 u S in any order, because S is k / 4. Twelve standard
/// deviations are 16 u S.
inline double element_bound(const GemmProblem& problem, double u) {
  const double nu = double(problem.k + 2) * u;
  const double gamma = nu < 1 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
  return problem.routine == Routine::dot ? std::min(gamma, 16 * u) : gamma;
}

/// A power of two near alpha and beta, if these are large. Dividing compared values by it
/// is exact and prevents overflow of the error bounds.
inline double unit_of(const GemmProblem& problem) {
  const double largest = std::max(std::abs(problem.alpha), std::abs(problem.beta));
  return largest > 1 ? std::ldexp(1.0, std::ilogb(largest)) : 1;
}

/// The error of a value divided by `scale`: 0 for equal values, also infinities; infinite
/// for NaN, for a single infinity, or if no error is allowed.
inline double residual_of(double computed, double expected, double scale) {
  if (computed == expected) return 0;
  const double residual = std::abs(computed - expected) / scale;
  return residual >= 0 && scale > 0 ? residual : std::numeric_limits<double>::infinity();
}

}  // namespace tilerail
