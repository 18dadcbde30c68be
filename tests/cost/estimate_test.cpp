// The quick estimate, on hand-made plans.
#include "cost/estimate.hpp"

#include <gtest/gtest.h>

#include "cost/copy_times.hpp"
#include "model/base/error.hpp"
#include "tests/cost/cost_draft.hpp"
#include "tests/support/plan_draft.hpp"

namespace tilerail {
namespace {

using namespace cost_test;

TEST(Estimate, ACopyTakesItsTimeAlone) {
  Draft d;
  d.copy(d.matrix(host, 125'000'000, 1), d.matrix(gpu, 125'000'000, 1));  // 1 GB
  EXPECT_NEAR(d.estimate(), 0.1, 1e-9);
}

TEST(Estimate, BothDirectionsRunTogetherUntilTheLesserIsDone) {
  // 1.6 GB in and 0.8 GB out simultaneously: 4 + 8 GB/s for 0.1 s, until all 0.8 GB are
  // out; then 1.2 GB in at 10 GB/s.
  Draft d;
  d.copy(d.matrix(host, 200'000'000, 1), d.matrix(gpu, 200'000'000, 1));
  d.copy(d.matrix(gpu, 100'000'000, 1), d.matrix(host, 100'000'000, 1));
  EXPECT_NEAR(d.estimate(), 0.1 + 0.12, 1e-9);
  EXPECT_NEAR(d.busiest(), 0.1 + 0.12, 1e-9);
}

TEST(Estimate, NarrowColumnsDoNotSlowOtherCopies) {
  // To each GPU they move at a quarter of 10 GB/s, and both together stay below the
  // shared bandwidth.
  Draft d;
  const View tall = d.matrix(host, 4096, 100'000, 4096);
  for (const MemoryId to : {gpu, MemoryId{2}})
    d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(to, 128, 100'000));
  EXPECT_NEAR(d.estimate(), 128 * 8 * 1e5 / 2.5e9, 1e-9);
}

TEST(Estimate, OneColumnOfATallMatrixIsContiguous) {
  Draft d;
  constexpr int64_t rows = 125'000'000;  // 1 GB
  const View tall = d.matrix(host, 2 * rows, 1);
  d.copy({tall.buffer, 0, 0, rows, 1}, d.matrix(gpu, rows, 1));
  EXPECT_NEAR(d.estimate(), 0.1, 1e-9);
}

TEST(CopyColumns, AreTakenFromTheHostOrTheSideWithTheLargerPitch) {
  Draft d;
  const Topology topology = machine();
  const View on_host = d.matrix(host, 128, 512, 4096),
             packed_host = d.matrix(host, 128, 512);
  const View on_gpu = d.matrix(gpu, 128, 512, 5120),
             on_other = d.matrix(MemoryId{2}, 128, 512);
  const auto columns = [&](const View& from, const View& to) {
    const OpId there = d.copy(from, to), back = d.copy(to, from);
    const CopyColumns found = copy_columns(d.plan, d.plan.op(there), topology);
    EXPECT_EQ(found, copy_columns(d.plan, d.plan.op(back), topology));
    return found;
  };
  EXPECT_EQ(columns(on_host, on_gpu), (CopyColumns{128 * 8, 4096 * 8}));
  EXPECT_EQ(columns(packed_host, on_gpu), CopyColumns{});
  EXPECT_EQ(columns(on_gpu, on_other), (CopyColumns{128 * 8, 5120 * 8}));
  EXPECT_EQ(columns(on_host, packed_host), (CopyColumns{128 * 8, 4096 * 8}));
}

TEST(Estimate, AGpuThatIsAlwaysBusyIsSlower) {
  // Two products of 1024^3, 2.147 ms each at 1 TFLOP/s, without pauses: 1.5 times as
  // long.
  Draft d;
  const View a = d.matrix(gpu, 1024, 1024), b = d.matrix(gpu, 1024, 1024);
  for (int i = 0; i < 2; ++i) d.gemm(a, b, d.matrix(gpu, 1024, 1024));
  EXPECT_NEAR(d.estimate(), 1.5 * 2 * 2.0 * (1 << 30) / 1e12, 1e-9);
}

TEST(Estimate, AGpuThatIsBusyForHalfTheTimeIsNot) {
  Draft d;
  const View a = d.matrix(gpu, 1024, 1024), b = d.matrix(gpu, 1024, 1024);
  const double kernel = 2.0 * (1 << 30) / 1e12;
  const auto rows = int64_t(kernel * 10e9 / 8);  // a preceding copy of the same time
  const OpId in = d.copy(d.matrix(host, rows, 1), d.matrix(gpu, rows, 1));
  d.gemm(a, b, d.matrix(gpu, 1024, 1024), {in});
  EXPECT_NEAR(d.estimate(), 2 * kernel, 1e-6);
  EXPECT_NEAR(d.busiest(), kernel, 1e-6);  // they run in sequence
}

TEST(Estimate, TheBusiestResourceServesAllDevicesOrIsTheMeanOverSome) {
  const Topology topology = testing::shipped("two-gpu");
  Plan plan;
  plan.memories = {"host", "gpu0", "gpu1"};
  plan.peak_bytes = {0, 0, 0};
  plan.devices = topology.gpus();
  plan.tensors = tensors_of(plan.problem);
  PlanBuilder builder{plan};
  constexpr int64_t rows = 125'000'000;  // 1 GB
  const auto copy_to = [&](MemoryId device) {
    const auto vector = [&](MemoryId memory) {
      return View{
          builder.add_buffer({.memory = memory, .rows = rows, .cols = 1, .ld = rows}), 0,
          0, rows, 1};
    };
    Deps none;
    builder.add({.queue = builder.copy_queue(host, device)},
                {vector(host), vector(device)}, none);
    return estimate_plan(plan, topology, Resources{topology});
  };
  const Estimate one = copy_to(topology.gpus()[0]);
  EXPECT_NEAR(one.makespan.value, 0.1, 1e-4);  // 10 GB/s
  EXPECT_NEAR(one.busiest.value, 0.05, 1e-4);  // half of it counts for the other GPU
  const Estimate both = copy_to(topology.gpus()[1]);
  EXPECT_NEAR(both.makespan.value, 2.0 / 12, 1e-4);
  EXPECT_NEAR(both.busiest.value, 2.0 / 12, 1e-4);  // of the link shared by both
}

}  // namespace
}  // namespace tilerail
