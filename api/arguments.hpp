#pragma once

#include <optional>

#include "tilerail/tilerail.hpp"

namespace tilerail::api {

/// Whether the call only scales C: C = beta C, without A and B.
inline bool scales_only(const GemmArguments& x) { return x.alpha == 0 || x.k == 0; }
inline bool has_no_work(const GemmArguments& x) {
  return x.m == 0 || x.n == 0 || (scales_only(x) && x.beta == 1);
}

/// Positions of arguments in BLAS's xGEMM.
enum Position : int {
  trans_a = 1,
  trans_b,
  m,
  n,
  k,
  alpha,
  a,
  lda,
  b,
  ldb,
  beta,
  c,
  ldc
};

struct Defect {
  int position;
  std::string message;  // "argument 8 (lda) = 3: expected at least 4, the stored rows"
};

/// The first invalid argument, if any. Matrices that are not read, or have no elements,
/// can be null. Accesses no memory and no device.
std::optional<Defect> first_defect(const GemmArguments& arguments);

/// The problem without places. `arguments` must be valid. If A and B are not read, the
/// problem omits them: k is 0, their leading dimensions are the smallest valid ones and
/// nothing is transposed.
GemmProblem problem_of(const GemmArguments& arguments);

}  // namespace tilerail::api
