#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/problem.hpp"

namespace tilerail::api {

/// Everything that a plan depends on: problems with equal signatures on one machine have
/// equal plans except for the values of alpha and beta, which matter only as zero or
/// nonzero.
struct Signature {
  int64_t m, n, k, lda, ldb, ldc;
  DType dtype;
  Trans trans_a, trans_b;
  bool alpha_is_zero, beta_is_zero;
  Layout place_a, place_b, place_c;
  std::vector<MemoryId> devices;
  std::string policy;  // with all overrides

  auto operator<=>(const Signature&) const = default;
};

inline Signature signature_of(const GemmProblem& p, std::vector<MemoryId> devices,
                              std::string policy) {
  return {p.m,
          p.n,
          p.k,
          p.lda,
          p.ldb,
          p.ldc,
          p.dtype,
          p.trans_a,
          p.trans_b,
          p.alpha == 0,
          p.beta == 0,
          p.place_a,
          p.place_b,
          p.place_c,
          std::move(devices),
          std::move(policy)};
}

}  // namespace tilerail::api
