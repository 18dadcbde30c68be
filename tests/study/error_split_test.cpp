#include "study/error_split.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/plan_draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::study {
namespace {

/// copy a, then kernel k on its data; copy b in another queue of the same copy engine;
/// kernel l after both.
struct Sample {
  Topology topology;
  Plan plan;
  /// `workers` on each GPU instead of copy engines and compute units; 0: no change.
  explicit Sample(int workers = 0) : topology{machine(workers)} {
    const MemoryId host = topology.hosts()[0], gpu = topology.gpus()[0];
    PlanDraft draft{topology};
    const View tile = draft.tile(gpu, 8, 8), there = draft.tile(host, 8, 8);
    const OpId a = draft.copy(draft.copy_queue(host, gpu), there, tile);
    const OpId b = draft.copy(draft.copy_queue(host, gpu, 1), there, tile);
    const OpId k = draft.gemm(draft.compute_queue(gpu), tile, tile, tile, {}, {a});
    draft.gemm(draft.compute_queue(gpu), tile, tile, tile, {}, {b, k});  // l
    plan = draft.plan;
  }
  static Topology machine(int workers) {
    auto d = test::shipped("hgx-h200").description();
    if (workers > 0)
      for (Memory& memory : d.memories)
        if (memory.processor) memory.processor->engines.total = workers;
    return Topology{std::move(d)};
  }
};

/// For the sample plan, with the times of a, b, k and l.
ErrorSplit split_of(std::vector<OpTime> predicted, std::vector<OpTime> measured,
                    int workers = 0) {
  const Sample s{workers};
  return split_error(s.plan, s.topology, {"test", "", std::move(predicted)},
                     {"test", "", std::move(measured)});
}

void expect_parts(const ErrorSplit& split, const ErrorSplit& expected) {
  EXPECT_DOUBLE_EQ(split.kernel, expected.kernel);
  EXPECT_DOUBLE_EQ(split.copy, expected.copy);
  EXPECT_DOUBLE_EQ(split.waiting, expected.waiting);
  EXPECT_DOUBLE_EQ(split.issue, expected.issue);
}

TEST(ErrorSplit, IsZeroForEqualTimelines) {
  const std::vector<OpTime> times{{0, 1}, {1, 2}, {1, 4}, {4, 6}};
  expect_parts(split_of(times, times), {});
}

TEST(ErrorSplit, FollowsTheMeasuredPathByKind) {
  // Measured path a, k, l: a takes 1.5 instead of 1, k starts 0.25 late with its GPU
  // idle, l takes 3 instead of 2.
  const ErrorSplit split = split_of({{0, 1}, {1, 2}, {1, 4}, {4, 6}},
                                    {{0, 1.5}, {1.5, 2.5}, {1.75, 4.75}, {4.75, 7.75}});
  expect_parts(split, {.kernel = -1, .copy = -0.5, .issue = -0.25});
  EXPECT_DOUBLE_EQ(split.total(), 6 - 7.75);
}

TEST(ErrorSplit, APauseWhileTheEngineIsBusyIsWaiting) {
  // Measured path a, b, l: b runs after a on the same engine without a dependency;
  // predicted, both run simultaneously, two seconds less. Predicted, l waits one second
  // for k after b, with the GPU busy.
  const ErrorSplit split =
      split_of({{0, 2}, {0, 2}, {2, 3}, {3, 4}}, {{0, 2}, {2, 4}, {2, 3}, {4, 5}});
  expect_parts(split, {.waiting = -2 + 1});
  EXPECT_DOUBLE_EQ(split.total(), 4 - 5.0);
}

TEST(ErrorSplit, AnotherOperationThatIsPredictedToEndLastCountsAsWaiting) {
  // Measured, l ends last; predicted, b ends two seconds after l.
  const ErrorSplit split =
      split_of({{0, 1}, {1, 8}, {1, 4}, {4, 6}}, {{0, 1}, {1, 2}, {1, 4}, {4, 6}});
  expect_parts(split, {.waiting = 2});
  EXPECT_DOUBLE_EQ(split.total(), 8 - 6);
}

TEST(ErrorSplit, TheOperationThatOccupiedTheOnlyWorkerIsOnThePath) {
  // One worker executes a, k, b and l in turn; k takes three seconds instead of one. b is
  // ready at 0, but the path continues at k, which frees the worker. Predicted, the
  // worker executes b before k, so the pauses are 1 - 2 + 1 = 0.
  const ErrorSplit split =
      split_of({{0, 1}, {2, 3}, {1, 2}, {3, 5}}, {{0, 1}, {4, 5}, {1, 4}, {5, 7}}, 1);
  expect_parts(split, {.kernel = -2});
  EXPECT_DOUBLE_EQ(split.total(), 5 - 7.0);
}

TEST(ErrorSplit, APauseWhileOneOfTwoWorkersIsFreeIsIssue) {
  // The path is a, k, l. Measured, k starts one second after a: b occupies one worker,
  // the other is idle.
  const ErrorSplit split =
      split_of({{0, 1}, {0, 2}, {1, 5}, {5, 7}}, {{0, 1}, {0, 2}, {2, 6}, {6, 8}}, 2);
  expect_parts(split, {.issue = -1});
}

/// Two kernels that each fill the device, in separate queues: the second starts when the
/// first ends, after 2 s as predicted and after 4 s as measured.
ErrorSplit split_of_a_slow_kernel_in_another_queue(std::optional<int> workers) {
  auto d = test::shipped("two-gpu").description();
  for (Memory& memory : d.memories)
    if (memory.processor) memory.processor->engines.total = workers;
  const Topology machine{std::move(d)};
  PlanDraft draft{machine};
  const MemoryId gpu = machine.gpus()[0];
  const View tile = draft.tile(gpu, 1024, 1024);
  for (const int queue : {0, 1})
    draft.gemm(draft.compute_queue(gpu, queue), tile, tile, tile, {}, {});
  draft.plan.devices = {gpu};
  return split_error(draft.plan, machine, {"test", "", {{0, 2}, {2, 4}}},
                     {"test", "", {{0, 4}, {4, 6}}});
}

TEST(ErrorSplit, ASlowKernelOfAnotherStreamCountsAsAKernel) {
  expect_parts(split_of_a_slow_kernel_in_another_queue(std::nullopt),
               {.kernel = 2.0 - 4});
}

TEST(ErrorSplit, ASlowKernelThatFilledTheGpuCountsAsAKernelDespiteAFreeWorker) {
  expect_parts(split_of_a_slow_kernel_in_another_queue(2), {.kernel = 2.0 - 4});
}

}  // namespace
}  // namespace tilerail::study
