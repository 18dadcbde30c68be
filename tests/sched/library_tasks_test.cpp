// Libraries whose GPUs request tasks in model time: their copies, and the times of their
// requests.
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
#include "tests/support/plan_facts.hpp"

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
    ++(machine.is_host(queue.src)   ? copies.to_gpus
       : machine.is_host(queue.dst) ? copies.home
                                    : copies.between);
  }
  return copies;
}

Plan planned(const Topology& machine, const Policy& policy, const GemmProblem& problem) {
  Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
  validate(plan, machine);
  return plan;
}

// Thesis figure 3.5: measured transfers of a 16384^3 DGEMM with T = 2048 on eight V100.
TEST(Xkblas, CopiesAsManyTilesAsMeasured) {
  const Topology machine = shipped("clx-ai");
  const Copies from_host =
      copies_of(planned(machine, policy("xkblas"), cube(16384)), machine);
  EXPECT_EQ(from_host.to_gpus, 192);
  EXPECT_EQ(from_host.home, 64);
  EXPECT_EQ(from_host.between, 256);
}

/// Whether a view is of a user's matrix.
bool of_user(const Plan& plan, const View& view) {
  return !plan.buffer(view.buffer).in_arena;
}

/// 16384^3 with A, B and C on GPUs 0, 1 and 2.
GemmProblem on_three(const Topology& machine) {
  GemmProblem problem = cube(16384);
  problem.place_a = machine.gpus()[0], problem.place_b = machine.gpus()[1],
  problem.place_c = machine.gpus()[2];
  return problem;
}

// The trace of that run has 469 copies of tiles between GPUs (copies over the host count
// once here) and, within GPUs, 16 on GPU 1 and 16 on GPU 2: all tiles of B and C that
// these need. GPU 0 had 11 of its 32 tiles of A, as others had requested them first; here
// GPUs request in the order of their numbers, and it has 17.
TEST(Xkblas, CopiesWithTheHomeOfATileOverTheHostIfGpusLackOwnLinks) {
  const Topology machine = shipped("clx-ai");
  const Plan plan =
      planned(machine, policy("xkblas", {"peer-copies=staged-home(chunks=1)"}),
              on_three(machine));
  std::map<MemoryId, int> within;
  int over_host = 0, direct = 0;
  for (const Op& op : plan.ops) {
    const Queue& queue = plan.queue(op.queue);
    const bool in_place = std::ranges::any_of(
        plan.operands_of(op), [&](const View& view) { return of_user(plan, view); });
    EXPECT_FALSE(op.kind == OpKind::gemm && in_place);
    if (op.kind != OpKind::copy) continue;
    if (queue.src == queue.dst) ++within[queue.src];
    over_host += machine.is_host(queue.dst);
    if (queue.src == queue.dst || machine.is_host(queue.src) ||
        machine.is_host(queue.dst))
      continue;
    ++direct;
    EXPECT_FALSE(in_place);
  }
  EXPECT_NEAR(over_host + direct, 469, 47);
  EXPECT_EQ(within[machine.gpus()[1]], 16);
  EXPECT_EQ(within[machine.gpus()[2]], 16);
  EXPECT_EQ(within[machine.gpus()[0]], 17);
}

TEST(Xkblas, CopiesFromTheHomeOfATileDirectlyIfGpusHaveOwnLinks) {
  const Topology machine = shipped("karolina-hgx-a100");
  const Plan plan = planned(machine, policy("xkblas"), on_three(machine));
  EXPECT_EQ(copies_of(plan, machine).to_gpus + copies_of(plan, machine).home, 0);
  EXPECT_THAT(plan.origin.decisions,
              ::testing::Contains(
                  ::testing::AllOf(::testing::Field(&PlanDecision::key, "peer-copies"),
                                   ::testing::Field(&PlanDecision::value, "direct"))));
}

// Sums of parts of C, between tiles of GPUs, are not staged.
TEST(Xkblas, OnlyHomesAreStaged) {
  const Topology machine = shipped("clx-ai");
  const auto plan = [&](const char* copies) {
    return planned(
        machine,
        policy("gemmex", {"tile=1024", "grid=square(layers=2)", "batch=off", copies}),
        cube(4096));
  };
  EXPECT_EQ(plan("peer-copies=staged-home").ops.size(),
            plan("peer-copies=direct").ops.size());
  EXPECT_GT(plan("peer-copies=staged").ops.size(), plan("peer-copies=direct").ops.size());
}

// Copies within GPU 0 of A, B and C double its memory use.
TEST(Xkblas, CopiesWithinAGpuNeedMemory) {
  const Topology machine = shipped("two-gpu");
  GemmProblem problem = cube(2048);
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  const auto peak = [&](const char* in_place) {
    const std::vector one{machine.gpus()[0]};
    return plan_gemm(problem, machine, one,
                     policy("gemmex", {"tile=512", "c-tiles=eager", in_place}))
        .peak_bytes[one[0].index()];
  };
  EXPECT_EQ(peak("in-place=on"), 0);
  EXPECT_EQ(peak("in-place=off"), 3 * 8 * 2048 * 2048);
}

