#include "report/timeline/critical_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/plan_draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Topology machine_with_workers(std::optional<int> workers) {
  auto d = test::shipped("two-gpu").description();
  for (Memory& memory : d.memories)
    if (memory.processor) memory.processor->engines.total = workers;
  return Topology{std::move(d)};
}

/// Each GPU has 5 multiprocessors. A product of 1024 x 1024 fills 0.6 of a GPU: it takes
/// 3 of them for the duration of a launch.
Topology machine_with_small_kernels(int workers) {
  auto d = machine_with_workers(workers).description();
  for (KernelTimes& kernels : d.kernels) {
    kernels.launch = Seconds{1};
    kernels.multiprocessors = 5;
    kernels.block_m = 1024, kernels.block_n = 342;
  }
  return Topology{std::move(d)};
}

/// On one GPU: a copy of a tile, a kernel on this tile, and two kernels without
/// dependencies, each kernel in a separate compute stream. On a shipped machine every
/// kernel fills the GPU.
struct Streams {
  Topology machine;
  Plan plan;
  OpId fetch, after, first, second;

  explicit Streams(Topology of = machine_with_workers({})) : machine{std::move(of)} {
    const MemoryId host = machine.hosts()[0], gpu = machine.gpus()[0];
    PlanDraft draft{machine};
    const View tile = draft.tile(gpu, 1024, 1024);
    const auto kernel = [&](int stream, std::vector<OpId> deps) {
      return draft.gemm(draft.compute_queue(gpu, stream), tile, tile, tile, {},
                        std::move(deps));
    };
    fetch = draft.copy(draft.copy_queue(host, gpu), draft.tile(host, 1024, 1024), tile);
    after = kernel(0, {fetch});
    first = kernel(1, {});
    second = kernel(2, {});
    draft.plan.devices = {gpu};
    plan = draft.plan;
  }

  /// Times are for `fetch`, `after`, `first` and `second`.
  std::vector<OpId> path(const std::vector<OpTime>& times) const {
    return critical_path(plan, times, EngineUse{plan, machine, times});
  }
};

/// The path of four operations with these times, from its end.
struct Case {
  std::string_view name;
  std::vector<OpTime> times;  // for `fetch`, `after`, `first`, `second`
  std::vector<OpId Streams::*> path;
};

class CriticalPathOf : public ::testing::TestWithParam<Case> {};

TEST_P(CriticalPathOf, OneGpu) {
  const Streams s;
  std::vector<OpId> expected;
  for (const auto op : GetParam().path) expected.push_back(s.*op);
  EXPECT_THAT(s.path(GetParam().times), ElementsAreArray(expected));
}

const std::vector<Case> cases{
    {"GoesOnAtTheKernelWhoseEndFreedTheGpu",
     {{0, 1}, {4, 6}, {0, 2}, {2, 4}},
     {&Streams::after, &Streams::second, &Streams::first}},
    {"AGapBehindThatKernelChangesNothing",
     {{0, 1}, {4.5, 6}, {0, 2}, {2, 4}},
     {&Streams::after, &Streams::second, &Streams::first}},
    {"GoesOnAtTheDependencyThatEndsAfterTheGpuIsFree",
     {{0, 5}, {5, 7}, {0, 2}, {2, 4}},
     {&Streams::after, &Streams::fetch}},
    {"WhatStillRunsWhenAnOperationStartsFreedNothing",
     {{0, 1}, {2, 6}, {0, 3}, {0, 4}},
     {&Streams::after, &Streams::fetch}},
    {"WhatEndsJustWhenAnOperationIsReadyDidNotHoldIt",
     {{0, 2}, {3, 4}, {0, 2}, {0, 0}},
     {&Streams::after, &Streams::fetch}},
    {"WhatTakesNoTimeHoldsNothing",
     {{0, 1}, {3, 4}, {0, 2}, {2, 2}},
     {&Streams::after, &Streams::first}},
    {"ACopyMeasuredBehindWhatWaitsForItEndsThePath",
     {{5, 9}, {1, 2}, {0, 1}, {0, 0}},
     {&Streams::fetch}},
};

