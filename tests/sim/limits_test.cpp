// Copy engines, shared engines and the overhead of issuing operations. On two-gpu each
// GPU runs one copy of each role at a time; 10 MB between host and GPU take 1.01 ms,
// between the GPUs 0.255 ms.

#include "cost/estimate.hpp"
#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

constexpr double c = 1.01 * ms, peer = 0.255 * ms;

TEST(SimEngines, CopiesOfOneRoleWaitForTheEngineLowestIdFirst) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  // Queue 2 gets the lower id of the two waiting copies.
  p.copy(host, gpu0, 10 * MB, {}, 1), p.copy(host, gpu0, 10 * MB, {}, 2),
      p.copy(host, gpu0, 10 * MB, {}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  for (int i = 0; i < 3; ++i) expect_times(t, OpId{i}, i * c, (i + 1) * c);
}

TEST(SimEngines, AnEngineStaysWithAQueueThatHasMoreForIt) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  // When 0 ends, 1 has waited for its engine and 2, in the queue of 0, becomes ready: 2
  // goes first, then 1.
  const OpId first = p.copy(host, gpu0, 10 * MB, {}, 0);
  const OpId waited = p.copy(host, gpu0, 10 * MB, {}, 1),
             later = p.copy(host, gpu0, 10 * MB, {first}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, later, c, 2 * c);
  expect_times(t, waited, 2 * c, 3 * c);
}

TEST(SimEngines, AnEarlierOperationThatBecomesReadyPassesAWaitingOperation) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId first = p.copy(host, gpu0, 10 * MB, {}, 0),
             next = p.copy(host, gpu0, 10 * MB, {}, 0);
  const OpId waits = p.copy(host, gpu0, 10 * MB, {}, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, first, 0, c);
  expect_times(t, next, c, 2 * c);
  expect_times(t, waits, 2 * c, 3 * c);
}

TEST(SimEngines, RolesDoNotDisturbEachOther) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId in = p.copy(host, gpu0, 10 * MB), out = p.copy(gpu0, host, 10 * MB);
  const OpId to_peer = p.copy(gpu0, gpu1, 10 * MB),
             from_peer = p.copy(gpu1, gpu0, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, in, 0, c);
  expect_times(t, out, 0, c);
  expect_times(t, to_peer, 0, peer);
  expect_times(t, from_peer, 0, peer);
}

TEST(SimEngines, CopiesOutCountOnTheGpuTheyLeave) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  p.copy(gpu0, host, 10 * MB, {}, 0), p.copy(gpu0, host, 10 * MB, {}, 1);
  p.copy(gpu0, gpu1, 10 * MB, {}, 0), p.copy(gpu0, gpu1, 10 * MB, {}, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, OpId{1}, c, 2 * c);
  expect_times(t, OpId{3}, peer, 2 * peer);
}

TEST(SimEngines, TwoEnginesRunTwoCopiesSimultaneously) {
  const Topology machine =
      two_gpu([](auto& d) { d.memories[1].processor->engines.h2d = 2; });
  HandPlan p{machine};
  for (int i = 0; i < 3; ++i) p.copy(host, gpu0, 10 * MB, {}, i);
  // Two at 5 GB/s until 10 us + 2 ms, then the third alone.
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, OpId{0}, 0, 2.01 * ms);
  expect_times(t, OpId{1}, 0, 2.01 * ms);
  expect_times(t, OpId{2}, 2.01 * ms, 3.02 * ms);
}

TEST(SimEngines, TotalCountsCopiesAndKernelsTogether) {
  const Topology machine =
      two_gpu([](auto& d) { d.memories[1].processor->engines.total = 1; });
  constexpr double g = 2.0 * 1024 * 1024 * 1024 / 1e12;
  HandPlan p{machine};
  p.copy(host, gpu0, 10 * MB), p.gemm(gpu0, 1024, 1024, 1024),
      p.copy(gpu0, host, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, OpId{0}, 0, c);
  expect_times(t, OpId{1}, c, c + g);
  expect_times(t, OpId{2}, c + g, 2 * c + g);
}