TEST(Xkblas, OwnersAreDealtInBothDirections) {
  const Topology machine = shipped("clx-ai");
  const Plan plan = planned(machine, policy("xkblas", {"tile=1024"}), cube(4096));
  std::map<std::pair<int64_t, int64_t>, std::set<MemoryId>> written_by;
  for (const Op& op : plan.ops) {
    const Queue& queue = plan.queue(op.queue);
    if (queue.kind == Queue::Kind::copy && machine.is_host(queue.dst))
      written_by[{plan.result(op).row / 1024, plan.result(op).col / 1024}].insert(
          queue.src);
  }
  ASSERT_EQ(written_by.size(), 16u);
  for (const auto& [tile, gpus] : written_by) {
    const auto owner = size_t(tile.first % 2 * 4 + tile.second % 4);
    EXPECT_THAT(gpus, ::testing::ElementsAre(machine.gpus()[owner]))
        << tile.first << " " << tile.second;
  }
}

// Waits of the host are dependencies: the k of a tile run in sequence, so copies for the
// next k depend on the kernel of the previous k.
TEST(Xkblas, RequestsTheNextKAfterThePreviousKernel) {
  const Topology machine = shipped("two-gpu");
  GemmProblem problem = cube(1024);
  problem.k = 8192;
  const Plan plan = plan_gemm(problem, machine, std::vector{machine.gpus()[0]},
                              policy("xkblas", {"tile=1024"}));
  std::vector<OpId> kernels;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpId id{i};
    if (plan.op(id).kind == OpKind::gemm) kernels.push_back(id);
    if (plan.op(id).kind != OpKind::copy || kernels.empty()) continue;
    EXPECT_THAT(plan.deps_of(id), ::testing::Contains(kernels.back())) << i;
  }
  EXPECT_EQ(kernels.size(), 8u);
}

// Four at a time from the end of the queue: GPU 0 takes all of 2 x 2 tiles.
TEST(Blasx, TakesTilesInBatchesOfFour) {
  const Topology machine = shipped("clx-ai");
  const auto computing = [&](int64_t side) {
    std::set<MemoryId> gpus;
    for (const Plan plan = planned(machine, policy("blasx"), cube(side));
         const Op& op : plan.ops)
      if (op.kind == OpKind::gemm) gpus.insert(plan.queue(op.queue).src);
    return gpus.size();
  };
  EXPECT_EQ(computing(4096), 1u);
  EXPECT_EQ(computing(8192), 4u);
}

// First batches of eight GPUs: each has one row of tiles of A, four columns of B and four
// tiles of C, and no GPU publishes tiles before its batch has ended: 8 x (8 + 32 + 4)
// from the host, none between GPUs. In the second, each needs another row of A, which
// both GPUs of a pair fetch, and four tiles of C: 8 x (8 + 4) from the host. B is the
// same half of the columns again or, for four GPUs, the other half, 32 tiles that others
// have. Some tiles are requested just before the batch that fetched them ends. The trace
// of thesis figure 3.5 has 385 and 207 (docs/model.md#libraries).
TEST(Blasx, FetchesFromOtherGpusOnlyTilesOfEarlierBatches) {
  const Topology machine = shipped("clx-ai");
  const Copies copies =
      copies_of(planned(machine, policy("blasx"), cube(16384)), machine);
  EXPECT_EQ(copies.home, 64);
  EXPECT_NEAR(copies.to_gpus, 8 * 44 + 8 * 12, 4);
  EXPECT_NEAR(copies.between, 4 * 32, 4);
}

