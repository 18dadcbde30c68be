#include "report/timeline/critical_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "plan/draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

using testing::ElementsAre;

Topology machine_with_workers(std::optional<int> workers) {
  auto d = test::shipped("two-gpu").description();
  for (Memory& memory : d.memories) memory.engines.total = workers;
  return Topology{std::move(d)};
}

/// On one GPU: a copy of a tile, a kernel on it, and two kernels that wait for no other operation, each kernel in a
/// compute stream of its own. Every kernel fills the GPU.
struct Streams {
  Topology machine;
  Plan plan;
  OpId fetch, after, first, second;

  explicit Streams(std::optional<int> workers = {}) : machine{machine_with_workers(workers)} {
    const MemoryId host = machine.hosts()[0], gpu = machine.gpus()[0];
    PlanDraft draft{machine};
    const View tile = draft.tile(gpu, 1024, 1024);
    const auto kernel = [&](int stream, std::vector<OpId> deps) {
      return draft.gemm(draft.compute_queue(gpu, stream), tile, tile, tile, {}, std::move(deps));
    };
    fetch = draft.copy(draft.copy_queue(host, gpu), draft.tile(host, 1024, 1024), tile);
    after = kernel(0, {fetch});
    first = kernel(1, {});
    second = kernel(2, {});
    draft.plan.devices = {gpu};
    plan = draft.plan;
  }

  /// With the times of `fetch`, `after`, `first` and `second`.
  std::vector<OpId> path(const std::vector<OpTime>& times) const {
    return critical_path(plan, times, EngineUse{plan, machine, times});
  }
};

TEST(CriticalPath, GoesOnAtTheKernelWhoseEndFreedTheGpu) {
  const Streams s;
  EXPECT_THAT(s.path({{0, 1}, {4, 6}, {0, 2}, {2, 4}}), ElementsAre(s.after, s.second, s.first));
}

TEST(CriticalPath, AGapBehindThatKernelChangesNothing) {
  const Streams s;
  EXPECT_THAT(s.path({{0, 1}, {4.5, 6}, {0, 2}, {2, 4}}), ElementsAre(s.after, s.second, s.first));
}

TEST(CriticalPath, GoesOnAtTheDependencyThatEndsAfterTheGpuIsFree) {
  const Streams s;
  EXPECT_THAT(s.path({{0, 5}, {5, 7}, {0, 2}, {2, 4}}), ElementsAre(s.after, s.fetch));
}

TEST(CriticalPath, WhatStillRunsWhenAnOperationStartsFreedNothing) {
  const Streams s;
  EXPECT_THAT(s.path({{0, 1}, {2, 6}, {0, 3}, {0, 4}}), ElementsAre(s.after, s.fetch));
}

TEST(CriticalPath, GoesOnAtTheKernelThatLeftNoRoomThoughAWorkerWasFree) {
  // The copy ends while two workers are busy, which no kernel waits for: they wait for the room that `first` fills.
  const Streams s{2};
  EXPECT_THAT(s.path({{0, 1}, {4, 6}, {0, 2}, {2, 4}}), ElementsAre(s.after, s.second, s.first));
}

TEST(CriticalPath, EndsWhereATimelineContradictsItself) {
  // `after` is measured before the copy that it waits for.
  const Streams s;
  EXPECT_THAT(s.path({{5, 9}, {1, 2}, {0, 1}, {0, 0}}), ElementsAre(s.fetch));
}

}  // namespace
}  // namespace tilerail