TEST(SimEngines, AWorkerTakesTheLowestReadyOperationOfAnyQueue) {
  const Topology machine =
      two_gpu([](auto& d) { d.memories[1].processor->engines.total = 1; });
  HandPlan p{machine};
  // When 0 ends, the kernel 1 becomes ready, 2 has waited, and 3, in the queue of 0,
  // becomes ready.
  const OpId first = p.copy(host, gpu0, 10 * MB, {}, 0),
             kernel = p.gemm(gpu0, 1024, 1024, 1024, {first});
  const OpId waited = p.copy(host, gpu0, 10 * MB, {}, 1),
             same_queue = p.copy(host, gpu0, 10 * MB, {}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  constexpr double g = 2.0 * 1024 * 1024 * 1024 / 1e12;
  expect_times(t, kernel, c, c + g);
  expect_times(t, waited, c + g, 2 * c + g);
  expect_times(t, same_queue, 2 * c + g, 3 * c + g);
}

TEST(SimEngines, AKernelThatWaitsForRoomHoldsNoWorker) {
  // Each kernel fills the GPU: one of two workers runs the first, and the other copies
  // meanwhile.
  const Topology machine =
      two_gpu([](auto& d) { d.memories[1].processor->engines.total = 2; });
  constexpr double g = 2.0 * 1024 * 1024 * 1024 / 1e12;
  HandPlan p{machine};
  const OpId first = p.gemm(gpu0, 1024, 1024, 1024),
             second = p.gemm(gpu0, 1024, 1024, 1024, {}, 1);
  const OpId fetch = p.copy(host, gpu0, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, first, 0, g);
  expect_times(t, fetch, 0, c);
  expect_times(t, second, g, 2 * g);
}

TEST(SimEngines, AKernelThatWaitedForRoomWaitsForAWorkerWithTheOthers) {
  // When the first kernel ends, the second has room and the lowest id; the last copy
  // takes the remaining worker.
  const Topology machine =
      two_gpu([](auto& d) { d.memories[1].processor->engines.total = 2; });
  constexpr double g = 2.0 * 1024 * 1024 * 1024 / 1e12;
  HandPlan p{machine};
  const OpId first = p.gemm(gpu0, 1024, 1024, 1024),
             second = p.gemm(gpu0, 1024, 1024, 1024, {}, 1);
  const OpId fetch = p.copy(host, gpu0, 40 * MB),
             late = p.copy(host, gpu0, 10 * MB, {}, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, first, 0, g);
  expect_times(t, second, g, 2 * g);
  EXPECT_DOUBLE_EQ(t.ops[late.index()].start, t.ops[fetch.index()].end);
}

TEST(SimEngines, AnOperationUnderTwoLimitsHoldsNeitherWhileItWaits) {
  const Topology machine =
      two_gpu([](auto& d) { d.memories[2].processor->engines.total = 1; });
  HandPlan p{machine};
  // Copy 1 needs gpu0's peer engine, which is free, and gpu1's only slot, which copy 0
  // holds until c. Copy 2 does not need gpu1's slot (it goes from gpu0 to the host) and
  // runs; copy 1 starts when both are free.
  const OpId holds = p.copy(host, gpu1, 10 * MB),
             blocked = p.copy(gpu0, gpu1, 10 * MB, {}, 0);
  const OpId free = p.copy(gpu0, host, 10 * MB),
             again = p.copy(gpu0, gpu1, 10 * MB, {}, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, holds, 0, c);
  expect_times(t, blocked, c, c + peer);
  expect_times(t, free, 0, c);
  expect_times(t, again, c + peer, c + 2 * peer);
}

TEST(SimEngines, AnEngineGoesToTheNextOperationIfTheFirstIsBlocked) {
  // Both slots of gpu1 are taken until the copy ends at c, which lets `passes` start, and
  // until the kernel ends at g. `blocked` is next in line, but `passes` still holds the
  // peer engine of gpu0, and so `out` starts.
  const Topology machine =
      two_gpu([](auto& d) { d.memories[2].processor->engines.total = 2; });
  constexpr double g = 2.0 * 1024 * 1024 * 1024 / 1e12;
  HandPlan p{machine};
  p.copy(host, gpu1, 10 * MB), p.gemm(gpu1, 1024, 1024, 1024);
  const OpId passes = p.copy(gpu0, gpu1, 100 * MB, {}, 0),
             blocked = p.copy(gpu0, gpu1, 10 * MB, {}, 1);
  const OpId out = p.copy(gpu1, host, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  constexpr double passed = c + 2.505 * ms;
  expect_times(t, passes, c, passed);
  expect_times(t, out, g, g + c);
  expect_times(t, blocked, passed, passed + peer);
}

/// Every operation takes its host thread 1 ms, and 2 ms more for each dependency on
/// another queue.
Topology slow_issue() {
  return two_gpu([](auto& d) {
    d.issue.per_op = Seconds{1e-3};
    d.issue.per_dependency = Seconds{2e-3};
  });
}

TEST(SimIssue, OperationsStartNoEarlierThanTheyAreIssued) {
  const Topology machine = slow_issue();
  HandPlan p{machine};
  const OpId a = p.copy(host, gpu0, 1 * MB);       // issued at 1 ms, takes 0.11 ms
  const OpId other = p.copy(host, gpu1, 1 * MB);   // gpu1's thread: 1 ms
  const OpId b = p.copy(host, gpu0, 1 * MB, {a});  // same queue, no wait: 2 ms
  const OpId kernel =
      p.gemm(gpu0, 1024, 1024, 1024, {b, other});  // two other queues: 2 + 1 + 4 = 7 ms
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  constexpr double shared =
      10 * us + 1.0 / 6 * ms;  // 1 MB at 6 GB/s: both copies share the uplink
  expect_times(t, a, 1 * ms, 1 * ms + shared);
  expect_times(t, other, 1 * ms, 1 * ms + shared);
  expect_times(t, b, 2 * ms, 2.11 * ms);
  expect_times(t, kernel, 7 * ms, 7 * ms + 2.0 * 1024 * 1024 * 1024 / 1e12);
}

TEST(SimIssue, ASingleIssuerSubmitsAllOperations) {
  const Topology machine = slow_issue();
  HandPlan p{machine};
  const OpId a = p.copy(host, gpu0, 1 * MB), b = p.copy(host, gpu1, 1 * MB);
  p.plan.single_issuer = true;
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, a, 1 * ms, 1.11 * ms);
  expect_times(t, b, 2 * ms, 2.11 * ms);
}

TEST(SimIssue, EventLatencyDelaysOperationsAfterCopies) {
  const Topology machine = two_gpu([](auto& d) { d.issue.hand_on = Seconds{3e-3}; });
  HandPlan p{machine};
  constexpr double copied = 0.11 * ms, kernel = 2.0 * 1024 * 1024 * 1024 / 1e12;
  const OpId in = p.copy(host, gpu0, 1 * MB), more = p.copy(host, gpu0, 1 * MB, {in});
  const OpId first = p.gemm(gpu0, 1024, 1024, 1024, {in});
  const OpId second = p.gemm(gpu0, 1024, 1024, 1024, {first}, 1);
  const OpId out = p.copy(gpu0, host, 1 * MB, {second});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, more, copied, 2 * copied);  // in the same queue: no event latency
  expect_times(t, first, copied + 3 * ms, copied + 3 * ms + kernel);
  expect_times(t, second, copied + 3 * ms + kernel,
               copied + 3 * ms + 2 * kernel);  // kernels have one front end
  expect_times(t, out, copied + 6 * ms + 2 * kernel, 2 * copied + 6 * ms + 2 * kernel);
}

