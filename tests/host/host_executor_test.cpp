#include "backends/host/run/host_executor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "check/reference.hpp"
#include "model/base/error.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/tiled_plan.hpp"

namespace tilerail {
namespace {

using test::machine;
using test::on_host;
using test::tiled_plan;

void expect_rule_kept(const Plan& plan, const Timeline& timeline) {
  ASSERT_EQ(timeline.ops.size(), plan.ops.size());
  std::vector<double> queue_free(plan.queues.size(), 0.0);
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpTime& time = timeline.ops[i];
    ASSERT_LE(time.start, time.end) << "operation " << i;
    ASSERT_LE(queue_free[plan.ops[i].queue.index()], time.start)
        << "operation " << i << " and its queue";
    for (const OpId dep : plan.deps_of(OpId{i})) {
      ASSERT_LE(timeline.ops[dep.index()].end, time.start)
          << "operation " << i << " depends on " << dep.value;
    }
    queue_free[plan.ops[i].queue.index()] = time.end;
  }
}

TEST(HostExecutor, MultipliesWithEveryTransposeAndDType) {
  const Topology topology = machine(2, 2);
  HostExecutor executor{topology, {.workers = 0, .poison = true}};
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        GemmProblem p = on_host(70, 45, 100);  // tiles of 32: ragged in all three
        p.dtype = dtype, p.trans_a = ta, p.trans_b = tb, p.alpha = 0.7, p.beta = -1.3;
        p.lda = 103, p.ldb = 101, p.ldc = 72;
        const Plan plan = tiled_plan(topology, p, 32);
        const GemmData data{plan.gemm(), 11};
        executor.set_matrices(data.matrices());
        expect_rule_kept(plan, executor.execute(plan));
        const GemmCheck check = data.check();
        EXPECT_TRUE(check.passed()) << to_string(dtype) << to_string(ta) << to_string(tb)
                                    << ": " << check.summary();
      }
    }
  }
}

TEST(HostExecutor, SpecialScalarsAndSizes) {
  const Topology topology = machine(2, 1);
  HostExecutor executor{topology, {.workers = 0, .poison = true}};
  for (const double alpha : {0.0, 1.0, -2.0}) {
    for (const double beta : {0.0, 1.0, 0.5}) {
      for (const int64_t k : {0, 1, 40}) {
        GemmProblem p = on_host(33, 20, k);
        p.alpha = alpha, p.beta = beta;
        const Plan plan = tiled_plan(topology, p, 16);
        const GemmData data{plan.gemm(), 12};  // C is NaN when beta == 0
        executor.set_matrices(data.matrices());
        executor.execute(plan);
        const GemmCheck check = data.check();
        EXPECT_TRUE(check.passed())
            << alpha << ", " << beta << ", " << k << ": " << check.summary();
      }
    }
  }
}

TEST(HostExecutor, UsesMatricesOfADeviceInPlace) {
  const Topology topology = machine(2, 2);
  HostExecutor executor{topology, {.workers = 0, .poison = true}};
  for (int places = 0; places < 27;
       ++places) {  // each matrix on the host or on either device
    GemmProblem p = on_host(40, 40, 40);
    p.place_a = MemoryId{places % 3}, p.place_b = MemoryId{places / 3 % 3},
    p.place_c = MemoryId{places / 9};
    const Plan plan = tiled_plan(topology, p, 16);
    const GemmData data{plan.gemm(), 13};
    executor.set_matrices(data.matrices());
    executor.execute(plan);
    const GemmCheck check = data.check();
    EXPECT_TRUE(check.passed()) << places << ": " << check.summary();
  }
}

