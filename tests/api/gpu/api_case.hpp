#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "tests/api/gpu/placed_matrix.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::test {

/// One call of gemm on random matrices, and the check of its results.
class ApiCase {
 public:
  struct Where {
    MemoryKind kind = MemoryKind::pageable;
    int device = 0;
  };
  /// `problem` must come from `checked`; its places are not used. C is poisoned if beta
  /// == 0.
  ApiCase(const GemmProblem& problem, Where a, Where b, Where c, uint64_t seed);

  void call(Context& context, void* stream = nullptr, GemmTimes* times = nullptr,
            bool wait = true);

  /// "" if every element of C is within its bound and nothing else was written, else the
  /// error. With `steps` products along k, u_s of the sums (f64, else f32) and u of the
  /// dtype,
  ///   |C - Ref| <= 2 ((k + 2) u_s + (steps + 1) u + u_in) S,
  ///   S = |alpha| |op(A)| |op(B)| + |beta C|:
  /// C is rounded to the dtype after each product and after the addition of beta C;
  /// u_in = 2^-10 if inputs are truncated to TF32. Below the smallest normal number of
  /// f16, each rounding adds 2^-25.
  std::string mismatch(int64_t steps) const;
  std::string describe() const;

  GemmProblem problem;
  std::unique_ptr<PlacedMatrix> a, b, c;

 private:
  template <class Element, class Scalar>
  void call_typed(Context& context, const GemmOptions& options);

  std::string places_;
};

}  // namespace tilerail::test