// A kernel on an idle GPU waits for another program; a kernel that is ready earlier does
// not.
TEST(SimKernels, OnlyKernelsOnAnIdleGpuRegainTheGpu) {
  const Topology machine =
      two_gpu([](auto& d) { d.kernels.front().regain = Seconds{1e-3}; });
  constexpr double kernel = 2.0 * 1024 * 1024 * 1024 / 1e12;
  HandPlan p{machine};
  const OpId first = p.gemm(gpu0, 1024, 1024, 1024, {});
  const OpId in_line = p.gemm(gpu0, 1024, 1024, 1024, {}, 1);
  const OpId after_both = p.gemm(gpu0, 1024, 1024, 1024, {first, in_line});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, first, 0, kernel + 1 * ms);
  expect_times(t, in_line, kernel + 1 * ms, 2 * kernel + 1 * ms);
  expect_times(t, after_both, 2 * kernel + 1 * ms, 3 * kernel + 2 * ms);
  EXPECT_NEAR(estimate_plan(p.plan, machine, Resources{machine}).makespan.value,
              3 * kernel + 2 * ms, 1e-12);
}

TEST(SimIssue, APlanAsAGraphHasTheIssueCostsOfTheGraph) {
  const Topology machine = two_gpu([](auto& d) {
    d.issue.per_op = Seconds{1e-3};
    d.issue.graph = GraphCost{.per_call = Seconds{7e-6}, .per_copy = Seconds{2e-6}};
  });
  HandPlan p{machine};
  p.plan.graph = true;
  const OpId copy = p.copy(host, gpu0, 1 * MB);
  expect_times(SimExecutor{machine}.execute(p.plan), copy, 9 * us, 0.11 * ms + 9 * us);
}

