#include "check/row_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "check/reference.hpp"
#include "model/base/threads.hpp"

namespace tilerail {
namespace {

GemmProblem problem_of(Trans ta, Trans tb, double alpha, double beta) {
  GemmProblem p;
  p.m = 130, p.n = 37, p.k = 65;
  p.trans_a = ta, p.trans_b = tb, p.alpha = alpha, p.beta = beta;
  return checked(p);
}

/// Column-major C = alpha op(A) op(B) + beta C of doubles, by definition.
struct Case {
  explicit Case(const GemmProblem& problem) : p{problem} {
    fill(a, p.lda * p.cols_a()), fill(b, p.ldb * p.cols_b()), fill(c_in, p.ldc * p.n);
    c = c_in;
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a[at(p.trans_a == Trans::no ? i + k * p.lda : k + i * p.lda)] *
                 b[at(p.trans_b == Trans::no ? k + j * p.ldb : j + k * p.ldb)];
        double& y = c[at(i + j * p.ldc)];
        y = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * y);
      }
  }
  static size_t at(int64_t i) { return size_t(i); }
  void fill(std::vector<double>& x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) x.push_back(std::sin(double(++number)));
  }
  RowCheck check(int64_t every) const {
    const auto bytes = [](const std::vector<double>& x) {
      return reinterpret_cast<const std::byte*>(x.data());
    };
    return check_rows(p, {bytes(a), bytes(b), bytes(c_in), bytes(c)}, every, 5);
  }
  GemmProblem p;
  std::vector<double> a, b, c_in, c;
  int number = 0;
};

TEST(RowCheck, IsDoneByTheCallerIfNoThreadCanBeStarted) {
  Case right{problem_of(Trans::no, Trans::yes, 0.7, -1.3)}, wrong{right};
  wrong.c[Case::at(3 + 5 * wrong.p.ldc)] += 1;
  const RowCheck found = wrong.check(1);
  const ThreadLimit none{0};
  EXPECT_TRUE(right.check(1).passed());
  EXPECT_EQ(wrong.check(1).summary(), found.summary());
}

TEST(RowCheck, AcceptsTheDefinitionWithAllTransposesAndScalars) {
  for (const Trans ta : {Trans::no, Trans::yes})
    for (const Trans tb : {Trans::no, Trans::yes})
      for (const double beta : {0.0, 1.0, -0.5}) {
        const RowCheck result = Case{problem_of(ta, tb, 1.5, beta)}.check(16);
        EXPECT_TRUE(result.passed()) << result.summary();
        EXPECT_EQ(result.rows, 9);  // 130 rows, one per 16
      }
}

TEST(RowCheck, FindsOneWrongElementInACheckedRow) {
  Case c{problem_of(Trans::no, Trans::no, 1, 1)};
  c.c[Case::at(77 + 21 * c.p.ldc)] += 1e-9;
  const RowCheck result = c.check(1);
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.row, 77);
  EXPECT_EQ(result.col, 21);
}

TEST(RowCheck, FindsATileWithAMissingProduct) {
  Case c{problem_of(Trans::no, Trans::no, 1, 0)};
  for (int64_t i = 32; i < 64; ++i)
    c.c[Case::at(i + 3 * c.p.ldc)] -= c.a[Case::at(i)] * c.b[Case::at(3 * c.p.ldb)];
  EXPECT_FALSE(c.check(32).passed());
}

TEST(RowCheck, FailsOnNaN) {
  Case c{problem_of(Trans::no, Trans::no, 1, 0)};
  c.c[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(c.check(1).residual));
}