/// Each tile taken from another GPU was fetched there by a batch whose kernels had all
/// been submitted before.
TEST(Blasx, FetchesNoTileOfAnUnfinishedBatch) {
  const Topology machine = shipped("clx-ai");
  constexpr size_t batch = 4;
  for (const int64_t side : {12288, 16384, 20480}) {
    const Plan plan = planned(machine, policy("blasx"), cube(side));
    std::map<MemoryId, std::vector<BufferId>>
        tiles;  // of C, by GPU, in the order of their first kernels
    std::map<std::pair<MemoryId, size_t>, OpId> last;  // kernel of a batch
    std::map<BufferId, size_t>
        first_used;  // batch of the first kernel that reads a fetched tile
    for (size_t i = 0; i < plan.ops.size(); ++i) {
      const Op& op = plan.ops[i];
      if (op.kind != OpKind::gemm) continue;
      const MemoryId gpu = plan.queue(op.queue).dst;
      auto& of_gpu = tiles[gpu];
      auto tile = std::ranges::find(of_gpu, plan.result(op).buffer);
      if (tile == of_gpu.end()) tile = of_gpu.insert(tile, plan.result(op).buffer);
      const size_t number = size_t(tile - of_gpu.begin()) / batch;
      last.insert_or_assign({gpu, number}, OpId{i});
      const Views x = plan.operands_of(op);
      for (const View& view : {x[0], x[1]}) first_used.try_emplace(view.buffer, number);
    }
    int checked = 0;
    for (size_t i = 0; i < plan.ops.size(); ++i) {
      const Op& op = plan.ops[i];
      const Queue& queue = plan.queue(op.queue);
      if (op.kind != OpKind::copy || machine.is_host(queue.src) ||
          machine.is_host(queue.dst))
        continue;
      EXPECT_LT((last.at({queue.src, first_used.at(plan.operands_of(op)[0].buffer)})),
                OpId{i})
          << side << ", operation " << i;
      ++checked;
    }
    EXPECT_GT(checked, 10) << side;
  }
}

// One GPU and eight tiles of C in two batches of four: the first tile of a batch goes
// home when the first tile of the next begins, after the fetch of its C and before its
// first kernel. The last four go at the end.
TEST(Blasx, WritesABatchBackWithTheNextOne) {
  const Topology machine = shipped("two-gpu");
  GemmProblem problem = cube(4096);
  problem.n = 8192;
  const Plan plan =
      plan_gemm(problem, machine, std::vector{machine.gpus()[0]}, policy("blasx"));
  validate(plan, machine);
  std::vector<OpId> fetches_of_c, write_backs;
  size_t kernels = 0;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpId id{i};
    const Op& op = plan.op(id);
    if (op.kind == OpKind::gemm) {
      EXPECT_EQ(write_backs.size(),
                fetches_of_c.size() - std::min<size_t>(fetches_of_c.size(), 4))
          << i;
      if (kernels >= 8 && kernels < 12) {
        EXPECT_THAT(plan.deps_of(id), ::testing::Contains(write_backs.back())) << i;
      }
      ++kernels;
    } else if (machine.is_host(plan.queue(op.queue).dst)) {
      write_backs.push_back(id);
      if (write_backs.size() <= 4) {
        EXPECT_THAT(plan.deps_of(id), ::testing::Contains(fetches_of_c.back())) << i;
      }
    } else if (testing::is_of(plan.buffer(plan.operands_of(op)[0].buffer), tensor_c)) {
      fetches_of_c.push_back(id);
    }
  }
  EXPECT_EQ(kernels, 16u);
  EXPECT_EQ(write_backs.size(), 8u);
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
  const auto seconds = [&](const Plan& of) {
    return estimate_plan(of, machine, resources).makespan;
  };
  EXPECT_LT(seconds(plan), seconds(planned(machine, policy("blasx"), cube(4096))));
}

// The tiles of sub-kernel n + 1 are requested when the tiles of n have arrived, possibly
// from another memory: A is on gpu1, B and C on the host.
TEST(Paralia, RequestsTilesInTurn) {
  const Topology machine = shipped("two-gpu");
  const MemoryId host = machine.hosts()[0], gpu0 = machine.gpus()[0],
                 gpu1 = machine.gpus()[1];
  GemmProblem problem = cube(4096);
  problem.place_a = gpu1;
  const auto awaits_the_host = [&](const char* agent) {
    const Plan plan = plan_gemm(problem, machine, std::vector{gpu0},
                                policy("paralia", {"tile=1024", agent}));
    std::vector<OpId> of_a;
    for (size_t i = 0; i < plan.ops.size(); ++i)
      if (const Queue& queue = plan.queue(plan.ops[i].queue);
          queue.src == gpu1 && queue.dst == gpu0)
        of_a.push_back(OpId{i});
    return std::ranges::any_of(plan.deps_of(of_a.at(1)), [&](OpId dep) {
      return plan.op(dep).kind == OpKind::copy &&
             plan.queue(plan.op(dep).queue).src == host;
    });
  };
  EXPECT_TRUE(awaits_the_host("agent=paralia"));
  EXPECT_FALSE(awaits_the_host("agent=none"));
}

TEST(RuntimeCosts, OfACallCountForEachParticipatingGpu) {
  const Topology machine = shipped("clx-ai");
  const auto of_call = [&](size_t gpus) {
    return plan_gemm(cube(4096), machine, std::span{machine.gpus()}.first(gpus),
                     policy("paralia", {"gpu-us=500"}))
        .runtime.call.value;
  };
  EXPECT_DOUBLE_EQ(of_call(1), 500e-6);
  EXPECT_DOUBLE_EQ(of_call(8), 8 * 500e-6);
}

}  // namespace
}  // namespace tilerail::testing