TEST(HostExecutor, NeverRunsMoreOperationsOfADeviceThanItHasWorkers) {
  const Topology topology = machine(2, 2);
  HostExecutor executor{topology};
  const Plan plan = tiled_plan(topology, on_host(300, 300, 300), 50);
  const GemmData data{plan.gemm(), 14};
  executor.set_matrices(data.matrices());
  const Timeline timeline = executor.execute(plan);
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    int at_once = 1;  // other operations of the device that were running when i started
    for (size_t j = 0; j < plan.ops.size(); ++j) {
      const OpTime &x = timeline.ops[i], &y = timeline.ops[j];
      const bool same =
          plan.device_of(plan.ops[i], topology) == plan.device_of(plan.ops[j], topology);
      if (i != j && same && y.start <= x.start && x.start < y.end) ++at_once;
    }
    ASSERT_LE(at_once, 2) << "operation " << i;
  }
}

TEST(HostExecutor, OneWorkerTakesReadyOperationsByLowestId) {
  // Three queues without other dependencies: the one worker can choose among all heads,
  // and the lowest ready id is always the next in the plan.
  const Topology topology = machine(1, 1);
  PlanDraft draft{topology, on_host(8, 8, 8)};
  const MemoryId gpu = topology.gpus()[0];
  for (int i = 0; i < 30; ++i)
    draft.copy(draft.copy_queue(MemoryId{0}, gpu, i % 3), draft.a(),
               draft.tile(gpu, 8, 8));
  HostExecutor executor{topology};
  const GemmData data{draft.plan.gemm(), 15};
  executor.set_matrices(data.matrices());
  const Timeline timeline = executor.execute(draft.plan);
  for (size_t i = 1; i < 30; ++i)
    EXPECT_LE(timeline.ops[i - 1].end, timeline.ops[i].start);
}

TEST(HostExecutor, JoinsEndWithTheLastOfTheirDependencies) {
  // Two copies, a join of both, a second join, then a copy back.
  const Topology topology = machine(2, 1);
  GemmProblem p = on_host(16, 16, 16);
  PlanDraft draft{topology, p};
  const MemoryId host{0}, gpu0 = topology.gpus()[0], gpu1 = topology.gpus()[1];
  const View tile = draft.tile(gpu0, 16, 16);
  const OpId first = draft.join(draft.compute_queue(gpu1), {});
  const OpId x = draft.copy(draft.copy_queue(host, gpu0), draft.a(), tile, {first});
  const OpId y =
      draft.copy(draft.copy_queue(host, gpu1), draft.b(), draft.tile(gpu1, 16, 16));
  const OpId both = draft.join(draft.compute_queue(gpu0), {x, y});
  const OpId again = draft.join(draft.compute_queue(gpu1), {both});
  const OpId back = draft.copy(draft.copy_queue(gpu0, host), tile, draft.c(), {again});
  HostExecutor executor{topology};
  const GemmData data{draft.plan.gemm(), 16};
  executor.set_matrices(data.matrices());
  const Timeline timeline = executor.execute(draft.plan);
  expect_rule_kept(draft.plan, timeline);
  EXPECT_GE(timeline.ops[back.index()].start, timeline.ops[y.index()].end);
  for (const OpId join : {both, again}) {
    EXPECT_EQ(timeline.ops[join.index()].start, timeline.ops[join.index()].end);
  }
  EXPECT_EQ(std::memcmp(data.matrices().a, data.matrices().c, 16 * 16 * 8), 0);
}

TEST(HostExecutor, AnEmptyPlanTakesNoTime) {
  const Topology topology = machine(1, 2);
  HostExecutor executor{topology};
  EXPECT_TRUE(executor.execute(PlanDraft(topology, on_host(0, 0, 0)).plan).ops.empty());
  PlanDraft joins{topology, on_host(0, 0, 0)};
  const QueueId queue = joins.compute_queue(topology.gpus()[0]);
  joins.join(queue, {joins.join(queue, {})});
  EXPECT_EQ(executor.execute(joins.plan).ops.size(), 2U);
}