INSTANTIATE_TEST_SUITE_P(Times, CriticalPathOf, ::testing::ValuesIn(cases),
                         [](const auto& test) { return std::string{test.param.name}; });

TEST(CriticalPath, ContinuesAtTheKernelThatFilledTheGpuDespiteAFreeWorker) {
  // The copy ends while two workers are busy. However, kernels do not wait for workers:
  // they wait for the room filled by `first`.
  const Streams s{machine_with_workers(2)};
  EXPECT_THAT(s.path({{0, 1}, {4, 6}, {0, 2}, {2, 4}}),
              ElementsAre(s.after, s.second, s.first));
}

TEST(CriticalPath, AKernelHasRoomUntilRunningKernelsFillTheGpu) {
  // One kernel fills 0.6 of the GPU, two kernels all of it, from 2 to 4.
  const Streams s{machine_with_small_kernels(4)};
  const std::vector<OpTime> times{{0, 1}, {6, 8}, {0, 5}, {2, 4}};
  const EngineUse::Pause pause = EngineUse{s.plan, s.machine, times}.pause(s.after, 1, 6);
  EXPECT_EQ(pause.waiting, 2);
  EXPECT_EQ(pause.room, 2);
  EXPECT_EQ(pause.issue, 3);
  EXPECT_THAT(s.path(times), ElementsAre(s.after, s.second));
}

TEST(CriticalPath, ACopyLeavesNoRoomHoweverLongKernelsFillTheGpu) {
  // `second` starts while `first` still fills the GPU, so no operation freed it.
  const Streams s{machine_with_workers(4)};
  EXPECT_THAT(s.path({{0, 2}, {4, 5}, {0, 4}, {3, 9}}), ElementsAre(s.second));
}

TEST(CriticalPath, EndsAtAContradictionOfTheTimeline) {
  // A kernel starts before its dependency, which starts at the kernel's end. Each is in
  // the path once.
  const Topology machine = machine_with_workers({});
  PlanDraft draft{machine};
  const MemoryId gpu = machine.gpus()[0];
  const View tile = draft.tile(gpu, 1024, 1024);
  const OpId needed = draft.gemm(draft.compute_queue(gpu, 0), tile, tile, tile, {});
  const OpId early =
      draft.gemm(draft.compute_queue(gpu, 1), tile, tile, tile, {}, {needed});
  draft.plan.devices = {gpu};
  const std::vector<OpTime> times{{2, 4}, {0, 2}};
  EXPECT_THAT(critical_path(draft.plan, times, EngineUse{draft.plan, machine, times}),
              ElementsAre(needed, early));
}

TEST(EngineUse, ARoleHasTheEnginesOfTheMachine) {
  const MemoryId host{0}, gpu{1}, peer{2};
  struct Role {
    std::optional<int> Engines::*engines;
    MemoryId from, to;
  };
  // Two copies that could both start at 0 run one after another.
  const auto waiting = [&](const Role& role, int engines) {
    auto d = machine_with_workers({}).description();
    d.memories[gpu.index()].processor->engines.*role.engines = engines;
    const Topology machine{std::move(d)};
    PlanDraft draft{machine};
    for (const int queue : {0, 1})
      draft.copy(draft.copy_queue(role.from, role.to, queue),
                 draft.tile(role.from, 64, 64), draft.tile(role.to, 64, 64));
    draft.plan.devices = {gpu, peer};
    const std::vector<OpTime> times{{0, 2}, {2, 4}};
    return EngineUse{draft.plan, machine, times}.pause(OpId{1}, 0, 2).waiting;
  };
  for (const Role& role : {Role{&Engines::h2d, host, gpu}, Role{&Engines::d2h, gpu, host},
                           Role{&Engines::peer, gpu, peer}}) {
    EXPECT_EQ(waiting(role, 1), 2) << "the one engine is taken";
    EXPECT_EQ(waiting(role, 2), 0) << "of two engines one is free";
  }
}

}  // namespace
}  // namespace tilerail
