// The quick estimate and the costs of kernels, on plans made by hand.
#include "cost/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cost/kernel_costs.hpp"
#include "cost/strided_copy.hpp"
#include "model/base/error.hpp"
#include "plan/builder.hpp"
#include "plan/draft.hpp"
#include "tests/support/machines.hpp"

namespace tilerail {
namespace {

/// two-gpu without what handing over costs, with 10 GB/s each way to gpu0, 12 in both directions together, of which 4
/// to the GPU. Kernels: 1 TFLOP/s, 1.5 times as long on a GPU that is always busy and twice on columns of 8 bytes.
/// Columns of 1 KiB move at a quarter of the rate, at half of it where the GPU's cache of 50 MB knows their pages.
Topology machine() {
  auto d = testing::shipped("two-gpu").description();
  for (Link& link : d.links) link.latency = Seconds{0};
  CapacityGroup both;
  both.name = "both", both.source = "round";
  both.forward = {LinkId{2}}, both.backward = {LinkId{3}};  // pcie0->gpu0 and back
  both.both_busy = CapacityCurve{{{1, Rate{12e9}}}}, both.forward_share = 1.0 / 3;
  d.groups = {both};
  d.strided = {.points = {{Bytes{1024}, 0.25}}, .again = {{Bytes{1024}, 0.5}}, .cache = Bytes{50e6}, .source = "round"};
  KernelTimes& kernels = d.kernels[0];
  kernels.launch = Seconds{0}, kernels.multiprocessors = kernels.block_m = kernels.block_n = 1;
  kernels.gemm[0].sustained = {{0.5, 1.0}, {1.0, 1.5}}, kernels.gemm[0].alignment = {{8, 2.0}};
  return Topology{std::move(d)};
}

constexpr MemoryId host{0}, gpu{1};

/// Copies of whole matrices, or of their first rows, and products of tiles on the GPU.
class Draft {
 public:
  Draft() {
    plan.memories = {"host", "gpu0", "gpu1"};
    plan.peak_bytes = {0, 0, 0};
    plan.devices = {gpu};
    plan.problem.m = plan.problem.n = plan.problem.k = 1024;
  }
  View matrix(MemoryId memory, std::int64_t rows, std::int64_t cols, std::int64_t ld = 0) {
    const BufferId id = builder.add_buffer({Buffer::Kind::tile, memory, rows, cols, ld == 0 ? rows : ld, 0});
    return {id, 0, 0, rows, cols};
  }
  OpId copy(const View& from, const View& to, std::initializer_list<OpId> after = {}) {
    Op op;
    op.queue = builder.copy_queue(plan.buffer(from.buffer).memory, plan.buffer(to.buffer).memory);
    op.a = from, op.y = to;
    return add(op, after);
  }
  OpId gemm(const View& a, const View& b, const View& y, std::initializer_list<OpId> after = {}) {
    Op op;
    op.kind = OpKind::gemm, op.queue = builder.compute_queue(gpu, 0);
    op.a = a, op.b = b, op.y = y;
    return add(op, after);
  }
  double estimate() { return whole_estimate().makespan.value; }
  double busiest() { return whole_estimate().busiest.value; }
  double cost(OpId op) { return PlanKernelCosts{plan, machine()}.of(op).time.value; }

  Plan plan;

