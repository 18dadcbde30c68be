// Queues that share a stream, and costs of submission.
#include "cost/issue_times.hpp"

#include <gtest/gtest.h>

#include "plan/stream_waits.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using Deps = std::vector<OpId>;

constexpr MemoryId host{0}, gpu0{1}, gpu1{2}, gpu2{3};
constexpr double us = 1e-6;

/// Submission times of operations.
struct IssueClock {
  IssueClock(const Plan& plan, const Topology& topology)
      : times{issue_times(plan, topology)} {}
  Seconds issue(OpId op) const { return times[op.index()]; }
  std::vector<Seconds> times;
};

/// Three GPUs, each linked with the host and with the others. Submission: 2 us, 5 us for
/// kernels, 1 us per dependency.
Topology machine() {
  auto d = small_machine::memories_and_switches(3, 0);
  const std::vector<std::string> names{"h", "g0", "g1", "g2"};
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < i; ++j) small_machine::add_links(d, names[i], names[j], 10);
  d.issue.per_op = Seconds{2 * us}, d.issue.per_kernel = Seconds{5 * us};
  d.issue.per_dependency = Seconds{1 * us}, d.issue.source = "s";
  return Topology{d};
}

/// Operations without operands: only their kinds, queues and dependencies matter.
class Draft : public PlanDraft {
 public:
  Draft() : PlanDraft{machine()} {}
  OpId copy(MemoryId src, MemoryId dst, const Deps& deps = {}) {
    return add(OpKind::copy, copy_queue(src, dst), deps);
  }
  OpId kernel(MemoryId gpu, const Deps& deps = {}, OpKind kind = OpKind::gemm) {
    return add(kind, compute_queue(gpu), deps);
  }

 private:
  OpId add(OpKind kind, QueueId queue, const Deps& deps) {
    return PlanDraft::add({.kind = kind, .queue = queue}, {}, deps);
  }
};

bool share(const Draft& draft, QueueId a, QueueId b) {
  const auto streams = shared_streams(draft.plan, machine());
  return streams[a.index()] == streams[b.index()];
}

TEST(SharedStreams, PeerCopiesShareAStreamIfEachWaitsForThePreviousCopy) {
  Draft d;
  const OpId first = d.copy(gpu0, gpu1), second = d.copy(gpu0, gpu2, {first});
  d.copy(gpu0, gpu1, {second});
  EXPECT_TRUE(share(d, d.copy_queue(gpu0, gpu1), d.copy_queue(gpu0, gpu2)));
}

TEST(SharedStreams, OneIndependentCopySeparatesTheStreams) {
  Draft d;
  const OpId first = d.copy(gpu0, gpu1), second = d.copy(gpu0, gpu2, {first});
  d.copy(gpu0, gpu1, {second});
  d.copy(gpu0, gpu2);
  EXPECT_FALSE(share(d, d.copy_queue(gpu0, gpu1), d.copy_queue(gpu0, gpu2)));
}

TEST(SharedStreams, CopiesOfOneQueueAreInOrderWithoutDependencies) {
  Draft d;
  d.copy(gpu0, gpu1);
  const OpId last = d.copy(gpu0, gpu1);
  d.copy(gpu0, gpu2, {last});
  EXPECT_TRUE(share(d, d.copy_queue(gpu0, gpu1), d.copy_queue(gpu0, gpu2)));
}

TEST(SharedStreams, OtherSendersHostsAndKernelsHaveSeparateStreams) {
  Draft d;
  const OpId first = d.copy(gpu0, gpu1), other = d.copy(gpu1, gpu2, {first});
  const OpId in = d.copy(host, gpu0, {other}), out = d.copy(gpu0, host, {in});
  d.kernel(gpu0, {out});
  const auto streams = shared_streams(d.plan, machine());
  for (size_t q = 0; q < streams.size(); ++q) EXPECT_EQ(streams[q], QueueId{q});
}

TEST(IssueClock, KernelsCopiesAndDependenciesHaveTheirCosts) {
  Draft d;
  const OpId copy = d.copy(host, gpu0), kernel = d.kernel(gpu0, {copy}),
             more = d.kernel(gpu0, {kernel}, OpKind::axpby);
  const OpId join = d.kernel(gpu0, {}, OpKind::join);
  const Topology topology = machine();
  IssueClock clock{d.plan, topology};
  EXPECT_DOUBLE_EQ(clock.issue(copy).value, 2 * us);
  EXPECT_DOUBLE_EQ(clock.issue(kernel).value, (2 + 5 + 1) * us);
  EXPECT_DOUBLE_EQ(clock.issue(more).value, (8 + 5) * us)
      << "the kernel before it is on its own stream";
  EXPECT_DOUBLE_EQ(clock.issue(join).value, (13 + 2) * us);
}

