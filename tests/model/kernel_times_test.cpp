#include "model/kernels/kernel_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

FlopRate square_rate(double size, double seconds) {
  return FlopRate{2 * size * size * size / seconds};
}

/// Blocks of 128 x 64, 10 multiprocessors, 5 us to launch; f64 measured at 512, 2048 and
/// 8192.
KernelTimes measured() {
  KernelTimes k;
  k.name = "gpu";
  k.launch = Seconds{5e-6};
  k.multiprocessors = 10;
  k.block_m = 128;
  k.block_n = 64;
  k.k_overhead = 96;
  k.memory_bandwidth = Rate{800e9};
  k.gemm = {{DType::f64,
             "",
             {{512, square_rate(512, 100e-6)},
              {2048, square_rate(2048, 2.6e-3)},
              {8192, square_rate(8192, 0.16)}}}};
  return k;
}

double gemm(const KernelTimes& k, int64_t m, int64_t n, int64_t kk,
            DType type = DType::f64) {
  return k.gemm_time(m, n, kk, type, Trans::no, Trans::no).value;
}

TEST(KernelTimes, MeasuredSquaresKeepTheirTime) {
  EXPECT_DOUBLE_EQ(gemm(measured(), 512, 512, 512), 100e-6);
  EXPECT_DOUBLE_EQ(gemm(measured(), 2048, 2048, 2048), 2.6e-3);
  EXPECT_DOUBLE_EQ(gemm(measured(), 8192, 8192, 8192), 0.16);
}

// log E is linear in log s: at 1024, halfway between 512 and 2048, E is the geometric
// mean.
TEST(KernelTimes, BetweenMeasuredSizesTheRateIsAPowerLaw) {
  const double rate =
      std::sqrt(square_rate(512, 100e-6).value * square_rate(2048, 2.6e-3).value);
  EXPECT_DOUBLE_EQ(gemm(measured(), 1024, 1024, 1024), 2.0 * 1024 * 1024 * 1024 / rate);
}

TEST(KernelTimes, AboveTheLargestSizeTheRateIsConstant) {
  EXPECT_DOUBLE_EQ(gemm(measured(), 16384, 16384, 16384), 8 * 0.16);
}

// Below 512 the m x n share costs the same as at 512: T = P(s) (k + k0), P(s) = 2 s^3 /
// (E(s) (s + k0)) with E(s) = E(512) (s / 512)^2. For s = 256 and k = 512: T = 100 us
// (256 / 512) (512 + 96) / (256 + 96).
TEST(KernelTimes, BelowTheSmallestSizeASmallResultDoesNotFillTheDevice) {
  const double expected = 100e-6 * 256 / 512 * (512.0 + 96) / (256 + 96);
  EXPECT_NEAR(gemm(measured(), 256, 256, 512), expected, 1e-12);
}

TEST(KernelTimes, ThinKPaysForThePipelineFill) {
  // T(k) / T(2048) = (k + 96) / (2048 + 96)
  EXPECT_NEAR(gemm(measured(), 2048, 2048, 1024), 2.6e-3 * (1024.0 + 96) / (2048 + 96),
              1e-12);
}

TEST(KernelTimes, DeepKIsNeverFasterThanTheBestMeasuredRate) {
  // (k + k0) / (s + k0) alone would give 2048^2 x 16384 a higher rate than the best one,
  // 2 * 8192^3 / 0.16 s.
  const double best = square_rate(8192, 0.16).value;
  KernelTimes k = measured();
  k.k_overhead = 2000;
  EXPECT_DOUBLE_EQ(gemm(k, 2048, 2048, 65536), 2.0 * 2048 * 2048 * 65536 / best);
}

TEST(KernelTimes, ARaggedBlockCostsAWholeOne) {
  const KernelTimes k = measured();
  EXPECT_DOUBLE_EQ(gemm(k, 1921, 2048, 2048),
                   gemm(k, 2048, 2048, 2048));  // 16 blocks of 128 rows
  EXPECT_LT(gemm(k, 1920, 2048, 2048), gemm(k, 1921, 2048, 2048));  // 15 blocks
  EXPECT_DOUBLE_EQ(gemm(k, 2048, 1985, 2048),
                   gemm(k, 2048, 2048, 2048));  // 32 blocks of 64 columns
  EXPECT_LT(gemm(k, 2048, 1984, 2048), gemm(k, 2048, 1985, 2048));
}

