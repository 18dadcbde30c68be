#include "check/kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "check/blas.hpp"
#include "model/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/halves.hpp"

namespace tilerail::host {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Block block(std::vector<double>& data, int64_t rows, int64_t cols, int64_t ld) {
  return {reinterpret_cast<std::byte*>(data.data()), rows, cols, ld};
}

TEST(HostCopy, LeavesTheRowsBeyondTheBlockAlone) {
  std::vector<double> x{1, 2, 9, 3, 4, 9};        // 2 x 2, ld 3
  std::vector<double> y{0, 0, 7, 7, 0, 0, 7, 7};  // 2 x 2, ld 4
  copy(block(x, 2, 2, 3), block(y, 2, 2, 4), 8);
  EXPECT_EQ(y, (std::vector<double>{1, 2, 7, 7, 3, 4, 7, 7}));
}

TEST(HostCopy, PackedBlocksGoInOnePiece) {
  std::vector<double> x{1, 2, 3, 4, 5, 6}, y(6, 0.0);
  copy(block(x, 2, 3, 2), block(y, 2, 3, 2), 8);
  EXPECT_EQ(y, x);
}

TEST(HostCopy, EmptyBlocksCopyNothing) {
  std::vector<double> x{1}, y{2};
  copy(block(x, 0, 5, 1), block(y, 0, 5, 1), 8);
  copy(block(x, 5, 0, 5), block(y, 5, 0, 5), 8);
  EXPECT_EQ(y[0], 2);
}

TEST(HostAxpby, AddsScaledBlocks) {
  std::vector<double> x{1, 2, 3, 4}, y{10, 20, 77, 30, 40, 77};  // 2 x 2; y has ld 3
  axpby(block(x, 2, 2, 2), block(y, 2, 2, 3), 2.0, 0.5, DType::f64, DType::f64);
  EXPECT_EQ(y, (std::vector<double>{2 + 5, 4 + 10, 77, 6 + 15, 8 + 20, 77}));
}

TEST(HostAxpby, ZeroBetaNeverReadsY) {
  std::vector<double> x{1, 2}, y{nan, nan};
  axpby(block(x, 2, 1, 2), block(y, 2, 1, 2), 3.0, 0.0, DType::f64, DType::f64);
  EXPECT_EQ(y, (std::vector<double>{3, 6}));
}

TEST(HostAxpby, ZeroAlphaNeverReadsX) {
  std::vector<double> x{nan, nan}, y{1, 2};
  axpby(block(x, 2, 1, 2), block(y, 2, 1, 2), 0.0, -1.0, DType::f64, DType::f64);
  EXPECT_EQ(y, (std::vector<double>{-1, -2}));
  axpby(Block{}, block(y, 2, 1, 2), 0.0, 0.0, DType::f64, DType::f64);
  EXPECT_EQ(y, (std::vector<double>{0, 0}));
}

TEST(HostAxpby, RoundsScalarsToSinglePrecision) {
  std::vector<float> x{1}, y{0};
  axpby({reinterpret_cast<std::byte*>(x.data()), 1, 1, 1},
        {reinterpret_cast<std::byte*>(y.data()), 1, 1, 1}, 0.1, 0, DType::f32,
        DType::f32);
  EXPECT_EQ(y[0], 0.1F);
}

// op(A) op(B) with A = [1 2; 3 4] (columns 1,3 and 2,4) and B = [5 6; 7 8].
struct SmallGemm {
  std::vector<double> a{1, 3, 2, 4}, b{5, 7, 6, 8}, c{nan, nan, nan, nan};
  std::vector<double> run(Trans ta, Trans tb) {
    gemm({DType::f64, ta, tb, 2, 2, 2, 1.0, 0.0, a.data(), b.data(), c.data(), 2, 2, 2});
    return c;
  }
};

/// y = 2 op(A) op(B) + beta y with one column: A is 2 x 3 or its transpose, B a column
/// or, with stride 2, a row.
std::vector<double> one_column(int64_t m, Trans ta, Trans tb, double beta, double y) {
  const std::vector<double> a =
      ta == Trans::no ? std::vector<double>{1, 4, 2, 5, 3, 6}
                      // [1 2 3; 4 5 6] by columns
                      : std::vector<double>{1, 2, 3, 4, 5, 6};  // its transpose
  const std::vector<double> b = tb == Trans::no ? std::vector<double>{7, 8, 9}
                                                : std::vector<double>{7, nan, 8, nan, 9};
  std::vector<double> c(2, y);
  multiply({DType::f64, ta, tb, m, 1, 3, 2.0, beta, a.data(), b.data(), c.data(),
            ta == Trans::no ? 2 : 3, tb == Trans::no ? 3 : 2, 2});
  return c;
}

TEST(HostMultiply, AColumnIsTheProductOfMatrixAndVector) {
  // [1 2 3; 4 5 6] (7 8 9) = (50 122)
  for (const Trans ta : {Trans::no, Trans::yes})
    for (const Trans tb : {Trans::no, Trans::yes}) {
      EXPECT_EQ(one_column(2, ta, tb, 0, nan), (std::vector<double>{100, 244}));
      EXPECT_EQ(one_column(2, ta, tb, 0.5, 10), (std::vector<double>{105, 249}));
    }
}

TEST(HostMultiply, AnElementIsADotProduct) {
  for (const Trans ta : {Trans::no, Trans::yes})
    for (const Trans tb : {Trans::no, Trans::yes}) {
      EXPECT_EQ(one_column(1, ta, tb, 0, nan)[0], 100);
      EXPECT_EQ(one_column(1, ta, tb, -1, 10), (std::vector<double>{90, 10}));
    }
}

TEST(HostGemm, TransposesEachOperand) {
  // A B = [19 22; 43 50], A' B = [26 30; 38 44], A B' = [17 23; 39 53], A' B' = [23 31;
  // 34 46]; stored by columns.
  EXPECT_EQ(SmallGemm{}.run(Trans::no, Trans::no), (std::vector<double>{19, 43, 22, 50}));
  EXPECT_EQ(SmallGemm{}.run(Trans::yes, Trans::no),
            (std::vector<double>{26, 38, 30, 44}));
  EXPECT_EQ(SmallGemm{}.run(Trans::no, Trans::yes),
            (std::vector<double>{17, 39, 23, 53}));
  EXPECT_EQ(SmallGemm{}.run(Trans::yes, Trans::yes),
            (std::vector<double>{23, 34, 31, 46}));
}

/// Large enough for blocked BLAS kernels; 3 x 3 for kernels of small matrices.
class ZeroScalars : public ::testing::TestWithParam<int64_t> {};

TEST_P(ZeroScalars, ZeroBetaOverwritesNaN) {
  const int64_t s = GetParam();
  std::vector<double> ones(size_t(s * s), 1.0), c(ones.size(), nan);
  gemm({DType::f64, Trans::no, Trans::no, s, s, s, 1.0, 0.0, ones.data(), ones.data(),
        c.data(), s, s, s});
  EXPECT_THAT(c, ::testing::Each(double(s)));  // a sum of s ones
}

TEST_P(ZeroScalars, ZeroAlphaNeverReadsAOrB) {
  const int64_t s = GetParam();
  std::vector<double> nans(size_t(s * s), nan), c(nans.size(), 3.0);
  gemm({DType::f64, Trans::no, Trans::no, s, s, s, 0.0, 2.0, nans.data(), nans.data(),
        c.data(), s, s, s});
  EXPECT_THAT(c, ::testing::Each(6.0));
}

TEST_P(ZeroScalars, EmptyKOnlyScales) {
  const int64_t s = GetParam();
  std::vector<double> c(size_t(s * s), 3.0);
  gemm({DType::f64, Trans::no, Trans::no, s, s, 0, 1.0, 2.0, c.data(), c.data(), c.data(),
        s, 1, s});
  EXPECT_THAT(c, ::testing::Each(6.0));
}

INSTANTIATE_TEST_SUITE_P(Sizes, ZeroScalars, ::testing::Values(1, 3, 33, 200));

TEST(HostGemm, RefusesTf32) {
  GemmCall call;
  call.dtype = DType::tf32;
  expect_input_error([&] { gemm(call); }, {"expected f64, f32, f16 or bf16"});
}

std::vector<uint16_t> halves(const std::vector<double>& values, DType dtype) {
  std::vector<uint16_t> bits;
  for (const double value : values) bits.push_back(test::half_bits(value, dtype));
  return bits;
}

// 1 + u/2 + u/4, with u the distance of 1 from the next half, is above the middle between
// the two. A sum rounded after each term stays 1.
TEST(HostGemm, HalvesAreRoundedOnce) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const double u = dtype == DType::f16 ? 0x1p-10 : 0x1p-7;
    for (const Trans ta : {Trans::no, Trans::yes}) {  // row [1, u/2], ld 2
      auto a = halves(ta == Trans::no ? std::vector<double>{1, 9, u / 2, 9}
                                      : std::vector<double>{1, u / 2},
                      dtype),
           b = halves({1, 1}, dtype), c = halves({u / 4, 7}, dtype);
      GemmCall call{dtype, ta,       Trans::no, 1,        1, 2, 1,
                    1,     a.data(), b.data(),  c.data(), 2, 2, 2};
      multiply(call);
      EXPECT_EQ(c, halves({1 + u, 7}, dtype));
      std::vector<float> sum{float(u / 4), 7};
      call.c = sum.data(), call.of_c = DType::f32;
      multiply(call);
      EXPECT_EQ(sum, (std::vector<float>{float(1 + u / 2 + u / 4), 7}));
      call.alpha = 0, call.beta = 2;
      multiply(call);
      EXPECT_EQ(sum, (std::vector<float>{float(2 + u + u / 2), 7}));
    }
  }
}

TEST(HostAxpby, ASumAndHalvesAreRoundedOnce) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const double u = dtype == DType::f16 ? 0x1p-10 : 0x1p-7;
    std::vector<float> sum{float(1 + u / 2)};
    const Block x{reinterpret_cast<std::byte*>(sum.data()), 1, 1, 1};
    auto half = halves({u / 2}, dtype);
    const Block y{reinterpret_cast<std::byte*>(half.data()), 1, 1, 1};
    axpby(x, y, 1, 0.5, DType::f32, dtype);
    EXPECT_EQ(half, halves({1 + u}, dtype)) << "1 + u/2 + u/4";
    axpby(y, y, 0, 2, dtype, dtype);
    EXPECT_EQ(half, halves({2 + 2 * u}, dtype));
    axpby(x, y, 1, 0, DType::f32, dtype);
    EXPECT_EQ(half, halves({1}, dtype)) << "1 + u/2 is rounded to even";
  }
}

TEST(HostGemm, RefusesSizesBeyondTheLibrarysIntegers) {
  GemmCall call;
  call.m = call.n = call.k = 1;
  call.ldb = int64_t{1} << 31;
  EXPECT_THROW(gemm(call), InputError);
}

}  // namespace
}  // namespace tilerail::host
