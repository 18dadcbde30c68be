// Costs of kernels of hand-made plans.
#include "cost/kernel_costs.hpp"

#include <gtest/gtest.h>

#include "model/base/error.hpp"
#include "tests/cost/cost_draft.hpp"
#include "tests/support/plan_draft.hpp"

namespace tilerail {
namespace {

using namespace cost_test;

const KernelCost& cost_of(KernelCosts& costs, const Plan& plan, OpId id, MemoryId gpu) {
  const Op& op = plan.op(id);
  return costs.of(plan, op, plan.operands_of(op), gpu);
}

TEST(KernelCosts, AGpuWithoutTimesIsRefusedEveryTime) {
  const Topology topology = machine();
  PlanDraft draft{topology, DType::tf32};
  const View tile = draft.tile(gpu, 64, 64);
  const OpId product = draft.gemm(draft.compute_queue(gpu), tile, tile, tile, {});
  KernelCosts costs{topology};
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(cost_of(costs, draft.plan, product, gpu), InputError);
}

/// A sum has the bytes of two tiles of halves.
TEST(KernelCosts, RoundingASumTakesItsBytesAndAProductTheTimeOfHalves) {
  const Topology topology = machine();
  PlanDraft draft{topology, DType::f16};
  const View half = draft.tile(gpu, 512, 512), sum = draft.tile(gpu, 512, 512);
  draft.plan.buffers.back().dtype = DType::f32;
  const QueueId queue = draft.compute_queue(gpu);
  KernelCosts costs{topology};
  const auto cost = [&](OpId id) {
    return cost_of(costs, draft.plan, id, gpu).time.value;
  };
  const double bytes = 512.0 * 512 / topology.kernels_of(gpu).memory_bandwidth->value;
  using enum Scalar;
  EXPECT_NEAR(cost(draft.axpby(queue, sum, half, {one, zero})), (4 + 2) * bytes, 1e-15);
  EXPECT_NEAR(cost(draft.axpby(queue, sum, half, {one, beta})), (4 + 2 + 2) * bytes,
              1e-15);
  EXPECT_NEAR(cost(draft.axpby(queue, sum, sum, {one, one})), (4 + 4 + 4) * bytes, 1e-15);
  EXPECT_EQ(cost(draft.gemm(queue, half, half, sum, {})),
            cost(draft.gemm(queue, half, half, half, {})));
}

/// The costs of a potrf of n x n in f64, with a GEMM at `rate` and these times of potrf.
KernelCost potrf_cost(int64_t n, std::vector<GemmCurve::TileTime> times) {
  Topology::Description d = machine().description();
  for (KernelTimes& kernels : d.kernels)
    for (GemmCurve& curve : kernels.gemm) curve.tiles[0] = times;
  const Topology topology{d};
  PlanDraft draft{topology, DType::f64};
  const View tile = draft.tile(gpu, n, n);
  const OpId id =
      draft.add({.kind = OpKind::potrf, .queue = draft.compute_queue(gpu)}, {tile});
  KernelCosts costs{topology};
  return cost_of(costs, draft.plan, id, gpu);
}

/// In proportion to the size below, as a power law between, at a constant rate above.
TEST(KernelCosts, TileKernelsTakeTheirMeasuredTimes) {
  const std::vector<GemmCurve::TileTime> times{{64, Seconds{2e-3}}, {256, Seconds{8e-3}}};
  for (const auto& [n, seconds] :
       {std::pair{32, 1e-3}, {64, 2e-3}, {128, 4e-3}, {256, 8e-3}, {512, 64e-3}}) {
    const KernelCost cost = potrf_cost(n, times);
    EXPECT_NEAR(cost.time.value, seconds, 1e-12) << n;
    EXPECT_FALSE(cost.is_estimate);
    EXPECT_GT(cost.share, 0);
    EXPECT_LT(cost.share, 0.1) << "one of them leaves room for GEMMs";
  }
}

/// n^3 / 3 operations at the rate of the 2 n^3 of a GEMM.
TEST(KernelCosts, WithoutMeasurementsTheyAreEstimates) {
  const KernelCost cost = potrf_cost(512, {});
  const Topology topology = machine();
  EXPECT_TRUE(cost.is_estimate);
  EXPECT_NEAR(cost.time.value,
              topology.kernels_of(gpu)
                      .gemm_time(512, 512, 512, DType::f64, Trans::no, Trans::no)
                      .value /
                  6,
              1e-12);
}

TEST(KernelCosts, NamesOfTileKernelsAreThoseOfTheKindsFromPotrfOn) {
  for (size_t i = 0; i < tile_kernels.size(); ++i)
    EXPECT_EQ(tile_kernels[i], to_string(OpKind(size_t(OpKind::potrf) + i)));
  EXPECT_EQ(size_t(OpKind::potrf) + tile_kernels.size(), op_kind_count);
}

TEST(PlanKernelCosts, UnalignedColumnsOfAnyOperandSlowAKernel) {
  Draft d;
  const View even = d.matrix(gpu, 512, 512), odd = d.matrix(gpu, 512, 512, 513);
  const double aligned = d.cost(d.gemm(even, even, even));
  EXPECT_NEAR(d.cost(d.gemm(odd, even, even)), 2 * aligned, 1e-12);
  EXPECT_NEAR(d.cost(d.gemm(even, odd, even)), 2 * aligned, 1e-12);
  EXPECT_NEAR(d.cost(d.gemm(even, even, odd)), 2 * aligned, 1e-12);
}

TEST(PlanKernelCosts, ColumnsOfPartialWordsSlowAKernel) {
  Draft d;
  const View even = d.matrix(gpu, 512, 512), large = d.matrix(gpu, 512, 512),
             tall = d.matrix(gpu, 512, 512);
  const double words =
      d.cost(d.gemm({large.buffer, 0, 0, 510, 512}, even, {tall.buffer, 0, 0, 510, 512}));
  const double odd =
      d.cost(d.gemm({large.buffer, 0, 0, 509, 512}, even, {tall.buffer, 0, 0, 509, 512}));
  EXPECT_NEAR(odd / words, 2 * 509.0 / 510, 1e-9);
  const double columns =
      d.cost(d.gemm(even, {large.buffer, 0, 0, 512, 511}, {tall.buffer, 0, 0, 512, 511}));
  EXPECT_NEAR(columns / words, 511.0 / 510,
              1e-9);  // the number of columns does not matter
  // Large enough to run in parts: aligned, except for a thin one.
  const View huge = d.matrix(gpu, 2048, 2048), row_more = d.matrix(gpu, 2049, 2048, 2056);
  const double ratio =
      d.cost(d.gemm(row_more, huge, row_more)) / d.cost(d.gemm(huge, huge, huge));
  EXPECT_GT(ratio, 2049.0 / 2048 - 1e-9);
  EXPECT_LT(ratio, 1.01);
}

TEST(PlanKernelCosts, AProductInPartsHasTheOccupancyOfItsParts) {
  const Topology h200 = testing::shipped("hgx-h200-4");
  const MemoryId device = h200.gpus()[0];
  PlanDraft draft{h200};
  KernelCosts costs{h200};
  const auto cost = [&](int64_t rows) {  // rows x 2048 x 2048, in columns that start at
                                         // multiples of 64 bytes
    const View a = draft.tile(device, 2056, 2048), b = draft.tile(device, 2048, 2048),
               c = draft.tile(device, 2056, 2048);
    const OpId product =
        draft.gemm(draft.compute_queue(device), part(a, 0, 0, rows, 2048), b,
                   part(c, 0, 0, rows, 2048), {});
    return cost_of(costs, draft.plan, product, device);
  };
  const KernelCost parts = cost(2049), words = cost(2048), row = cost(1);
  EXPECT_GT(row.share, 1.04 * words.share);  // it reads all of B
  EXPECT_NEAR(parts.time.value, words.time.value + row.time.value, 1e-12);
  EXPECT_NEAR(parts.time.value * parts.share,
              words.time.value * words.share + row.time.value * row.share, 1e-12);
}

TEST(PlanKernelCosts, OnlyTheLargerOfMisalignmentAndLoadSlowsAKernel) {
  const KernelCost aligned{Seconds{1}, 1, 1, true}, slow{Seconds{2}, 1, 2, true};
  EXPECT_DOUBLE_EQ(aligned.under_load(1.5).value, 1.5);
  EXPECT_DOUBLE_EQ(slow.under_load(1.5).value, 2);
  EXPECT_DOUBLE_EQ(slow.under_load(3).value, 3);
  EXPECT_DOUBLE_EQ(aligned.under_load(1).value, 1);
  // 1.5 times as long on a GPU that is always busy, but misalignment already doubles the
  // time.
  Draft d;
  const View odd = d.matrix(gpu, 1024, 1024, 1025);
  d.gemm(odd, odd, d.matrix(gpu, 1024, 1024));
  EXPECT_NEAR(d.estimate(), 2 * 2.0 * (1 << 30) / 1e12, 1e-9);
}

TEST(PlanKernelCosts, AnOperandThatStartsOffABorderSlowsAKernel) {
  Draft d;
  const View even = d.matrix(gpu, 512, 512), large = d.matrix(gpu, 1024, 512);
  const double aligned = d.cost(d.gemm(even, even, even));
  EXPECT_NEAR(d.cost(d.gemm({large.buffer, 1, 0, 512, 512}, even, even)), 2 * aligned,
              1e-12);
  EXPECT_NEAR(d.cost(d.gemm({large.buffer, 8, 0, 512, 512}, even, even)), aligned, 1e-12);
}

}  // namespace
}  // namespace tilerail