TEST(KernelTimes, AKernelTakesAtLeastTheLaunch) {
  EXPECT_DOUBLE_EQ(gemm(measured(), 1, 1, 1), 5e-6);
  EXPECT_DOUBLE_EQ(measured().axpby_time(8, 8, DType::f64, 2, 1).value, 5e-6);
}

// 8 bytes (m k + k n + 2 m n) with m = n = 8192, k = 1: 8 (2 * 8192 + 2 * 8192^2) B at
// 800 GB/s.
TEST(KernelTimes, AThinUpdateIsBoundByMemory) {
  KernelTimes k = measured();
  k.k_overhead = 0;
  EXPECT_DOUBLE_EQ(gemm(k, 8192, 8192, 1), 8.0 * (2 * 8192 + 2.0 * 8192 * 8192) / 800e9);
}

// A row or a column moves 8 (m k + k n + 2 m n) B at 800 GB/s; at the rate of squares it
// would take much longer.
TEST(KernelTimes, AProductWithAVectorIsBoundByMemory) {
  const KernelTimes k = measured();
  EXPECT_DOUBLE_EQ(gemm(k, 4096, 1, 8192),
                   8.0 * (4096.0 * 8192 + 8192 + 2 * 4096) / 800e9);
  EXPECT_DOUBLE_EQ(gemm(k, 1, 4096, 8192), gemm(k, 4096, 1, 8192));
  EXPECT_DOUBLE_EQ(gemm(k, 1, 1, 1 << 26), 8.0 * (2.0 * (1 << 26) + 2) / 800e9);
  EXPECT_DOUBLE_EQ(gemm(k, 100, 1, 100), 5e-6);  // the launch
}

TEST(KernelTimes, AProductWithAVectorIsBoundByArithmeticIfArithmeticIsSlower) {
  KernelTimes k = measured();
  k.gemm[0].points = {{512, FlopRate{0.1e12}}};
  EXPECT_DOUBLE_EQ(gemm(k, 4096, 1, 8192), 2.0 * 4096 * 8192 / 0.1e12);
}

TEST(KernelTimes, BytesReadSetTheOccupancyOfAProductWithAVector) {
  const KernelTimes k = measured();  // blocks of 128 x 64, 10 at a time
  const auto share = [&](int64_t m, int64_t n, int64_t kk) {
    return k.gemm_occupancy(m, n, kk, DType::f64, Trans::no, Trans::no);
  };
  EXPECT_DOUBLE_EQ(share(4096, 1, 8192), 1);
  EXPECT_DOUBLE_EQ(share(1, 1, 1 << 20), 1);
  EXPECT_DOUBLE_EQ(share(128, 1, 65), 0.2);
  EXPECT_DOUBLE_EQ(share(1, 128, 64), 0.1);
}

TEST(KernelTimes, EmptyResultsCostNothingAndEmptyKOnlyScales) {
  const KernelTimes k = measured();
  EXPECT_EQ(gemm(k, 0, 100, 100), 0);
  EXPECT_EQ(gemm(k, 100, 0, 100), 0);
  EXPECT_EQ(k.axpby_time(0, 5, DType::f64, 1, 1), Seconds{0});
  EXPECT_DOUBLE_EQ(gemm(k, 4096, 4096, 0),
                   2 * 8.0 * 4096 * 4096 / 800e9);  // C read and written once
}

TEST(KernelTimes, AxpbyMovesItsInputsAndItsOutput) {
  EXPECT_DOUBLE_EQ(measured().axpby_time(4096, 2048, DType::f32, 2, 1).value,
                   3 * 4.0 * 4096 * 2048 / 800e9);
  KernelTimes no_memory = measured();
  no_memory.memory_bandwidth.reset();
  EXPECT_EQ(no_memory.axpby_time(4096, 4096, DType::f64, 2, 1), Seconds{5e-6});
}