 private:
  OpId add(const Op& op, std::initializer_list<OpId> after) {
    Deps deps;
    for (const OpId id : after) deps.after(id);
    return builder.add(op, deps);
  }
  Estimate whole_estimate() {
    const Topology topology = machine();
    return estimate_plan(plan, topology, Resources{topology});
  }
  PlanBuilder builder{plan};
};

TEST(Estimate, ACopyTakesItsTimeAlone) {
  Draft d;
  d.copy(d.matrix(host, 125'000'000, 1), d.matrix(gpu, 125'000'000, 1));  // 1 GB
  EXPECT_NEAR(d.estimate(), 0.1, 1e-9);
}

TEST(Estimate, BothDirectionsRunTogetherUntilTheLesserIsDone) {
  // 1.6 GB in and 0.8 GB out at once: 4 + 8 GB/s for 0.1 s, which is all of the way out; then 1.2 GB in at 10 GB/s.
  Draft d;
  d.copy(d.matrix(host, 200'000'000, 1), d.matrix(gpu, 200'000'000, 1));
  d.copy(d.matrix(gpu, 100'000'000, 1), d.matrix(host, 100'000'000, 1));
  EXPECT_NEAR(d.estimate(), 0.1 + 0.12, 1e-9);
  EXPECT_NEAR(d.busiest(), 0.1 + 0.12, 1e-9);
}

// 128 rows of doubles, 1 KiB a column, out of a taller matrix: a quarter of 10 GB/s. Of the pages of the next rows all
// are known but those of which a column touches a new line of the cache, 1 KiB of 64.
TEST(Estimate, NarrowColumnsMoveFasterWhereTheirPagesAreKnown) {
  constexpr double cold = 128 * 8 * 1e5 / 2.5e9, known = 128 * 8 * 1e5 / 5e9, next = 1 / (1 + 1.0 / 64);
  struct Second {
    std::int64_t row;
    int kernels;  // before it: products of 8 MB by 8 MB, which fill 40 MB of the cache
    bool alike;   // of the same matrices into others, which fill 8 MB more
    double share;
  };
  for (const Second& second : {Second{0, 0, false, 1},
                               {128, 0, false, next},
                               {128 + 4096, 0, false, next / 2},
                               {128 + 8192, 0, false, 0},
                               {0, 1, false, 1},
                               {0, 2, false, 0},
                               {0, 2, true, 1},
                               {0, 3, true, 0},
                               {128, 1, false, next},
                               {128, 2, false, 0}}) {
    Draft d;
    const View tall = d.matrix(host, 65536, 100'000, 65536);
    OpId last = d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000));
    View a = d.matrix(gpu, 1000, 1000), b = d.matrix(gpu, 1000, 1000);
    double kernels = 0;
    for (int i = 0; i < second.kernels; ++i) {
      last = d.gemm(a, b, d.matrix(gpu, 1000, 1000), {last});
      kernels += d.cost(last);
      if (!second.alike) a = d.matrix(gpu, 1000, 1000), b = d.matrix(gpu, 1000, 1000);
    }
    d.copy({tall.buffer, second.row, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000), {last});
    EXPECT_NEAR(d.estimate(), cold + kernels + (1 - second.share) * cold + second.share * known, 1e-8)
        << second.row << " after " << second.kernels;
  }
}

// Not those of tiles 64 KiB above or below, nor those that are the other device's.
TEST(Estimate, PagesAreKnownFromTheLastCopyOfTheirColumnsToThatDevice) {
  constexpr double cold = 128 * 8 * 1e5 / 2.5e9;
  Draft d;
  const View tall = d.matrix(host, 65536, 100'000, 65536);
  OpId last;
  for (const std::int64_t row : {0, 8320, 16640, 0})
    last = d.copy({tall.buffer, row, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000));
  last = d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(MemoryId{2}, 128, 100'000), {last});
  EXPECT_NEAR(d.estimate(), 5 * cold, 1e-8);
  d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000), {last});
  EXPECT_NEAR(d.estimate(), 5.5 * cold, 1e-8);
}

TEST(Estimate, NarrowColumnsSlowNoCopyBesideThem) {
  // To each GPU they move at a quarter of 10 GB/s, and both together have less than the two share.
  Draft d;
  const View tall = d.matrix(host, 4096, 100'000, 4096);
  for (const MemoryId to : {gpu, MemoryId{2}}) d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(to, 128, 100'000));
  EXPECT_NEAR(d.estimate(), 128 * 8 * 1e5 / 2.5e9, 1e-9);
}

TEST(Estimate, OneColumnIsContiguousHoweverTallItsMatrix) {
  Draft d;
  constexpr std::int64_t rows = 125'000'000;  // 1 GB
  const View tall = d.matrix(host, 2 * rows, 1);
  d.copy({tall.buffer, 0, 0, rows, 1}, d.matrix(gpu, rows, 1));
  EXPECT_NEAR(d.estimate(), 0.1, 1e-9);
}

TEST(CopyColumns, AreThoseOfTheHostOrOfTheSideWhereTheyAreFarthestApart) {
  Draft d;
  const Topology topology = machine();
  const View on_host = d.matrix(host, 128, 512, 4096), packed_host = d.matrix(host, 128, 512);
  const View on_gpu = d.matrix(gpu, 128, 512, 5120), on_other = d.matrix(MemoryId{2}, 128, 512);
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
  // Two products of 1024^3, 2.147 ms each at 1 TFLOP/s, and nothing else: 1.5 times as long.
  Draft d;
  const View a = d.matrix(gpu, 1024, 1024), b = d.matrix(gpu, 1024, 1024);
  for (int i = 0; i < 2; ++i) d.gemm(a, b, d.matrix(gpu, 1024, 1024));
  EXPECT_NEAR(d.estimate(), 1.5 * 2 * 2.0 * (1 << 30) / 1e12, 1e-9);
}

TEST(Estimate, AGpuThatIsBusyForHalfTheTimeIsNot) {
  Draft d;
  const View a = d.matrix(gpu, 1024, 1024), b = d.matrix(gpu, 1024, 1024);
  const double kernel = 2.0 * (1 << 30) / 1e12;
  const auto rows = static_cast<std::int64_t>(kernel * 10e9 / 8);  // a copy of the same time before it
  const OpId in = d.copy(d.matrix(host, rows, 1), d.matrix(gpu, rows, 1));
  d.gemm(a, b, d.matrix(gpu, 1024, 1024), {in});
  EXPECT_NEAR(d.estimate(), 2 * kernel, 1e-6);
  EXPECT_NEAR(d.busiest(), kernel, 1e-6);  // they wait for each other
}

TEST(Estimate, TheBusiestIsWhatAllDevicesUseOrTheMeanOfWhatSomeDo) {
  const Topology topology = testing::shipped("two-gpu");
  Plan plan;
  plan.memories = {"host", "gpu0", "gpu1"};
  plan.peak_bytes = {0, 0, 0};
  plan.devices = topology.gpus();
  PlanBuilder builder{plan};
  constexpr std::int64_t rows = 125'000'000;  // 1 GB
  const auto copy_to = [&](MemoryId device) {
    Op op;
    op.queue = builder.copy_queue(host, device);
    op.a = {builder.add_buffer({Buffer::Kind::tile, host, rows, 1, rows, 0}), 0, 0, rows, 1};
    op.y = {builder.add_buffer({Buffer::Kind::tile, device, rows, 1, rows, 0}), 0, 0, rows, 1};
    Deps none;
    builder.add(op, none);
    return estimate_plan(plan, topology, Resources{topology});
  };
  const Estimate one = copy_to(topology.gpus()[0]);
  EXPECT_NEAR(one.makespan.value, 0.1, 1e-4);  // 10 GB/s
  EXPECT_NEAR(one.busiest.value, 0.05, 1e-4);  // were half of it the other's
  const Estimate both = copy_to(topology.gpus()[1]);
  EXPECT_NEAR(both.makespan.value, 2.0 / 12, 1e-4);
  EXPECT_NEAR(both.busiest.value, 2.0 / 12, 1e-4);  // of the link that both are behind
}

TEST(KernelCosts, AGpuWithoutTimesIsRefusedEveryTime) {
  const Topology topology = machine();
  PlanDraft draft{topology, DType::tf32};
  const View tile = draft.tile(gpu, 64, 64);
  const OpId product = draft.gemm(draft.compute_queue(gpu), tile, tile, tile, {});
  KernelCosts costs{topology};
  for (int i = 0; i < 2; ++i) EXPECT_THROW(costs.of(draft.plan, draft.plan.op(product), gpu), InputError);
}

TEST(PlanKernelCosts, UnalignedColumnsOfAnyOperandCost) {
  Draft d;
  const View even = d.matrix(gpu, 512, 512), odd = d.matrix(gpu, 512, 512, 513);
  const double aligned = d.cost(d.gemm(even, even, even));
  EXPECT_NEAR(d.cost(d.gemm(odd, even, even)), 2 * aligned, 1e-12);
  EXPECT_NEAR(d.cost(d.gemm(even, odd, even)), 2 * aligned, 1e-12);
  EXPECT_NEAR(d.cost(d.gemm(even, even, odd)), 2 * aligned, 1e-12);
}

TEST(PlanKernelCosts, SoDoColumnsThatAreNoWholeWords) {
  Draft d;
  const View even = d.matrix(gpu, 512, 512), large = d.matrix(gpu, 512, 512), tall = d.matrix(gpu, 512, 512);
  const double words = d.cost(d.gemm({large.buffer, 0, 0, 510, 512}, even, {tall.buffer, 0, 0, 510, 512}));
  const double odd = d.cost(d.gemm({large.buffer, 0, 0, 509, 512}, even, {tall.buffer, 0, 0, 509, 512}));
  EXPECT_NEAR(odd / words, 2 * 509.0 / 510, 1e-9);
  const double columns = d.cost(d.gemm(even, {large.buffer, 0, 0, 512, 511}, {tall.buffer, 0, 0, 512, 511}));
  EXPECT_NEAR(columns / words, 511.0 / 510, 1e-9);  // their number is no matter
  // Large enough to be run in parts: aligned, but for a thin one.
  const View huge = d.matrix(gpu, 2048, 2048), row_more = d.matrix(gpu, 2049, 2048, 2056);
  const double ratio = d.cost(d.gemm(row_more, huge, row_more)) / d.cost(d.gemm(huge, huge, huge));
  EXPECT_GT(ratio, 2049.0 / 2048 - 1e-9);
  EXPECT_LT(ratio, 1.01);
}

TEST(PlanKernelCosts, WhatRunsInPartsFillsWhatTheyFill) {
  const Topology h200 = testing::shipped("hgx-h200-4");
  const MemoryId device = h200.gpus()[0];
  PlanDraft draft{h200};
  KernelCosts costs{h200};
  const auto cost = [&](std::int64_t rows) {  // rows x 2048 x 2048, in columns that start at multiples of 64 bytes
    const View a = draft.tile(device, 2056, 2048), b = draft.tile(device, 2048, 2048),
               c = draft.tile(device, 2056, 2048);
    const OpId product =
        draft.gemm(draft.compute_queue(device), part(a, 0, 0, rows, 2048), b, part(c, 0, 0, rows, 2048), {});
    return costs.of(draft.plan, draft.plan.op(product), device);
  };
  const KernelCost parts = cost(2049), words = cost(2048), row = cost(1);
  EXPECT_GT(row.share, 1.04 * words.share);  // it reads all of B
  EXPECT_NEAR(parts.time.value, words.time.value + row.time.value, 1e-12);
  EXPECT_NEAR(parts.time.value * parts.share, words.time.value * words.share + row.time.value * row.share, 1e-12);
}

TEST(PlanKernelCosts, WhatWaitsForItsOperandsHasPowerToSpare) {
  const KernelCost aligned{Seconds{1}, 1, 1, true}, slow{Seconds{2}, 1, 2, true};
  EXPECT_DOUBLE_EQ(aligned.under_load(1.5).value, 1.5);
  EXPECT_DOUBLE_EQ(slow.under_load(1.5).value, 2);
  EXPECT_DOUBLE_EQ(slow.under_load(3).value, 3);
  EXPECT_DOUBLE_EQ(aligned.under_load(1).value, 1);
  // 1.5 times as long on a GPU that is always busy, but these are twice as long anyway.
  Draft d;
  const View odd = d.matrix(gpu, 1024, 1024, 1025);
  d.gemm(odd, odd, d.matrix(gpu, 1024, 1024));
  EXPECT_NEAR(d.estimate(), 2 * 2.0 * (1 << 30) / 1e12, 1e-9);
}

TEST(PlanKernelCosts, SoDoesAnOperandThatStartsOffABorder) {
  Draft d;
  const View even = d.matrix(gpu, 512, 512), large = d.matrix(gpu, 1024, 512);
  const double aligned = d.cost(d.gemm(even, even, even));
  EXPECT_NEAR(d.cost(d.gemm({large.buffer, 1, 0, 512, 512}, even, even)), 2 * aligned, 1e-12);
  EXPECT_NEAR(d.cost(d.gemm({large.buffer, 8, 0, 512, 512}, even, even)), aligned, 1e-12);
}

}  // namespace
}  // namespace tilerail
