// Upper limits of kernels: the rates of the three kinds, and the limits under load.
#include "model/kernels/kernel_limits.hpp"

#include <gtest/gtest.h>

namespace tilerail {
namespace {

constexpr Seconds long_time{100};

/// 1 TFLOP/s in f64, 2 TB/s, launches of 5 us.
KernelTimes kernels() {
  KernelTimes k;
  k.launch = Seconds{5e-6};
  k.memory_bandwidth = Rate{2e12};
  GemmCurve& curve = k.gemm.emplace_back();
  curve.points = {{512, FlopRate{0.5e12}}, {1024, FlopRate{1e12}}};
  return k;
}

GemmProblem gemm(int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k;
  return p;
}

TEST(KernelLimits, EachKindHasSeparateLimits) {
  const KernelTimes k = kernels();
  const KernelLimits product = kernel_limits(k, gemm(64, 64, 64)),
                     vector = kernel_limits(k, gemm(64, 1, 64));
  EXPECT_DOUBLE_EQ(product.rate.value().value, 1e12);
  EXPECT_DOUBLE_EQ(vector.rate.value().value, 2e12 * 2 / 8);
  for (const KernelLimits& limits : {product, vector, kernel_limits(k, axpy_problem(9)),
                                     kernel_limits(k, gemm(9, 9, 0))})
    EXPECT_EQ(limits.memory, Rate{2e12});
  EXPECT_EQ(product.shortest, Seconds{5e-6});
  EXPECT_FALSE(kernel_limits(k, axpy_problem(9)).rate);
  EXPECT_FALSE(kernel_limits(k, gemm(9, 9, 0)).rate);
}

TEST(KernelLimits, AWorkerOfAHostIsOneOfMany) {
  KernelTimes k = kernels();
  k.multiprocessors = 4, k.block_m = k.block_n = 1e9;
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).rate.value().value, 4e12);
  EXPECT_DOUBLE_EQ(kernel_limits(k, axpy_problem(9)).memory.value().value, 8e12);
}

TEST(KernelLimits, MeasuredShapesCanBeFasterThanTheRule) {
  KernelTimes k = kernels();
  GemmCurve& curve = k.gemm[0];
  curve.points.clear();
  TiledGemm& rule = curve.tiled.emplace();
  rule.launch = Seconds{4e-6}, rule.peak = FlopRate{1e12}, rule.blocks = {{64, 64, 1}};
  const double by_rule = k.gemm_time(64, 64, 64, DType::f64, Trans::no, Trans::no).value;
  rule.shapes = {{64, 64, 64, Seconds{by_rule / 2}}};
  EXPECT_NEAR(kernel_limits(k, gemm(64, 64, 64)).shortest.value, 2e-6, 1e-12);
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).rate.value().value,
                   1e12);  // slower than large kernels
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).memory.value().value, 2e12);
  rule.shapes.push_back({1000, 1000, 1000, Seconds{1e-3}});
  rule.shapes.push_back({1000, 1000, 100, Seconds{4.4e-6}});  // 2.2 million elements
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).memory.value().value, 4e12);
  EXPECT_DOUBLE_EQ(kernel_limits(k, axpy_problem(9)).memory.value().value,
                   2e12);  // GEMMs only
  rule.shapes.pop_back();
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).rate.value().value, 2e12);
}

// F = 1 up to a duty of 0.5, 2 at 1: d / F(d) is 0.5 at both ends and at most 0.5 between
// them.
TEST(KernelLimits, LoadAndPausesTogetherLeaveTheBestDuty) {
  KernelTimes k = kernels();
  k.gemm[0].sustained = {{0.5, 1}, {1, 2}};
  KernelLimits limits = kernel_limits(k, gemm(64, 64, 64));
  EXPECT_DOUBLE_EQ(limits.work(1, long_time), 1.01 * 0.5);
  EXPECT_DOUBLE_EQ(limits.work(0.8, long_time), 1.01 * 0.5);
  EXPECT_DOUBLE_EQ(limits.work(0.4, long_time), 0.4);
  k.gemm[0].sustained = {{0.5, 3}, {0.9, 1.5}};  // faster at a higher duty: being busy
                                                 // counts, even without work
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).work(0.6, long_time),
                   1.01 * 0.6 / 1.5);
  k.memory_bandwidth = Rate{3.2e12};  // 0.8 TFLOP/s for vectors
  EXPECT_DOUBLE_EQ(kernel_limits(k, gemm(64, 64, 64)).work(0.6, long_time), 0.6 * 0.8);
}

// Half a second at 0.8, then 0.505 of the time.
TEST(KernelLimits, LoadAppliesAfterADelay) {
  KernelTimes k = kernels();
  k.gemm[0].sustained = {{0.5, 1}, {1, 2}}, k.gemm[0].sustained_after = Seconds{0.5};
  const KernelLimits limits = kernel_limits(k, gemm(64, 64, 64));
  EXPECT_DOUBLE_EQ(limits.work(0.8, Seconds{0.4}), 0.8);
  EXPECT_DOUBLE_EQ(limits.work(0.8, Seconds{2}), (0.5 * 0.8 + 1.5 * 1.01 * 0.5) / 2);
}

// Half a second at 0.8, half a second at F = 1.5 (1.01 / 1.5 of the time), and the rest
// at 1.01 / 2.
TEST(KernelLimits, LoadAppliesInPartAtFirst) {
  KernelTimes k = kernels();
  GemmCurve& curve = k.gemm[0];
  curve.sustained = {{0, 2}}, curve.sustained_after = Seconds{0.5};
  curve.sustained_at_first = 0.5, curve.sustained_fully_after = Seconds{1};
  const KernelLimits limits = kernel_limits(k, gemm(64, 64, 64));
  EXPECT_DOUBLE_EQ(limits.work(0.8, Seconds{1.5}),
                   (0.8 + 1.01 * 0.8 / 1.5 + 1.01 * 0.8 / 2) / 3);
}

}  // namespace
}  // namespace tilerail