TEST(IssueClock, AProductHasTheIssueCostOfItsShape) {
  auto description = testing::shipped("two-gpu").description();
  description.issue.per_call = Seconds{0};
  GemmCurve& curve = description.kernels.at(0).gemm.at(0);
  curve.tiled.emplace().blocks = {{64, 64, 1}};
  curve.tiled->peak = FlopRate{1e12};
  curve.tiled->shapes = {{64, 64, 64, Seconds{10 * us}, Seconds{7 * us}}};
  curve.points.clear();
  description.kernels[0].memory_bandwidth = Rate{1e12};
  const Topology topology{description};
  PlanDraft d{topology};
  const View tile = d.tile(gpu0, 64, 64);
  const OpId kernel = d.gemm(d.compute_queue(gpu0), tile, tile, tile, {});
  IssueClock clock{d.plan, topology};
  EXPECT_DOUBLE_EQ(clock.issue(kernel).value, 7 * us);
}

TEST(IssueClock, KernelsWithoutACostHaveTheCostOfOtherOperations) {
  auto description = machine().description();
  description.issue.per_kernel.reset();
  const Topology topology{description};
  Draft d;
  const OpId kernel = d.kernel(gpu0);
  EXPECT_DOUBLE_EQ((IssueClock{d.plan, topology}.issue(kernel).value), 2 * us);
}

TEST(IssueClock, ACallCostsOnceForEachThread) {
  auto description = machine().description();
  description.issue.per_call = Seconds{30 * us};
  const Topology topology{description};
  Draft d;
  const OpId first = d.kernel(gpu0), second = d.kernel(gpu0), other = d.kernel(gpu1);
  IssueClock clock{d.plan, topology};
  EXPECT_DOUBLE_EQ(clock.issue(first).value, (30 + 5) * us);
  EXPECT_DOUBLE_EQ(clock.issue(second).value, (30 + 10) * us);
  EXPECT_DOUBLE_EQ(clock.issue(other).value, (30 + 5) * us);
}

TEST(IssueClock, ARunTimeSystemAddsItsTimeToTheDriver) {
  Draft d;
  d.plan.runtime = {Seconds{80 * us}, Seconds{7 * us}, Seconds{90 * us},
                    Seconds{300 * us}};
  const OpId copy = d.copy(host, gpu0), kernel = d.kernel(gpu0, {copy}),
             to_peer = d.copy(gpu0, gpu1), other = d.kernel(gpu1);
  const Topology topology = machine();
  IssueClock clock{d.plan, topology};
  EXPECT_DOUBLE_EQ(clock.issue(copy).value, (300 + 7 + 2) * us);
  EXPECT_DOUBLE_EQ(clock.issue(kernel).value, (309 + 80 + 5 + 1) * us);
  EXPECT_DOUBLE_EQ(clock.issue(to_peer).value, (395 + 90 + 2) * us);
  EXPECT_DOUBLE_EQ(clock.issue(other).value, (300 + 80 + 5) * us);
}

TEST(IssueClock, EachDeviceHasAThreadOrAllHaveOne) {
  const Topology topology = machine();
  for (const bool single : {false, true}) {
    Draft d;
    d.plan.single_issuer = single;
    const OpId first = d.kernel(gpu0), second = d.kernel(gpu1), in = d.copy(host, gpu1),
               out = d.copy(gpu0, host);
    IssueClock clock{d.plan, topology};
    EXPECT_DOUBLE_EQ(clock.issue(first).value, 5 * us);
    EXPECT_DOUBLE_EQ(clock.issue(second).value, (single ? 10 : 5) * us);
    EXPECT_DOUBLE_EQ(clock.issue(in).value, (single ? 12 : 7) * us);
    EXPECT_DOUBLE_EQ(clock.issue(out).value, (single ? 14 : 7) * us);
  }
}

