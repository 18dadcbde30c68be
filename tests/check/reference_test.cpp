#include "check/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/base/error.hpp"
#include "tests/support/halves.hpp"

namespace tilerail {
namespace {

GemmProblem problem(int64_t m, int64_t n, int64_t k, DType dtype = DType::f64) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k, p.dtype = dtype;
  return checked(p);
}

/// C with plain loops: no BLAS library has this order of summation.
template <class T>
void plain_gemm(const GemmProblem& p, const Matrices& data) {
  const T *a = static_cast<const T*>(data.a), *b = static_cast<const T*>(data.b);
  T* c = static_cast<T*>(data.c);
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.m; ++i) {
      T sum = 0;
      for (int64_t l = 0; l < p.k; ++l) {
        const T x = p.trans_a == Trans::no ? a[i + l * p.lda] : a[l + i * p.lda];
        const T y = p.trans_b == Trans::no ? b[l + j * p.ldb] : b[j + l * p.ldb];
        sum += x * y;
      }
      T& out = c[i + j * p.ldc];
      out = static_cast<T>(p.alpha) * sum +
            (p.beta == 0 ? T{0} : static_cast<T>(p.beta) * out);
    }
  }
}

TEST(RandomMatrix, DependsOnTheSeedOnly) {
  const RandomMatrix x{20, 10, 20, DType::f64, 1}, y{20, 10, 24, DType::f64, 1},
      z{20, 10, 20, DType::f64, 2};
  int equal = 0;
  for (int64_t j = 0; j < 10; ++j) {
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(x.at(i, j), y.at(i, j));
      equal += x.at(i, j) == z.at(i, j) ? 1 : 0;
    }
  }
  EXPECT_EQ(equal, 0);
}

TEST(RandomMatrix, IsUniformFromMinusOneToOne) {
  const int64_t s = 200;
  const RandomMatrix x{s, s, s, DType::f32, 5};
  double sum = 0, squares = 0;
  for (int64_t j = 0; j < s; ++j) {
    for (int64_t i = 0; i < s; ++i) {
      ASSERT_LE(std::abs(x.at(i, j)), 1.0);
      sum += x.at(i, j), squares += x.at(i, j) * x.at(i, j);
    }
  }
  // Mean 0 and variance 1/3 over 40000 draws: six standard errors of 0.0029 and 0.0015.
  EXPECT_NEAR(sum / (s * s), 0.0, 0.018);
  EXPECT_NEAR(squares / (s * s), 1.0 / 3, 0.009);
}

TEST(RandomMatrix, DetectsWrites) {
  RandomMatrix x{3, 2, 5, DType::f64, 1};
  EXPECT_TRUE(x.elements_untouched());
  EXPECT_TRUE(x.padding_untouched());
  static_cast<double*>(x.data())[4] = 0;  // row 4 of column 0: padding
  EXPECT_TRUE(x.elements_untouched());
  EXPECT_FALSE(x.padding_untouched());
  x.fill();
  static_cast<double*>(x.data())[5] = 2;  // row 0 of column 1
  EXPECT_FALSE(x.elements_untouched());
  EXPECT_TRUE(x.padding_untouched());
}

TEST(RandomMatrix, RefusesTf32AndSizesBeyondMemory) {
  EXPECT_THROW((RandomMatrix{1, 1, 1, DType::tf32, 0}), InputError);
  const int64_t huge = int64_t{1} << 31;
  EXPECT_THROW((RandomMatrix{huge, huge, huge, DType::f64, 0}), InputError);
}

TEST(RandomMatrix, HalvesAreRoundedOnce) {
  const RandomMatrix exact{5, 4, 6, DType::f64, 7};
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const RandomMatrix x{5, 4, 6, dtype, 7};
    const auto* bits = static_cast<const uint16_t*>(x.data());
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(bits[i + j * 6], test::half_bits(exact.at(i, j), dtype));
        EXPECT_EQ(x.at(i, j), test::stored(exact.at(i, j), dtype));
      }
    EXPECT_TRUE(x.elements_untouched());
  }
}

TEST(GemmCheck, AcceptsAnotherOrderOfSummation) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        GemmProblem p = problem(17, 23, 190, dtype);
        p.trans_a = ta, p.trans_b = tb, p.alpha = -1.5, p.beta = 0.3;
        p.lda = p.ldb = p.ldc = 200;
        const GemmData data{p, 3};
        dtype == DType::f64 ? plain_gemm<double>(p, data.matrices())
                            : plain_gemm<float>(p, data.matrices());
        const GemmCheck check = data.check();
        EXPECT_TRUE(check.passed()) << check.summary();
        EXPECT_GT(check.residual, 0);  // the orders differ
      }
    }
  }
}

