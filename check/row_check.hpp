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

/// Distance of some rows of C from a double-precision reference:
///   |C_ij - Ref_ij| <= gamma_{k+2} S_ij + 2 u_in P_ij + 3 u M_ij,
/// S_ij = |alpha| (|op(A)| |op(B)|)_ij + |beta| |C_in,ij|, gamma for the precision of
/// sums (f64, else f32; for a dot product the bound of rounding.hpp), u_in the rounding
/// of inputs to TF32's mantissa (else 0), P_ij the first part of S_ij, u the unit
/// roundoff of the dtype (halves), and M_ij the largest sum of the first products: a
/// kernel in two parts along k (gemm_parts) stores one.
struct RowCheck {
  int64_t rows = 0;                   // checked
  double residual = 0;                // largest difference / bound; infinite for NaN
  int64_t row = 0, col = 0;           // location of the residual
  double computed = 0, expected = 0;  // C and the reference at (row, col)

  bool passed() const { return residual <= 1; }
  std::string summary() const;
};

/// Checks one row of every `every` rows of C, random from the seed, over all columns: a
/// wrong tile with at least this many rows is always found. Uses all cores; 4 m n k /
/// every operations.
RowCheck check_rows(const GemmProblem& problem, const MatrixBytes& matrices,
                    int64_t every, uint64_t seed);

}  // namespace tilerail