TEST(HostExecutor, PoisonShowsUnwrittenBytes) {
  // The plan multiplies with a tile that it never fetched.
  const Topology topology = machine(1, 1);
  GemmProblem p = on_host(16, 16, 16);
  p.place_a = p.place_c = MemoryId{1};
  PlanDraft draft{topology, p};
  const MemoryId gpu = topology.gpus()[0];
  draft.gemm(draft.compute_queue(gpu), draft.a(), draft.tile(gpu, 16, 16), draft.c(), {});
  HostExecutor executor{topology, {.workers = 1, .poison = true}};
  const GemmData data{draft.plan.gemm(), 17};
  executor.set_matrices(data.matrices());
  executor.execute(draft.plan);
  EXPECT_TRUE(std::isnan(data.c().at(0, 0)));
  EXPECT_FALSE(data.check().passed());
}

TEST(HostExecutor, ASecondRunGivesTheSameBytes) {
  const Topology topology = machine(2, 2);
  HostExecutor executor{topology};
  const Plan plan = tiled_plan(topology, on_host(90, 90, 90), 32);
  GemmData data{plan.gemm(), 18};
  executor.set_matrices(data.matrices());
  const Timeline one = executor.execute(plan);
  const auto* c = static_cast<const double*>(data.matrices().c);
  const std::vector<double> first(c, c + 90 * 90);
  data.reset_c();
  const Timeline two = executor.execute(plan);
  EXPECT_EQ(std::memcmp(first.data(), c, first.size() * sizeof(double)), 0);
  EXPECT_EQ(one.plan_hash, two.plan_hash);
  EXPECT_EQ(one.plan_hash, content_hash(plan));
  EXPECT_EQ(one.backend, "host");
}

TEST(HostExecutor, ASecondRunAllocatesNothingButTheResult) {
  // 1 and 64 tiles of C: with an allocation per operation or queue, the counts would
  // differ.
  const Topology topology = machine(2, 2);
  HostExecutor executor{topology};
  std::vector<int> counts;
  for (const int64_t size : {16, 128}) {
    const Plan plan = tiled_plan(topology, on_host(size, size, 16), 16);
    const GemmData data{plan.gemm(), 18};
    executor.set_matrices(data.matrices());
    executor.execute(plan);
    const int before = test::allocations();
    const Timeline timeline = executor.execute(plan);
    counts.push_back(test::allocations() - before);
  }
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_LE(counts[1], 4);  // the timeline's operations and hash
}

TEST(HostExecutor, ArenasGrowAndAreKept) {
  const Topology topology = machine(1, 1);
  HostExecutor executor{topology};
  const MemoryId gpu = topology.gpus()[0];
  const Plan small = tiled_plan(topology, on_host(16, 16, 16), 16),
             large = tiled_plan(topology, on_host(64, 64, 64), 16);
  const GemmData small_data{small.gemm(), 19}, large_data{large.gemm(), 19};
  executor.set_matrices(small_data.matrices());
  executor.execute(small);
  EXPECT_GE(executor.arena_bytes(gpu), small.peak_bytes[gpu.index()]);
  executor.set_matrices(large_data.matrices());
  executor.execute(large);
  const int64_t grown = executor.arena_bytes(gpu);
  EXPECT_GE(grown, large.peak_bytes[gpu.index()]);
  EXPECT_EQ(executor.arena_bytes(MemoryId{0}), 0);  // no tile is on the host
  executor.set_matrices(small_data.matrices());
  executor.execute(small);
  EXPECT_EQ(executor.arena_bytes(gpu), grown);
}

TEST(HostExecutor, WorkersComeFromTheTopologyUnlessGiven) {
  EXPECT_EQ(HostExecutor(machine(2, 3)).workers(1), 3);
  EXPECT_EQ(HostExecutor(machine(2, 3), {.workers = 1, .poison = false}).workers(1), 1);
  Topology::Description unbounded = host_machine(1, 3);
  unbounded.memories[1].processor->engines.total.reset();
  EXPECT_EQ(HostExecutor(Topology{unbounded}).workers(0), 2);
  EXPECT_THROW(HostExecutor(machine(1, 1), {.workers = -1, .poison = false}), InputError);
}

}  // namespace
}  // namespace tilerail