TEST(KernelTimes, ThePairOfTransposesHasItsOwnCurveElseTheCommonOne) {
  KernelTimes k = measured();
  k.gemm.push_back({DType::f64, "TN", {{2048, square_rate(2048, 4e-3)}}});
  EXPECT_DOUBLE_EQ(k.gemm_time(2048, 2048, 2048, DType::f64, Trans::yes, Trans::no).value,
                   4e-3);
  EXPECT_DOUBLE_EQ(k.gemm_time(2048, 2048, 2048, DType::f64, Trans::no, Trans::yes).value,
                   2.6e-3);
}

TEST(KernelTimes, TheErrorNamesAMissingCurve) {
  expect_input_error([] { gemm(measured(), 64, 64, 64, DType::bf16); },
                     {"kernels: 'gpu'", "bf16 NN", "gemm"});
}

TEST(KernelTimes, OccupancyIsTheShareOfBlocksThatRunSimultaneously) {
  const KernelTimes k = measured();  // blocks of 128 x 64, 10 at a time
  EXPECT_DOUBLE_EQ(k.occupancy(128, 64), 0.1);
  EXPECT_DOUBLE_EQ(k.occupancy(129, 64), 0.2);
  EXPECT_DOUBLE_EQ(k.occupancy(256, 256), 0.8);
  EXPECT_DOUBLE_EQ(k.occupancy(4096, 4096), 1.0);
  EXPECT_DOUBLE_EQ(k.occupancy(1, 1), 0.1);
}

TEST(KernelTimes, AKernelFillsAtLeastTheShareOfThePeakThatItRunsAt) {
  // One rate at all sizes: 128 x 64 x 8192 is one block of 10, but runs at the peak. With
  // a k of 16 the launch is the limit, and 2 x 128 x 64 x 16 flop are 1.31 us of the 5
  // us. 800 GB/s would move its 87 kB in 0.11 us.
  KernelTimes k = measured();
  k.k_overhead = 0;
  k.gemm[0].points = {{1, FlopRate{0.2e12}}};
  const auto share = [&](int64_t kk) {
    return k.gemm_occupancy(128, 64, kk, DType::f64, Trans::no, Trans::no);
  };
  EXPECT_DOUBLE_EQ(share(8192), 1);
  EXPECT_DOUBLE_EQ(share(16), 2.0 * 128 * 64 * 16 / 0.2e12 / 5e-6);
  EXPECT_DOUBLE_EQ(share(1), 0.1);
}

TEST(KernelTimes, AnAxpbyFillsAtLeastTheShareOfTheBandwidthThatItUses) {
  const KernelTimes k =
      measured();  // 128 x 1024: 16 blocks, 10 at a time; 64 x 1: one of 10
  EXPECT_DOUBLE_EQ(k.axpby_occupancy(128, 1024, DType::f64, 2, 1), 1);
  EXPECT_DOUBLE_EQ(k.axpby_occupancy(64, 1, DType::f64, 2, 1), 0.1);
  // 128 x 448 in 7 blocks moves 1.376 MB, 1.72 us of the 5 us; 4096 columns of 8 rows use
  // the whole bandwidth, in 64 blocks.
  EXPECT_DOUBLE_EQ(k.axpby_occupancy(128, 448, DType::f64, 2, 1), 0.7);
  KernelTimes large_blocks = k;
  large_blocks.block_n = 4096;
  EXPECT_DOUBLE_EQ(large_blocks.axpby_occupancy(128, 448, DType::f64, 2, 1),
                   3 * 8.0 * 128 * 448 / 800e9 / 5e-6);
  EXPECT_DOUBLE_EQ(large_blocks.axpby_occupancy(128, 4096, DType::f64, 2, 1), 1);
}

TEST(KernelTimes, UnboundedBlocksRunOnePerMultiprocessor) {
  KernelTimes workers = measured();
  workers.block_m = workers.block_n = 1 << 30;
  EXPECT_DOUBLE_EQ(
      workers.gemm_occupancy(8192, 8192, 8192, DType::f64, Trans::no, Trans::no), 0.1);
  EXPECT_DOUBLE_EQ(workers.axpby_occupancy(8192, 8192, DType::f64, 2, 1), 0.1);
}

