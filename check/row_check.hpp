#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/problem.hpp"

namespace tilerail {

/// Matrices of a problem in host memory, column-major with the problem's leading
/// dimensions, of any dtype.
struct MatrixBytes {
  const std::byte *a = nullptr, *b = nullptr;
  const std::byte* c_in = nullptr;  // C before the run; not read when beta == 0
  const std::byte* c = nullptr;
};

/// How far some rows of C lie from a reference in double precision:
///   |C_ij - Ref_ij| <= gamma_{k+2} S_ij + 2 u_in P_ij + (steps + 2) u M_ij,
/// S_ij = |alpha| (|op(A)| |op(B)|)_ij + |beta| |C_in,ij|, gamma of the precision that
/// sums have (f64, else f32; of a dot product the bound of rounding.hpp), u_in the
/// rounding of inputs to TF32's mantissa (else 0) and P_ij the first part of S_ij, u that
/// of the dtype (halves), and M_ij the largest partial result after one of the `steps`
/// products along k, each of which is stored.
struct RowCheck {
  int64_t rows = 0;          // that were looked at
  double residual = 0;       // largest difference over its bound; infinite for a NaN
  int64_t row = 0, col = 0;  // where
  double computed = 0, expected = 0;  // C and the reference there

  bool passed() const { return residual <= 1; }
  std::string summary() const;
};

/// Checks one row, random from the seed, of every `every` rows of C, over all columns: a
/// tile of at least so many rows that is wrong does not escape. Works on all cores; 4 m n
/// k / every operations. `steps` products along k, of about equal depth, make an element
/// of C.
RowCheck check_rows(const GemmProblem& problem, const MatrixBytes& matrices,
                    int64_t every, int64_t steps, uint64_t seed);

}  // namespace tilerail
