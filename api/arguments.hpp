#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/problem.hpp"

namespace tilerail::api {

/// The arguments of xGEMM as its caller gave them.
struct GemmArguments {
  DType dtype = DType::f64;
  char trans_a = 'N', trans_b = 'N';
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1;
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  double beta = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;

  bool scales_only() const { return alpha == 0 || k == 0; }  // C = beta C: A and B are not read
  bool has_no_work() const { return m == 0 || n == 0 || (scales_only() && beta == 1); }
};

/// Positions of arguments in BLAS's xGEMM.
enum Position : int { trans_a = 1, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc };

struct Defect {
  int position;
  std::string message;  // "argument 8 (lda) = 3: expected at least 4, the stored rows"
};

/// The first argument that is not legal, if any. Matrices that are not read, or have no elements, may be null.
/// Touches no memory and no device.
std::optional<Defect> first_defect(const GemmArguments& arguments);

/// The problem without places. `arguments` have no defect. Where A and B are not read they are not described: k is 0,
/// their leading dimensions are the smallest legal ones and nothing is transposed.
GemmProblem problem_of(const GemmArguments& arguments);

}  // namespace tilerail::api