/// Tables from smooth to hostile: only launch time at small sizes, decreasing rates, a
/// single point.
std::array<KernelTimes, 4> tables() {
  std::array<KernelTimes, 4> all{measured(), measured(), measured(), measured()};
  all[1].gemm[0].points = {{64, square_rate(64, 9e-6)},
                           {128, square_rate(128, 9e-6)},
                           {1024, square_rate(1024, 10e-6)},
                           {1100, square_rate(1100, 300e-6)},
                           {4096, square_rate(4096, 310e-6)}};
  all[1].k_overhead = 0;
  all[2].gemm[0].points = {
      {256, FlopRate{9e12}}, {1024, FlopRate{2e12}}, {1200, FlopRate{3e12}}};
  all[2].memory_bandwidth.reset();
  all[3].gemm[0].points = {{4096, FlopRate{10e12}}};
  all[3].k_overhead = 5000;
  return all;
}

TEST(KernelTimes, ALargerGemmNeverTakesLessTime) {
  std::mt19937_64 random{7};
  const auto tables_under_test = tables();
  std::uniform_real_distribution<double> exponent{0, 14};
  const auto size = [&] { return int64_t(std::exp2(exponent(random))); };
  for (int i = 0; i < 20000; ++i) {
    const KernelTimes& k = tables_under_test[size_t(i) % tables_under_test.size()];
    std::array<int64_t, 3> s{size(), size(), size()};
    if (i % 3 == 0) s[1] = s[2] = s[0];  // start from a square
    if (i % 7 == 0) s[2] = 0;
    const double before = gemm(k, s[0], s[1], s[2]);
    s[random() % 3] += 1 + int64_t(random() % (i % 2 == 0 ? 3 : 3000));
    const double after = gemm(k, s[0], s[1], s[2]);
    ASSERT_GE(after, before * (1 - 1e-12))
        << s[0] << " x " << s[1] << " x " << s[2] << " table " << i % 4;
  }
}

TEST(KernelTimes, KernelsSideBySideAreNoFasterThanTheDevice) {
  std::mt19937_64 random{11};
  const auto tables_under_test = tables();
  std::uniform_real_distribution<double> exponent{0, 14};
  const auto size = [&] { return int64_t(std::exp2(exponent(random))); };
  for (int i = 0; i < 20000; ++i) {
    const KernelTimes& k = tables_under_test[size_t(i) % tables_under_test.size()];
    double peak = 0;
    for (const auto& point : k.gemm[0].points) peak = std::max(peak, point.rate.value);
    const int64_t m = size(), n = size(), kk = size();
    const double share = k.gemm_occupancy(m, n, kk, DType::f64, Trans::no, Trans::no),
                 time = gemm(k, m, n, kk);
    const double dm = double(m), dn = double(n), dk = double(kk);
    ASSERT_LE(2 * dm * dn * dk / time, share * peak * (1 + 1e-12))
        << m << " x " << n << " x " << kk;
    if (!k.memory_bandwidth) continue;
    ASSERT_LE(8 * (dm * dk + dk * dn + 2 * dm * dn) / time,
              share * k.memory_bandwidth->value * (1 + 1e-12));
    ASSERT_LE(3 * 8 * dm * dn / k.axpby_time(m, n, DType::f64, 2, 1).value,
              k.axpby_occupancy(m, n, DType::f64, 2, 1) * k.memory_bandwidth->value *
                  (1 + 1e-12));
  }
}

// Sizes of the hostile table that are multiples of both block sides.
TEST(KernelTimes, MeasuredSquaresKeepTheirTimeIfRatesGrowFasterThanTheWork) {
  const KernelTimes k = tables()[1];
  KernelTimes unbounded = k;
  unbounded.memory_bandwidth.reset();
  unbounded.launch = Seconds{0};
  EXPECT_DOUBLE_EQ(gemm(unbounded, 128, 128, 128), 9e-6);
  EXPECT_DOUBLE_EQ(gemm(unbounded, 1024, 1024, 1024), 10e-6);
  EXPECT_DOUBLE_EQ(gemm(unbounded, 4096, 4096, 4096), 310e-6);
}

}  // namespace
}  // namespace tilerail
