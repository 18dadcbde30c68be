#pragma once

#include <cstdint>
#include <string>

#include "check/random_matrix.hpp"
#include "model/matrices.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// How far a computed C lies from the reference. Both are results in floating point, each
/// of whose elements obeys, for any order of summation and any split of k,
///   |fl(C_ij) - C_ij| <= gamma_{k+2} S_ij,   S_ij = |alpha| (|op(A)| |op(B)|)_ij +
///   |beta| |C_in,ij|, gamma_n = n u / (1 - n u),               u = half the machine
///   epsilon of the dtype
/// (k products and sums, one product each by alpha and beta), so that they differ by at
/// most 2 gamma_{k+2} S_ij.
/// (|op(A)| |op(B)|)_ij is bounded by Hoelder's inequality, without a product of
/// matrices:
///   min(sum_p |op(A)_ip| max_p |op(B)_pj|,  max_p |op(A)_ip| sum_p |op(B)_pj|).
/// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 3.5; for
/// dot products rounding.hpp.
struct GemmCheck {
  double residual = 0;  // max |C_ij - Ref_ij| / S_ij; infinite where C is NaN, or S_ij is
                        // 0 and C is not
  double tolerance = 0;               // 2 gamma_{k+2}
  int64_t row = 0, col = 0;           // where the residual is largest
  double computed = 0, expected = 0;  // C and the reference there
  bool padding_untouched = true;      // rows beyond a matrix's own, in A, B and C
  bool inputs_untouched = true;       // A and B

  bool passed() const {
    return residual <= tolerance && padding_untouched && inputs_untouched;
  }
  /// One line: residual and tolerance, or what is wrong and where.
  std::string summary() const;
};

/// Matrices of one problem, random from a seed, to run it on and to check the result
/// with. When beta == 0, C is NaN before the run: it must be overwritten, never read.
class GemmData {
 public:
  /// `problem` as `checked` returns it. Throws InputError when the dtype is neither f64
  /// nor f32 or memory is short.
  GemmData(const GemmProblem& problem, uint64_t seed);

  Matrices matrices() const { return {a_.data(), b_.data(), c_.data()}; }

  /// C as it was before the first run.
  void reset_c();

  /// Compares C with alpha * op(A) * op(B) + beta * C_in from one GEMM call on the whole
  /// problem, also of vectors.
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