TEST(SimIssue, LatencyBetweenGpusDelaysOperationsOfAGraph) {
  const Topology machine = two_gpu([](auto& d) {
    d.issue.hand_on = Seconds{1e-3};
    d.issue.graph = GraphCost{.between_gpus = Seconds{5e-3}};
  });
  constexpr double copied = 0.11 * ms, kernel = 2.0 * 1024 * 1024 * 1024 / 1e12;
  for (const bool graph : {true, false}) {
    HandPlan p{machine};
    p.plan.graph = graph;
    const OpId in = p.copy(host, gpu0, 1 * MB),
               first = p.gemm(gpu0, 1024, 1024, 1024, {in});
    const OpId second = p.gemm(gpu1, 1024, 1024, 1024, {first});
    const Timeline t = SimExecutor{machine}.execute(p.plan);
    const double end = copied + 1 * ms + kernel, begin = end + (graph ? 5 * ms : 0);
    expect_times(t, first, copied + 1 * ms, end);
    expect_times(t, second, begin, begin + kernel);
  }
}

// In a graph a join is not a node: its successors get the event latency of the kernel on
// GPU 1, whichever GPU the join belongs to.
TEST(SimIssue, LatencyBetweenGpusPassesThroughJoins) {
  const Topology machine =
      two_gpu([](auto& d) { d.issue.graph = GraphCost{.between_gpus = Seconds{5e-3}}; });
  constexpr double kernel = 2.0 * 1024 * 1024 * 1024 / 1e12;
  HandPlan p{machine};
  p.plan.graph = true;
  const OpId first = p.gemm(gpu1, 1024, 1024, 1024, {}), join = p.join(gpu0, {first}),
             again = p.join(gpu0, {join});
  const OpId there = p.gemm(gpu1, 1024, 1024, 1024, {join}, 1),
             elsewhere = p.gemm(gpu0, 1024, 1024, 1024, {again});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, join, kernel, kernel);
  expect_times(t, there, kernel, 2 * kernel);
  expect_times(t, elsewhere, kernel + 5 * ms, 2 * kernel + 5 * ms);
}

// A kernel that waits for a join gets the event latency of the copy before the join; of
// two copies, of the later one.
TEST(SimIssue, EventLatencyPassesThroughJoins) {
  const Topology machine = two_gpu([](auto& d) { d.issue.hand_on = Seconds{1e-3}; });
  HandPlan p{machine};
  const OpId first = p.copy(host, gpu0, 1 * MB), second = p.copy(host, gpu0, 1 * MB);
  const OpId join = p.join(gpu0, {first, second}),
             kernel = p.gemm(gpu0, 1024, 1024, 1024, {join});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  EXPECT_EQ(t.ops[join.index()].start, t.ops[second.index()].end);
  EXPECT_NEAR(t.ops[kernel.index()].start, t.ops[second.index()].end + 1 * ms, 1e-12);
}

// If two joins depend on one queue, its latest operation counts, whichever join ends
// last.
TEST(SimIssue, JoinsPassTheEventLatencyOfTheLatestOperation) {
  const Topology machine = two_gpu([](auto& d) { d.issue.hand_on = Seconds{1}; });
  HandPlan p{machine};
  const OpId early = p.copy(host, gpu0, 1 * MB), late = p.copy(host, gpu0, 1 * MB);
  const OpId other = p.gemm(gpu1, 1024, 1024, 1024, {});
  const OpId inner = p.join(gpu0, {early, other}), outer = p.join(gpu0, {inner, late});
  const OpId kernel = p.gemm(gpu0, 1024, 1024, 1024, {outer});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  ASSERT_GT(t.ops[inner.index()].end, t.ops[late.index()].end);
  EXPECT_NEAR(t.ops[kernel.index()].start, t.ops[late.index()].end + 1, 1e-12);
}

TEST(SimIssue, CostsCanBeIgnored) {
  const Topology machine = slow_issue();
  HandPlan p{machine};
  const OpId a = p.copy(host, gpu0, 1 * MB);
  expect_times(SimExecutor(machine, SimOptions{.issue_cost = false}).execute(p.plan), a,
               0, 0.11 * ms);
}

}  // namespace
}  // namespace tilerail::testing
