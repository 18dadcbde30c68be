// Libraries whose GPUs ask for tasks while time goes by: what they move, and when they ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cost/estimate.hpp"
#include "plan/validate.hpp"
#include "sched/place/distribution.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

struct Copies {
  int to_gpus = 0, home = 0, between = 0;
};

Copies copies_of(const Plan& plan, const Topology& machine) {
  Copies copies;
  for (const Op& op : plan.ops) {
    const Queue& queue = plan.queue(op.queue);
    if (queue.kind != Queue::Kind::copy) continue;
    ++(machine.is_host(queue.src) ? copies.to_gpus : machine.is_host(queue.dst) ? copies.home : copies.between);
  }
  return copies;
}

Plan planned(const Topology& machine, const Policy& policy, const GemmProblem& problem) {
  Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
  validate(plan, machine);
  return plan;
}

// Thesis figure 3.5: its measured transfers of a 16384^3 DGEMM with T = 2048 on eight V100.
TEST(Xkblas, MovesWhatWasMeasured) {
  const Topology machine = shipped("clx-ai");
  const Copies from_host = copies_of(planned(machine, policy("xkblas"), cube(16384)), machine);
  EXPECT_EQ(from_host.to_gpus, 192);
  EXPECT_EQ(from_host.home, 64);
  EXPECT_EQ(from_host.between, 256);
}

TEST(Xkblas, OwnersAreDealtInBothDirections) {
  const Topology machine = shipped("clx-ai");
  const Plan plan = planned(machine, policy("xkblas", {"tile=1024"}), cube(4096));
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<MemoryId>> written_by;
  for (const Op& op : plan.ops) {
    const Queue& queue = plan.queue(op.queue);
    if (queue.kind == Queue::Kind::copy && machine.is_host(queue.dst))
      written_by[{op.y.row / 1024, op.y.col / 1024}].insert(queue.src);
  }
  ASSERT_EQ(written_by.size(), 16u);
  for (const auto& [tile, gpus] : written_by) {
    const auto owner = static_cast<std::size_t>(tile.first % 2 * 4 + tile.second % 4);
    EXPECT_THAT(gpus, ::testing::ElementsAre(machine.gpus()[owner])) << tile.first << " " << tile.second;
  }
}

// What the host waits for stands as a dependency: the k of a tile follow one another, so that copies for the next k
// wait for the kernel of the last one.
TEST(Xkblas, AsksForTheNextKWhenTheLastOneHasEnded) {
  const Topology machine = shipped("two-gpu");
  GemmProblem problem = cube(1024);
  problem.k = 8192;
  const Plan plan = plan_gemm(problem, machine, std::vector{machine.gpus()[0]}, policy("xkblas", {"tile=1024"}));
  std::vector<OpId> kernels;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const OpId id{i};
    if (plan.op(id).kind == OpKind::gemm) kernels.push_back(id);
    if (plan.op(id).kind != OpKind::copy || kernels.empty()) continue;
    EXPECT_THAT(plan.deps_of(id), ::testing::Contains(kernels.back())) << i;
  }
  EXPECT_EQ(kernels.size(), 8u);
}

// Four at a time from the end of the queue: of 2 x 2 tiles, GPU 0 takes all.
TEST(Blasx, TakesTilesInBatchesOfFour) {
  const Topology machine = shipped("clx-ai");
  const auto computing = [&](std::int64_t side) {
    std::set<MemoryId> gpus;
    for (const Plan plan = planned(machine, policy("blasx"), cube(side)); const Op& op : plan.ops)
      if (op.kind == OpKind::gemm) gpus.insert(plan.queue(op.queue).src);
    return gpus.size();
  };
  EXPECT_EQ(computing(4096), 1u);
  EXPECT_EQ(computing(8192), 4u);
}

// The first batches of eight GPUs: each has one row of tiles of A, four columns of B and four tiles of C, and no GPU
// shows what it has before its batch has ended. The trace of thesis figure 3.5 has 385 tiles from the host to GPUs, and
// 32 from the host whose end it does not name.
TEST(Blasx, FetchesFromOthersOnlyWhatEarlierBatchesBrought) {
  const Topology machine = shipped("clx-ai");
  const Copies copies = copies_of(planned(machine, policy("blasx"), cube(16384)), machine);
  EXPECT_EQ(copies.home, 64);
  EXPECT_NEAR(copies.to_gpus, 417, 42);
  EXPECT_GT(copies.between, 100);
}

TEST(Blasx, AWarmCallFetchesOnlyC) {
  const Topology machine = shipped("clx-ai");
  const Policy warm = policy("blasx", {"warm=on"});
  const Plan plan = planned(machine, warm, cube(4096));
  EXPECT_TRUE(plan.warm);
  const Copies copies = copies_of(plan, machine);
  EXPECT_EQ(copies.to_gpus, 4);
  EXPECT_EQ(copies.home, 4);
  EXPECT_EQ(copies.between, 0);
  expect_input_error([&] { require_kernels(plan); }, {"warm", "simulated"});
  const Resources resources{machine};
  const auto seconds = [&](const Plan& of) { return estimate_plan(of, machine, resources).makespan; };
  EXPECT_LT(seconds(plan), seconds(planned(machine, policy("blasx"), cube(4096))));
}

// The tiles of sub-kernel n + 1 are asked for when those of n have come, which may be from elsewhere: A comes from
// gpu1, B and C from the host.
TEST(Paralia, AsksForTilesInTurn) {
  const Topology machine = shipped("two-gpu");
  const MemoryId host = machine.hosts()[0], gpu0 = machine.gpus()[0], gpu1 = machine.gpus()[1];
  GemmProblem problem = cube(4096);
  problem.place_a = gpu1;
  const auto awaits_the_host = [&](const char* agent) {
    const Plan plan = plan_gemm(problem, machine, std::vector{gpu0}, policy("paralia", {"tile=1024", agent}));
    std::vector<OpId> of_a;
    for (std::size_t i = 0; i < plan.ops.size(); ++i)
      if (const Queue& queue = plan.queue(plan.ops[i].queue); queue.src == gpu1 && queue.dst == gpu0)
        of_a.push_back(OpId{i});
    return std::ranges::any_of(plan.deps_of(of_a.at(1)), [&](OpId dep) {
      return plan.op(dep).kind == OpKind::copy && plan.queue(plan.op(dep).queue).src == host;
    });
  };
  EXPECT_TRUE(awaits_the_host("agent=paralia"));
  EXPECT_FALSE(awaits_the_host("agent=none"));
}

TEST(RuntimeCosts, ThoseOfACallAreOfEachGpuThatTakesPart) {
  const Topology machine = shipped("clx-ai");
  const auto of_call = [&](std::size_t gpus) {
    return plan_gemm(cube(4096), machine, std::span{machine.gpus()}.first(gpus), policy("paralia", {"gpu-us=500"}))
        .runtime.call.value;
  };
  EXPECT_DOUBLE_EQ(of_call(1), 500e-6);
  EXPECT_DOUBLE_EQ(of_call(8), 8 * 500e-6);
}

TEST(Distribution, EvenBlocksDealTheRestInTurn) {
  const std::vector<double> equal(2, 1.0);
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 2, 5, {1, 2}, equal),
              ::testing::ElementsAre(0, 0, 1, 1, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 1, 3, {2, 1}, equal), ::testing::ElementsAre(0, 1, 0))
      << "fewer rows than the grid has: all are dealt";
}

}  // namespace
}  // namespace tilerail::testing