TEST(RowCheck, AcceptsOnlyExpectedOverflows) {
  Case c{problem_of(Trans::no, Trans::no, 1e308, 1.7e308)};
  const auto finite =
      std::ranges::find_if(c.c, [](double x) { return std::isfinite(x) && x != 0; });
  const auto over = std::ranges::find_if(c.c, [](double x) { return std::isinf(x); });
  ASSERT_TRUE(finite != c.c.end() && over != c.c.end());
  EXPECT_LE(c.check(1).residual, 1);
  for (const auto& [element, wrong] : {std::pair{over, 1e308},
                                       {over, -*over},
                                       {finite, 1.001 * *finite},
                                       {finite, *over},
                                       {over, std::nan("")}}) {
    const double right = std::exchange(*element, wrong);
    EXPECT_GT(c.check(1).residual, 1) << wrong << " for " << right;
    *element = right;
  }
}

TEST(RowCheck, ReadsHalves) {
  // 1.5 in both formats: 0x3E00 and 0x3FC0; -2^-24, the smallest f16: 0x8001. A 1 x 1 x 1
  // problem: C = A B.
  for (const auto& [dtype, a, b, c] : {std::tuple<DType, uint16_t, uint16_t, uint16_t>{
                                           DType::f16, 0x3E00, 0x4000, 0x4200},
                                       {DType::bf16, 0x3FC0, 0x4000, 0x4040},
                                       {DType::f16, 0x8001, 0x4000, 0x8002}}) {
    GemmProblem p;
    p.m = p.n = p.k = 1, p.dtype = dtype, p.beta = 0;
    const auto bytes = [](const uint16_t& x) {
      return reinterpret_cast<const std::byte*>(&x);
    };
    const RowCheck result =
        check_rows(checked(p), {bytes(a), bytes(b), nullptr, bytes(c)}, 1, 1);
    EXPECT_EQ(result.residual, 0) << result.summary();
  }
}

/// A 1 x 1 x 2 problem of halves, 0.5 * 2 + 2^-11 * 2 = 1 + 2^-10, with C
/// given as bits.
RowCheck halves(DType dtype, uint16_t c) {
  const bool f16 = dtype == DType::f16;
  const uint16_t two = f16 ? 0x4000 : 0x4000, half = f16 ? 0x3800 : 0x3F00,
                 small = f16 ? 0x1000 : 0x3A00;
  const std::array<uint16_t, 2> a{half, small}, b{two, two};
  GemmProblem p;
  p.m = p.n = 1, p.k = 2, p.dtype = dtype, p.beta = 0;
  const auto bytes = [](const auto& x) {
    return reinterpret_cast<const std::byte*>(x.data());
  };
  return check_rows(checked(p), {bytes(a), bytes(b), nullptr, bytes(std::array{c})}, 1,
                    1);
}

TEST(RowCheck, HalvesMayBeRoundedInAKernelOfTwoPartsAndNoMore) {
  // Bound 3 u for a largest sum of 1 + 2^-10: in f16, 1.5 2^-10 around it, with a spacing
  // of 2^-10.
  EXPECT_TRUE(halves(DType::f16, 0x3C00).passed());    // 1
  EXPECT_TRUE(halves(DType::f16, 0x3C02).passed());    // 1 + 2^-9
  EXPECT_FALSE(halves(DType::f16, 0x3C03).passed());   // 1 + 3 2^-10
  EXPECT_TRUE(halves(DType::bf16, 0x3F80).passed());   // 1; u is 2^-8
  EXPECT_FALSE(halves(DType::bf16, 0x3F90).passed());  // 1.125
}

TEST(RowCheck, Tf32RoundsItsInputsAndNoMore) {
  // 1 x 1 x 1: |C - a b| <= (gamma(3, 2^-24) + 2 2^-11) |a b|.
  const auto passes = [](float c) {
    const float one = 1;
    GemmProblem p;
    p.m = p.n = p.k = 1, p.dtype = DType::tf32, p.beta = 0;
    const auto bytes = [](const float& x) {
      return reinterpret_cast<const std::byte*>(&x);
    };
    return check_rows(checked(p), {bytes(one), bytes(one), nullptr, bytes(c)}, 1, 1)
        .passed();
  };
  EXPECT_TRUE(passes(1 + 0x1p-11F));
  EXPECT_FALSE(passes(1 + 0x1p-9F));
}

}  // namespace
}  // namespace tilerail
