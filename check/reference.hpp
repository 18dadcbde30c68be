#pragma once

#include <cstdint>
#include <string>

#include "check/random_matrix.hpp"
#include "model/matrices.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// Distance of a computed C from the reference. Each element of both floating-point
/// results obeys, for any order of summation and any split of k,
///   |fl(C_ij) - C_ij| <= (gamma_{k+2} + u_half) S_ij,
///   S_ij = |alpha| (|op(A)| |op(B)|)_ij + |beta| |C_in,ij|,
///   gamma_n = n u / (1 - n u), u = half the machine epsilon of the sums
/// (k products and sums, one product each with alpha and beta; u_half is the roundoff of
/// halves, else 0), so they differ by at most twice this bound.
/// (|op(A)| |op(B)|)_ij is bounded with Hoelder's inequality, without a product of
/// matrices:
///   min(sum_p |op(A)_ip| max_p |op(B)_pj|,  max_p |op(A)_ip| sum_p |op(B)_pj|).
/// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 3.5; for
/// dot products: rounding.hpp.
struct GemmCheck {
  double residual =
      0;  // max |C_ij - Ref_ij| / S_ij; infinite for NaN, or if S_ij is 0 and C is not
  double tolerance = 0;               // 2 (gamma_{k+2} + u_half)
  int64_t row = 0, col = 0;           // location of the residual
  double computed = 0, expected = 0;  // C and the reference at (row, col)
  bool padding_untouched = true;      // padding of A, B and C
  bool inputs_untouched = true;       // A and B

  bool passed() const {
    return residual <= tolerance && padding_untouched && inputs_untouched;
  }
  /// One line: residual and tolerance, or the error and its location.
  std::string summary() const;
};

/// Random matrices of one problem, to run it and to check the result. If beta == 0, C is
/// NaN before the run, which must overwrite it without reading.
class GemmData {
 public:
  /// `problem` as returned by `checked`. Throws InputError for tf32, or if memory is
  /// short.
  GemmData(const GemmProblem& problem, uint64_t seed);

  Matrices matrices() const { return {a_.data(), b_.data(), c_.data()}; }

  /// Restores C before the first run.
  void reset_c();

  /// Compares C with alpha * op(A) * op(B) + beta * C_in from a single GEMM call for the
  /// whole problem, also for vectors.
  GemmCheck check() const;

  const RandomMatrix& a() const { return a_; }
  const RandomMatrix& b() const { return b_; }
  const RandomMatrix& c() const { return c_; }

 private:
  RandomMatrix reference() const;

  GemmProblem problem_;
  uint64_t seed_;
  RandomMatrix a_, b_, c_;
};

}  // namespace tilerail
