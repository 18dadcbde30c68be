// Matrices of factorisations, and residuals of their results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail::testing {

/// A and T of a factorisation, column-major with the leading dimensions of the plan.
struct Factors {
  std::vector<double> a, t;
};

/// Random elements in [-1, 1], rounded to the type: positive definite for potrf.
Factors random_factors(const Plan& plan, uint64_t seed);

/// Residuals relative to their units, each below 30 for a backward stable factorisation
/// (LAPACK Working Note 41, 7.1):
///   |A - L L^T| / (n |A| eps), or |A - Q R| / (m |A| eps) and |I - Q^T Q| / (m eps)
/// in Frobenius norms. Q is the product of the plan's reflectors, one after another, with
/// the factors tau on the diagonals of each T. NaN results are infinite.
double residual(const Plan& plan, const Factors& before, const Factors& after);

/// Element of A in the triangle of the result: L or R.
double at(const Plan& plan, const std::vector<double>& a, int64_t row, int64_t col);

}  // namespace tilerail::testing
