// Exact times of kernels on two-gpu: m x n x k in double precision takes 2 m n k / (1
// TFLOP/s) alone and fills a GPU; axpby moves its operands at 1 TB/s. For kernels that
// leave room, the curve of `with_room` has a quarter of that rate at 256: 256 x 256
// results, 4 of the 16 simultaneous blocks, fill a quarter of a GPU; 512 x 512 and larger
// results fill it.

#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

constexpr double large = 2.0 * 1024 * 1024 * 1024 / 1e12;  // s, a 1024^3 GEMM alone
constexpr double small = 2.0 * 256 * 256 * 2048 /
                         0.25e12;  // s, a 256 x 256 x 2048 GEMM alone: half of `large`

Topology with_room() {
  return two_gpu([](auto& d) {
    d.kernels[0].gemm[0].points = {{256, FlopRate{0.25e12}}, {512, FlopRate{1e12}}};
  });
}

OpId add_small(HandPlan& p, int queue) { return p.gemm(gpu0, 256, 256, 2048, {}, queue); }

/// `kernels` kernels of n x n x k, each in a separate queue of the first GPU.
Timeline run_side_by_side(const Topology& machine, int kernels, int64_t n, int64_t k) {
  HandPlan p{machine};
  for (int i = 0; i < kernels; ++i) p.gemm(gpu0, n, n, k, {}, i);
  return SimExecutor{machine}.execute(p.plan);
}

TEST(SimKernels, AKernelAloneTakesItsTime) {
  const Topology machine = with_room();
  HandPlan p{machine};
  const OpId whole = p.gemm(gpu0, 1024, 1024, 1024), quarter = add_small(p, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, whole, 0, large);
  expect_times(t, quarter, large, large + small);
}

TEST(SimKernels, FourQuartersRunSimultaneouslyAndAFifthWaits) {
  const Topology machine = with_room();
  for (int kernels : {4, 5, 8}) {
    const Timeline t = run_side_by_side(machine, kernels, 256, 2048);
    for (int i = 0; i < kernels; ++i)
      expect_times(t, OpId{i}, i / 4 * small, (i / 4 + 1) * small);
  }
}

TEST(SimKernels, KernelsAtThePeakRunOneAfterAnotherEvenWithFewBlocks) {
  const Topology machine = two_gpu();
  constexpr double alone = 2.0 * 256 * 256 * 8192 / 1e12;
  const Timeline t = run_side_by_side(machine, 8, 256, 8192);
  for (int i = 0; i < 8; ++i) expect_times(t, OpId{i}, i * alone, (i + 1) * alone);
}

TEST(SimKernels, LaunchBoundKernelsFillTheirShareOfThePeak) {
  // 128^3 has one block of 16 and 4.19 Mflop, 4.19 us at the peak, in the 10 us of a
  // launch: it fills 0.419. A third kernel starts next to two (0.839 < 1); three share
  // the GPU and take 3 x 4.19 us; two fit together.
  const Topology machine = two_gpu();
  constexpr double work = 2.0 * 128 * 128 * 128 / 1e12;
  const Timeline t = run_side_by_side(machine, 5, 128, 128);
  for (int i = 0; i < 3; ++i) expect_times(t, OpId{i}, 0, 3 * work);
  for (int i = 3; i < 5; ++i) expect_times(t, OpId{i}, 3 * work, 3 * work + 10 * us);
}

TEST(SimKernels, WholeKernelsRunInTheOrderInWhichTheyBecameReady) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  p.gemm(gpu0, 1024, 1024, 1024, {}, 0), p.gemm(gpu0, 1024, 1024, 1024, {}, 1),
      p.gemm(gpu1, 1024, 1024, 1024, {}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, OpId{0}, 0, large);
  expect_times(t, OpId{1}, large, 2 * large);
  expect_times(t, OpId{2}, 0, large);  // another GPU
}

TEST(SimKernels, AWholeKernelGetsTheRestOfAQuarter) {
  const Topology machine = with_room();
  HandPlan p{machine};
  const OpId quarter = add_small(p, 0), whole = p.gemm(gpu0, 1024, 1024, 1024, {}, 1);
  // The quarter kernel keeps its full speed; the whole kernel runs at 3/4 meanwhile and
  // loses small/4.
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, quarter, 0, small);
  expect_times(t, whole, 0, large + small / 4);
}

TEST(SimKernels, AQuarterWaitsForAWholeKernelBeforeIt) {
  const Topology machine = with_room();
  HandPlan p{machine};
  const OpId whole = p.gemm(gpu0, 1024, 1024, 1024, {}, 0), quarter = add_small(p, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, whole, 0, large);
  expect_times(t, quarter, large, large + small);
}

TEST(SimKernels, AxpbyReadsOnlyUsedOperands) {
  const Topology machine = two_gpu();
  constexpr double pass = 2048.0 * 2048 * 8 / 1e12;  // s, one operand at 1 TB/s
  HandPlan p{machine};
  p.axpby(gpu0, 2048, 2048, Scalar::one, Scalar::one);
  p.axpby(gpu0, 2048, 2048, Scalar::one, Scalar::zero);
  p.axpby(gpu0, 2048, 2048, Scalar::zero, Scalar::beta);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, OpId{0}, 0, 3 * pass);         // x, y -> y
  expect_times(t, OpId{1}, 3 * pass, 5 * pass);  // x -> y
  expect_times(t, OpId{2}, 5 * pass, 7 * pass);  // y -> y
}

TEST(SimKernels, EmptyKernelsAndJoinsTakeNoTime) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId copy = p.copy(host, gpu0, 10 * MB),
             work = p.gemm(gpu0, 1024, 1024, 1024, {}, 1);
  const OpId empty = p.gemm(gpu0, 0, 1024, 1024, {copy}),
             join = p.join(gpu0, {copy, work});
  const OpId after = p.gemm(gpu1, 1024, 1024, 1024, {join});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, empty, 1.01 * ms, 1.01 * ms);
  expect_times(t, join, large, large);
  expect_times(t, after, large, 2 * large);
}

TEST(SimKernels, TransposesAndTypesHaveTheirOwnTimes) {
  const Topology machine = two_gpu([](auto& d) {
    GemmCurve transposed = d.kernels[0].gemm[1];  // f32, 2 TFLOP/s
    transposed.trans = "TN";
    transposed.points[0].rate = FlopRate{0.5e12};
    d.kernels[0].gemm.push_back(transposed);
  });
  HandPlan p{machine, DType::f32};
  p.gemm(gpu0, 1024, 1024, 1024), p.gemm(gpu0, 1024, 1024, 1024);
  p.plan.ops[1].trans_a = Trans::yes;
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, OpId{0}, 0, large / 2);
  expect_times(t, OpId{1}, large / 2, large / 2 + 2 * large);
}

}  // namespace
}  // namespace tilerail::testing