TEST(IssueClock, DependenciesWithinAStreamCostNothing) {
  const Topology topology = machine();
  for (const bool in_order : {true, false}) {
    Draft d;
    d.plan.single_issuer = true;
    const OpId first = d.copy(gpu0, gpu1), second = d.copy(gpu0, gpu2, {first});
    if (!in_order)
      d.copy(gpu0, gpu1);  // without dependencies: the queues keep streams of their own
    IssueClock clock{d.plan, topology};
    EXPECT_DOUBLE_EQ(clock.issue(first).value, 2 * us);
    EXPECT_DOUBLE_EQ(clock.issue(second).value, (2 + (in_order ? 2 : 3)) * us);
  }
}

/// The same, with graphs: 9 us per call, 3 us per copy with the host, 0.5 us per kernel,
/// 0.25 us per dependency between them.
Topology machine_with_graphs() {
  auto d = machine().description();
  d.issue.graph =
      GraphCost{Seconds{9 * us}, Seconds{3 * us}, Seconds{0.5 * us}, Seconds{0.25 * us}};
  return Topology{d};
}

TEST(IssueClock, AGraphHasCostsPerCopyKernelAndDependency) {
  const Topology topology = machine_with_graphs();
  Draft d;
  d.plan.graph = true;
  const OpId copy = d.copy(host, gpu0), within = d.copy(gpu0, gpu0),
             kernel = d.kernel(gpu0, {copy, within}), next = d.kernel(gpu0, {within}),
             out = d.copy(gpu0, host, {next});
  IssueClock clock{d.plan, topology};
  EXPECT_DOUBLE_EQ(clock.issue(copy).value, (9 + 3) * us);
  EXPECT_DOUBLE_EQ(clock.issue(within).value, (12 + 0.5) * us);
  EXPECT_DOUBLE_EQ(clock.issue(kernel).value, (12.5 + 0.5 + 0.25) * us)
      << "the copy within the GPU is a kernel";
  EXPECT_DOUBLE_EQ(clock.issue(next).value, (13.25 + 0.5) * us);
  EXPECT_DOUBLE_EQ(clock.issue(out).value, (13.75 + 3 + 0.25) * us);
}

TEST(IssueClock, OneThreadLaunchesAGraphOfSeveralGpusAndEachGpuIssuesItsKernels) {
  const Topology topology = machine_with_graphs();
  Draft d;
  d.plan.graph = true;
  const OpId copy = d.copy(host, gpu0), first = d.kernel(gpu0), second = d.kernel(gpu1),
             sent = d.copy(gpu0, gpu1), waits = d.kernel(gpu1, {first}),
             after = d.kernel(gpu1, {sent}), last = d.kernel(gpu0);
  IssueClock clock{d.plan, topology};
  EXPECT_DOUBLE_EQ(clock.issue(copy).value, (9 + 3) * us);
  EXPECT_DOUBLE_EQ(clock.issue(first).value, (12 + 0.5) * us);
  EXPECT_DOUBLE_EQ(clock.issue(second).value, (12 + 0.5) * us) << "of another front end";
  EXPECT_DOUBLE_EQ(clock.issue(sent).value, (12 + 3 + 0.5) * us);
  EXPECT_DOUBLE_EQ(clock.issue(waits).value, (15 + 0.25 + 2 * 0.5) * us)
      << "a dependency between GPUs";
  EXPECT_DOUBLE_EQ(clock.issue(after).value, (15.25 + 0.25 + 3 * 0.5) * us);
  EXPECT_DOUBLE_EQ(clock.issue(last).value, (15.5 + 2 * 0.5) * us);
}

TEST(IssueClock, ThreadsIssuePlansWithoutGraphsOrGraphCostsAndEmulatedLibraries) {
  const Topology with = machine_with_graphs(), without = machine();
  Draft threads, library, graph;
  library.plan.graph = graph.plan.graph = true;
  library.plan.runtime.task = Seconds{1 * us};
  const OpId kernel = threads.kernel(gpu0);
  library.kernel(gpu0), graph.kernel(gpu0);
  EXPECT_DOUBLE_EQ((IssueClock{threads.plan, with}.issue(kernel).value), 5 * us);
  EXPECT_DOUBLE_EQ((IssueClock{library.plan, with}.issue(kernel).value), 6 * us);
  EXPECT_DOUBLE_EQ((IssueClock{graph.plan, without}.issue(kernel).value), 5 * us);
  EXPECT_DOUBLE_EQ((IssueClock{graph.plan, with}.issue(kernel).value), 9.5 * us);
}

}  // namespace
}  // namespace tilerail
