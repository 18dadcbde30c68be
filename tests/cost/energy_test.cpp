// Energy of hand-made plans on two-gpu: 50 W idle, 250 W busy. The curve has 1 TFLOP/s
// from 512 on and a quarter of it at 256, so 1024 x 1024 fills a GPU and 256 x 256 a
// quarter of it.
#include "cost/energy.hpp"

#include <gtest/gtest.h>

#include "tests/support/plan_draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

constexpr MemoryId gpu0{1}, gpu1{2};

/// Kernels and joins with the times at which they ran, each in its own queue.
struct TimedPlan : PlanDraft {
  TimedPlan() : PlanDraft{test::shipped("two-gpu")} {
    plan.gemm().m = plan.gemm().n = plan.gemm().k = 1024;
  }
  void add(OpKind kind, MemoryId gpu, int64_t side, double start, double end) {
    const View all = tile(gpu, side, side);
    PlanDraft::add({.kind = kind, .queue = compute_queue(gpu, int(plan.queues.size()))},
                   Operands(info(kind).operands.size(), all));
    times.push_back({start, end});
  }
  void gemm(MemoryId gpu, int64_t side, double start, double end) {
    add(OpKind::gemm, gpu, side, start, end);
  }

  std::vector<OpTime> times;
};

Topology two_gpu() {
  auto d = test::shipped("two-gpu").description();
  d.kernels[0].gemm[0].points = {{256, FlopRate{0.25e12}}, {512, FlopRate{1e12}}};
  return Topology{std::move(d)};
}

/// Joules of gpu0 and gpu1.
void expect_energies(const TimedPlan& run, const Topology& topology, double first,
                     double second) {
  const auto energies = device_energies(run.plan, topology, run.times);
  ASSERT_TRUE(energies);
  ASSERT_EQ(energies->size(), 2u);
  EXPECT_DOUBLE_EQ((*energies)[0].value, first);
  EXPECT_DOUBLE_EQ((*energies)[1].value, second);
}

// Idle watts count for the whole makespan of 4 s, also on the idle GPU.
TEST(Energy, AddsIdlePowerAndPowerOfKernels) {
  TimedPlan run;
  run.gemm(gpu0, 1024, 0.5, 1.5);
  run.add(OpKind::join, gpu1, 0, 4, 4);
  expect_energies(run, two_gpu(), 50 * 4 + 200 * 1, 50 * 4);
}

TEST(Energy, AKernelThatFillsAQuarterCountsAQuarter) {
  TimedPlan run;
  run.gemm(gpu0, 256, 0, 2);
  run.gemm(gpu0, 256, 1, 4);  // concurrent for a second: half of the GPU
  expect_energies(run, two_gpu(), 50 * 4 + 200 * (0.25 * 1 + 0.5 * 1 + 0.25 * 2), 50 * 4);
}

// Two full kernels from 1 to 2 s draw the watts of one, as do a full kernel and a
// quarter.
TEST(Energy, ConcurrentKernelsCountAtMostAsOneFullGpu) {
  TimedPlan run;
  run.gemm(gpu0, 1024, 0, 2);
  run.gemm(gpu0, 1024, 1, 3);
  run.gemm(gpu1, 1024, 0, 4);
  run.gemm(gpu1, 256, 1, 2);
  expect_energies(run, two_gpu(), 50 * 4 + 200 * 3, 250 * 4);
}

TEST(Energy, ElementwiseKernelsCountAsGemmsDo) {
  TimedPlan run;
  run.add(OpKind::axpby, gpu0, 1024, 0, 1);
  expect_energies(run, two_gpu(), 250, 50);
}

TEST(Energy, WattsOfAGemmReplaceWattsOfABusyDevice) {
  auto d = two_gpu().description();
  for (GemmCurve& curve : d.kernels[0].gemm)
    if (curve.dtype == DType::f64) curve.watts = Watts{150};
  TimedPlan run;
  run.gemm(gpu0, 1024, 0, 1);
  expect_energies(run, Topology{d}, 150, 50);
  run.plan.gemm().dtype = DType::f32;
  expect_energies(run, Topology{d}, 250, 50);
}

TEST(Energy, ADeviceNeverExceedsItsPowerLimit) {
  auto d = two_gpu().description();
  for (GemmCurve& curve : d.kernels[0].gemm)
    curve.watts = Watts{350};  // the limit of the GPUs is 250
  TimedPlan run;
  run.gemm(gpu0, 1024, 0, 1);
  run.gemm(gpu1, 1024, 0, 0.5);
  expect_energies(run, Topology{d}, 250, 50 + 0.5 * 300);
}

TEST(Energy, IsUnknownIfTheDescriptionLacksWattsOfADevice) {
  TimedPlan run;
  run.gemm(gpu0, 1024, 0, 1);
  auto d = two_gpu().description();
  d.memories[2].processor->idle_watts.reset();
  EXPECT_FALSE(device_energies(run.plan, Topology{d}, run.times));
  run.plan.devices = {gpu0};
  EXPECT_TRUE(device_energies(run.plan, Topology{d}, run.times));
}

TEST(Energy, IsUnknownWithoutTimesOfTheGemms) {
  TimedPlan run;
  run.gemm(gpu0, 1024, 0, 1);
  run.plan.gemm().dtype = DType::tf32;
  EXPECT_FALSE(device_energies(run.plan, two_gpu(), run.times));
}

TEST(Energy, OfARunWithoutTimeIsZero) {
  TimedPlan run;
  run.gemm(gpu0, 1024, 0, 0);
  expect_energies(run, two_gpu(), 0, 0);
}

}  // namespace
}  // namespace tilerail
