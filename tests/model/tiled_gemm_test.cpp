// Times of tiled GEMMs, calculated by hand: 10 multiprocessors of 1 TFLOP/s, blocks of
// 100 x 100 at half the peak. One unit of k of a wave of blocks takes 2 100 100 10 / (0.5
// 10 TFLOP/s) = 40 ns; filling the k loop takes 50 of them.
#include <gtest/gtest.h>

#include <cmath>

#include "model/kernels/kernel_times.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {
namespace {

constexpr double us = 1e-6, step = 40e-9;
constexpr double multiprocessors = 10, element = 8;
constexpr Rate fast_memory{1e12};

TiledGemm squares() {
  TiledGemm tiled;
  tiled.launch = Seconds{1 * us}, tiled.peak = FlopRate{10e12}, tiled.fill = 50,
  tiled.reduction = Seconds{2 * us};
  tiled.blocks = {{100, 100, 0.5}};
  return tiled;
}

TiledGemm::Cost cost(const TiledGemm& tiled, double m, double n, double k,
                     Rate memory = fast_memory) {
  return tiled.cost({m, n, k}, {multiprocessors, element, memory});
}

TEST(TiledGemm, AWaveOfBlocksTakesTheLaunchTheFillAndK) {
  const auto wave = cost(squares(), 1000, 100, 100);
  EXPECT_DOUBLE_EQ(wave.time.value, 1 * us + (100 + 50) * step);
  // all except the launch
  EXPECT_DOUBLE_EQ(wave.occupancy, 150 * step / wave.time.value);
}

TEST(TiledGemm, OneBlockMoreIsAnotherWave) {
  EXPECT_DOUBLE_EQ(cost(squares(), 1001, 100, 100).time.value,
                   1 * us + 2 * (100 + 50) * step);
}

TEST(TiledGemm, ARaggedBlockCostsAWholeOne) {
  const auto one = cost(squares(), 1, 1, 100);
  EXPECT_DOUBLE_EQ(one.time.value, 1 * us + (100 + 50) * step);
  EXPECT_DOUBLE_EQ(one.occupancy, 0.1 * 150 * step / one.time.value);
}

// 50 x 1000 is 20 blocks of 100 x 50, two waves, but 10 of 50 x 100.
TEST(TiledGemm, BlocksLieEitherWay) {
  TiledGemm tiled = squares();
  tiled.blocks = {{100, 50, 0.5}};
  const double wave = 1 * us + (100 + 50) * step / 2;
  EXPECT_DOUBLE_EQ(cost(tiled, 50, 1000, 100).time.value, wave);
  EXPECT_DOUBLE_EQ(cost(tiled, 1000, 50, 100).time.value, wave);
}

// A step of blocks of 50 x 50 at a fifth of the peak takes 2 50 50 10 / (0.2 10 TFLOP/s)
// = 25 ns. 1000 x 100 would be four waves of them, 500 x 50 is one.
TEST(TiledGemm, TheBestBlockIsTaken) {
  TiledGemm tiled = squares();
  tiled.blocks.push_back({50, 50, 0.2});
  EXPECT_DOUBLE_EQ(cost(tiled, 1000, 100, 100).time.value, 1 * us + 150 * step);
  EXPECT_DOUBLE_EQ(cost(tiled, 500, 50, 100).time.value, 1 * us + 150 * 25e-9);
}

// One block of k = 1280. In 8 parts: 160 units of k each; the reduction takes 2 us and 2
// 100 100 8 elements of memory traffic. 16 parts would be two waves, 2 (80 + 50) steps.
TEST(TiledGemm, AFewBlocksOfALongKAreSplit) {
  const auto split = cost(squares(), 100, 100, 1280);
  EXPECT_DOUBLE_EQ(split.time.value, 1 * us + (160 + 50) * step + 2 * us +
                                         2 * 100 * 100 * 8 * element / 1e12);
  EXPECT_DOUBLE_EQ(split.occupancy, 0.8 * (160 + 50) * step / split.time.value);
}

TEST(TiledGemm, AShortKIsNotSplit) {
  EXPECT_DOUBLE_EQ(cost(squares(), 100, 100, 127).time.value, 1 * us + (127 + 50) * step);
}

// 11 blocks are 1.1 waves of work in the time of two.
TEST(TiledGemm, APartialWaveLeavesPartOfTheDevice) {
  const auto waves = cost(squares(), 1001, 100, 100);
  EXPECT_DOUBLE_EQ(waves.occupancy, 1.1 * 150 * step / waves.time.value);
}

TEST(TiledGemm, MemoryMustDeliverAAndBOnceAndCTwice) {
  const double bytes = element * (1000 * 10 + 10 * 1000 + 2 * 1000 * 1000);
  EXPECT_DOUBLE_EQ(cost(squares(), 1000, 1000, 10, Rate{1e9}).time.value,
                   1 * us + bytes / 1e9);
}

// The rule keeps a weight of 0.1: measured / rule is raised to 1 / 1.1.
TEST(TiledGemm, AMeasuredShapeCorrectsTheRuleWithinAnOctave) {
  TiledGemm tiled = squares();
  const auto rule =
      tiled.uncorrected({1000, 1000, 1000}, {multiprocessors, element, fast_memory});
  tiled.shapes = {{1000, 1000, 1000, rule.time * 1.3}};
  const auto corrected = cost(tiled, 1000, 1000, 1000);
  EXPECT_DOUBLE_EQ(corrected.time.value, rule.time.value * std::pow(1.3, 1 / 1.1));
  EXPECT_EQ(corrected.occupancy, rule.occupancy);
  EXPECT_EQ(cost(tiled, 1000, 1000, 2000).time, cost(squares(), 1000, 1000, 2000).time);
  const double between =
      cost(tiled, 1000, 1000, 1100).time / cost(squares(), 1000, 1000, 1100).time;
  EXPECT_GT(between, 1);
  EXPECT_LT(between, 1.3);
}

// Half a wave, measured at half of the rule's time, is as fast as a whole one, 5 TFLOP/s.
// A slightly larger part of a wave with the same correction would be faster.
TEST(TiledGemm, NoCorrectionMakesAKernelFasterThanTheDevice) {
  TiledGemm tiled = squares();
  tiled.launch = Seconds{0}, tiled.fill = 0;
  tiled.shapes.assign(3, {500, 100, 100, cost(tiled, 500, 100, 100).time / 2});
  EXPECT_DOUBLE_EQ(tiled.fastest().value, 5e12);
  EXPECT_DOUBLE_EQ(cost(tiled, 550, 100, 100).time.value, 2 * 550e4 / 5e12);
  tiled.shapes.push_back({4000, 4000, 4000, Seconds{16e-3}});  // itself faster: 8 TFLOP/s
  EXPECT_DOUBLE_EQ(tiled.fastest().value, 8e12);
  EXPECT_LT(cost(tiled, 550, 100, 100).time.value, 0.97 * 2 * 550e4 / 5e12);
}

// By the rule, launches take long; a measured shape moves its 16.16 MB at the memory
// bandwidth, 1 GB/s.
TEST(TiledGemm, NoCorrectionMakesAKernelFasterThanItsMemory) {
  constexpr Rate slow{1e9};
  const auto bytes = [](double m) {
    return element * (m * 10 + 10 * 1000 + 2 * m * 1000);
  };
  TiledGemm tiled = squares();
  tiled.launch = Seconds{0.16};
  tiled.shapes.assign(30, {1000, 1000, 10, Seconds{bytes(1000) / slow.value}});
  EXPECT_EQ(tiled.fastest_memory(element, slow), slow);
  EXPECT_DOUBLE_EQ(cost(tiled, 1100, 1000, 10, slow).time.value,
                   bytes(1100) / slow.value);
}

KernelTimes tiled_kernels() {
  KernelTimes k;
  k.name = "k", k.launch = Seconds{3 * us}, k.multiprocessors = multiprocessors,
  k.memory_bandwidth = fast_memory;
  GemmCurve curve;
  curve.tiled = squares();
  curve.sustained = {{0.5, 1.1}, {0.75, 1.2}, {1.0, 1.6}};
  k.gemm = {curve};
  return k;
}

TEST(TiledGemm, KernelTimesUseTheTiledRule) {
  const KernelTimes k = tiled_kernels();
  const auto f64 = DType::f64;
  EXPECT_DOUBLE_EQ(k.gemm_time(1000, 100, 100, f64, Trans::no, Trans::yes).value,
                   1 * us + 150 * step);
  EXPECT_DOUBLE_EQ(k.gemm_occupancy(1000, 100, 100, f64, Trans::no, Trans::no), 6.0 / 7);
  EXPECT_EQ(k.gemm_time(0, 100, 100, f64, Trans::no, Trans::no), Seconds{0});
  EXPECT_EQ(k.gemm_time(1000, 1000, 0, f64, Trans::no, Trans::no),
            k.axpby_time(1000, 1000, f64, 1, 1));
}

TEST(LoadFactor, IsLinearBetweenPointsAndConstantBeyondThem) {
  const KernelTimes k = tiled_kernels();
  const auto factor = [&](double duty) {
    return k.curve(DType::f64, Trans::no, Trans::no).load_factor(duty);
  };
  EXPECT_EQ(factor(0), 1.1);
  EXPECT_EQ(factor(0.5), 1.1);
  EXPECT_DOUBLE_EQ(factor(0.625), 1.15);
  EXPECT_DOUBLE_EQ(factor(0.75), 1.2);
  EXPECT_DOUBLE_EQ(factor(0.875), 1.4);
  EXPECT_EQ(factor(1), 1.6);
}

// Calls of 10 ms: the slowdown starts after 25 ms, in the middle of the third call.
TEST(LoadFactor, AppliesToThePartOfACallAfterTheDelay) {
  KernelTimes k = tiled_kernels();
  GemmCurve& curve = k.gemm[0];
  const auto factor = [&](double calls_before) {
    return curve.load_factor(1, Seconds{0.01}, calls_before);
  };
  EXPECT_EQ(factor(0), 1.6) << "at once";
  curve.sustained_after = Seconds{0.025};
  EXPECT_DOUBLE_EQ(factor(0), 1);
  EXPECT_DOUBLE_EQ(factor(1), 1);
  EXPECT_DOUBLE_EQ(factor(2), 1 / (0.5 + 0.5 / 1.6));
  EXPECT_DOUBLE_EQ(factor(3), 1.6);
}

// Calls of 10 ms: half of the slowdown of 0.6 applies from 25 ms on, all of it from 45 ms
// on.
TEST(LoadFactor, AppliesInPartAtFirst) {
  KernelTimes k = tiled_kernels();
  GemmCurve& curve = k.gemm[0];
  curve.sustained_after = Seconds{0.025}, curve.sustained_at_first = 0.5,
  curve.sustained_fully_after = Seconds{0.045};
  const auto factor = [&](double calls_before) {
    return curve.load_factor(1, Seconds{0.01}, calls_before);
  };
  EXPECT_DOUBLE_EQ(factor(2), 1 / (0.5 + 0.5 / 1.3));
  EXPECT_DOUBLE_EQ(factor(3), 1.3);
  EXPECT_DOUBLE_EQ(factor(4), 1 / (0.5 / 1.3 + 0.5 / 1.6));
  EXPECT_DOUBLE_EQ(factor(5), 1.6);
  curve.sustained_fully_after = Seconds{0.01};  // before the start of the slowdown
  EXPECT_DOUBLE_EQ(factor(3), 1.6);
}

TEST(TiledGemm, ConcurrentKernelsTakeTheMeasuredShare) {
  KernelTimes k = tiled_kernels();
  const auto share = [&](int64_t m, int64_t n) {
    return k.gemm_occupancy(m, n, 100, DType::f64, Trans::no, Trans::no);
  };
  k.gemm[0].tiled->fills = {{200, 0.5}, {800, 0.9}};
  EXPECT_DOUBLE_EQ(share(100, 100), 0.5);
  EXPECT_DOUBLE_EQ(share(400, 400), 0.7) << "halfway in octaves";
  EXPECT_DOUBLE_EQ(share(200, 800), 0.7) << "by the area";
  EXPECT_DOUBLE_EQ(share(1600, 1600), 0.9);
}

TEST(TiledGemm, KernelsInAGraphAreShorterAndTakeAnotherShare) {
  KernelTimes k = tiled_kernels();
  const auto in_graph = [&](int64_t m, int64_t n) {
    return k.gemm_in_graph(m, n, 100, DType::f64, Trans::no, Trans::no);
  };
  const auto alone = [&](int64_t m, int64_t n) {
    return k.gemm_time(m, n, 100, DType::f64, Trans::no, Trans::no);
  };
  EXPECT_EQ(in_graph(1000, 100).time, alone(1000, 100)) << "where nothing is told";
  k.gemm[0].tiled->in_graph = {{100, Seconds{0.4 * us}, 0.7},
                               {1000, Seconds{0.2 * us}, 0.9}};
  EXPECT_DOUBLE_EQ(in_graph(1000, 100).time.value, alone(1000, 100).value - 0.3 * us);
  EXPECT_DOUBLE_EQ(in_graph(1000, 100).occupancy, 0.8);
  EXPECT_DOUBLE_EQ(in_graph(10, 10).time.value, alone(10, 10).value - 0.4 * us);
  k.gemm[0].tiled->in_graph = {{100, Seconds{40 * us}, 0.7}};
  EXPECT_DOUBLE_EQ(in_graph(10, 10).time.value, alone(10, 10).value / 2)
      << "no kernel is mostly a gap";
  EXPECT_EQ(in_graph(1000, 1).time, alone(1000, 1)) << "no product of this rule";
}

TEST(TiledGemm, TheNearestMeasuredShapesSetTheIssueCost) {
  KernelTimes k = tiled_kernels();
  const auto issue = [&](int64_t m, int64_t n, int64_t inner) {
    return k.gemm_issue(m, n, inner, DType::f64, Trans::no, Trans::no);
  };
  TiledGemm& tiled = *k.gemm[0].tiled;
  tiled.shapes = {{1000, 1000, 1000, Seconds{1e-3}}};
  EXPECT_FALSE(issue(1000, 1000, 1000)) << "not measured";
  tiled.shapes.push_back({1000, 1000, 4000, Seconds{4e-3}, Seconds{12 * us}});
  tiled.shapes.push_back({1000, 1000, 16000, Seconds{16e-3}, Seconds{6 * us}});
  EXPECT_NEAR(issue(1000, 1000, 4000)->value, 12 * us, 0.01 * us);
  EXPECT_NEAR(issue(1000, 1000, 16000)->value, 6 * us, 0.01 * us);
  EXPECT_NEAR(issue(1000, 1000, 8000)->value, 9 * us, 1e-12) << "as far from both";
  EXPECT_FALSE(issue(1000, 1, 1000)) << "no product of this rule";
}

TEST(AlignmentFactor, BelongsToTheLeastStepThatHoldsTheColumns) {
  KernelTimes k = tiled_kernels();
  k.gemm[0].alignment = {{2, 3.5}, {8, 1.3}};
  const auto factor = [&](double bytes) {
    return k.alignment_factor(DType::f64, Trans::no, Trans::no, bytes);
  };
  EXPECT_EQ(factor(2), 3.5);
  EXPECT_EQ(factor(4), 1.3);
  EXPECT_EQ(factor(8), 1.3);
  EXPECT_EQ(factor(16), 1);
}

TEST(LoadFactor, WithoutPointsIsOne) {
  KernelTimes k = tiled_kernels();
  k.gemm[0].sustained.clear();
  EXPECT_EQ(k.curve(DType::f64, Trans::no, Trans::no).load_factor(1), 1);
}

}  // namespace
}  // namespace tilerail
