#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "api/session.hpp"

namespace tilerail::api::test {

/// One call on random matrices with padding. For products of 64 terms below 1 in
/// magnitude, times scalars below 3, the bound of 1e-12 is exceeded only by errors of the
/// code: 66 * 2^-53 * (3 * 64 + 3) < 1.5e-12 * 1.
class Multiplication {
 public:
  Multiplication(int64_t m, int64_t n, int64_t k, double alpha, double beta,
                 unsigned seed = 1) {
    x.m = m, x.n = n, x.k = k;
    x.alpha = alpha, x.beta = beta;
    x.trans_a = 'N', x.trans_b = 'T';
    x.lda = m + 3, x.ldb = n + 1, x.ldc = m + 2;
    a = random(x.lda * k, seed), b = random(x.ldb * k, seed + 1),
    c = random(x.ldc * n, seed + 2);
    x.a = a.data(), x.b = b.data(), x.c = c.data();
    before = c;
  }

  void expect_right() const {
    for (int64_t j = 0; j < x.n; ++j) {
      for (int64_t i = 0; i < x.ldc; ++i) {
        const auto at = size_t(i + j * x.ldc);
        if (i >= x.m) {
          ASSERT_EQ(c[at], before[at]) << "padding";
          continue;
        }
        double sum = 0;
        for (int64_t p = 0; p < x.k && x.alpha != 0; ++p)
          sum += a[size_t(i + p * x.lda)] * b[size_t(j + p * x.ldb)];
        const double old = x.beta == 0 ? 0 : x.beta * before[at];
        ASSERT_NEAR(c[at], x.alpha * sum + old, 3e-12) << i << ", " << j;
      }
    }
  }

  GemmArguments x;
  std::vector<double> a, b, c, before;

 private:
  static std::vector<double> random(int64_t size, unsigned seed) {
    std::mt19937_64 engine{seed};
    std::uniform_real_distribution<double> uniform{-1, 1};
    std::vector<double> values(static_cast<size_t>(size));
    for (double& value : values) value = uniform(engine);
    return values;
  }
};

inline ContextOptions small_tiles(const std::string& override = "") {
  ContextOptions options;
  options.overrides = {"tile=16"};
  if (!override.empty()) options.overrides.push_back(override);
  return options;
}

}  // namespace tilerail::api::test