TEST(GemmCheck, ToleranceIsTwiceGammaOfKPlusTwo) {
  // u = 2^-53, n = k + 2 = 100: 2 n u / (1 - n u) = 200 u to first order.
  EXPECT_NEAR(GemmData(problem(1, 1, 98), 0).check().tolerance, 200 * 0x1p-53,
              1e-12 * 200 * 0x1p-53);
  EXPECT_NEAR(GemmData(problem(1, 1, 98, DType::f32), 0).check().tolerance, 200 * 0x1p-24,
              1e-4 * 200 * 0x1p-24);
}

TEST(GemmCheck, RejectsOneWrongElement) {
  GemmProblem p = problem(8, 8, 50);
  p.ldc = 9;
  for (const double wrong : {0.0, 1e-12, std::nan(""), HUGE_VAL}) {
    const GemmData data{p, 4};
    plain_gemm<double>(p, data.matrices());
    double& element = static_cast<double*>(data.matrices().c)[3 + 5 * 9];
    // |A||B| is at most 50 here and the tolerance 52 eps: an offset of 1e-12 is more than
    // 52 * 50 eps = 5.8e-13.
    element = wrong == 1e-12 ? element + wrong : wrong;
    const GemmCheck check = data.check();
    EXPECT_FALSE(check.passed()) << wrong;
    EXPECT_EQ(check.row, 3);
    EXPECT_EQ(check.col, 5);
    EXPECT_THAT(check.summary(), ::testing::HasSubstr("C(3, 5)"));
  }
}

TEST(GemmCheck, AcceptsOnlyExpectedOverflows) {
  GemmProblem p = problem(8, 8, 50);
  p.alpha = 1e308;  // half of the sums of 50 random products exceed 1.8
  const GemmData data{p, 4};
  plain_gemm<double>(p, data.matrices());
  auto* const c = static_cast<double*>(data.matrices().c);
  ASSERT_GT(std::count_if(c, c + 64, [](double x) { return std::isinf(x); }), 10);
  EXPECT_TRUE(data.check().passed()) << data.check().summary();
  double* const over = std::find_if(c, c + 64, [](double x) { return std::isinf(x); });
  double* const finite =
      std::find_if(c, c + 64, [](double x) { return std::isfinite(x); });
  ASSERT_NE(finite, c + 64);
  for (const auto& [element, wrong] :
       {std::pair{over, -*over}, {over, 1e308}, {finite, 1.001 * *finite}}) {
    const double right = std::exchange(*element, wrong);
    EXPECT_FALSE(data.check().passed()) << wrong << " for " << right;
    *element = right;
  }
}

TEST(GemmCheck, RejectsAMissedProduct) {
  GemmProblem shorter = problem(8, 8, 49);
  const GemmData data{problem(8, 8, 50), 4};
  shorter.ldb = 50;
  plain_gemm<double>(shorter, data.matrices());
  EXPECT_FALSE(data.check().passed());
}

TEST(GemmCheck, DetectsWritesIntoPaddingAndInputs) {
  GemmProblem p = problem(8, 8, 8);
  p.lda = p.ldc = 9;
  const GemmData data{p, 4};
  plain_gemm<double>(p, data.matrices());
  EXPECT_TRUE(data.check().passed());
  static_cast<double*>(data.matrices().c)[8] = 0;
  EXPECT_FALSE(data.check().padding_untouched);
  EXPECT_FALSE(data.check().passed());

  const GemmData other{p, 4};
  plain_gemm<double>(p, other.matrices());
  static_cast<double*>(other.matrices().b)[0] += 0x1p-53;  // too small to affect C
  EXPECT_FALSE(other.check().inputs_untouched);
  EXPECT_FALSE(other.check().passed());
}

TEST(GemmCheck, ZeroScalarsDemandExactness) {
  GemmProblem p = problem(4, 4, 4);
  p.alpha = p.beta = 0;  // C = 0, and S = 0: any other value is wrong
  const GemmData data{p, 1};
  EXPECT_FALSE(data.check().passed());  // still poisoned
  plain_gemm<double>(p, data.matrices());
  EXPECT_TRUE(data.check().passed());
  static_cast<double*>(data.matrices().c)[7] = 1e-300;
  EXPECT_FALSE(data.check().passed());
}

TEST(GemmCheck, EmptyProblemsPass) {
  for (const auto& [m, n, k] :
       {std::array{0, 5, 3}, std::array{5, 0, 3}, std::array{0, 0, 0}}) {
    EXPECT_TRUE(GemmData(problem(m, n, k), 1).check().passed());
  }
  GemmProblem p = problem(5, 5, 0);
  p.beta = 1;
  EXPECT_TRUE(GemmData(p, 1).check().passed());  // C is unchanged
}

TEST(GemmData, ResetRestoresC) {
  GemmProblem p = problem(4, 4, 4);
  GemmData data{p, 1};
  plain_gemm<double>(p, data.matrices());
  EXPECT_FALSE(data.c().elements_untouched());
  data.reset_c();
  EXPECT_TRUE(data.c().elements_untouched());
}

}  // namespace
}  // namespace tilerail
