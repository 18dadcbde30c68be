// Blocks of different sizes, smaller tiles at the ends, and the options that control
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "plan/validate.hpp"
#include "sched/choose/balance.hpp"
#include "sched/decided_plan.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SmallTiles, AreTheFirstOrTheLastOfEachPartOfK) {
  const auto k = [](SmallTiles where, int layers = 1) {
    return ends(Tiling{cube_of_4096, {1, 1, layers}, {1024, where}}.k);
  };
  EXPECT_THAT(k(SmallTiles::none), ElementsAre(1024, 2048, 3072, 4096));
  EXPECT_THAT(k(SmallTiles::k_first), ElementsAre(256, 512, 1024, 2048, 3072, 4096));
  EXPECT_THAT(k(SmallTiles::k_last), ElementsAre(1024, 2048, 3072, 3584, 4096));
  EXPECT_THAT(k(SmallTiles::k_last, 2), ElementsAre(1024, 1536, 2048, 3072, 3584, 4096));
  EXPECT_THAT(k(SmallTiles::c_last), ElementsAre(1024, 2048, 3072, 4096));
}

TEST(SmallTiles, AreTheLastOfEachBlockOfC) {
  const Tiling tiling{cube_of_4096, {2, 1}, {1024, SmallTiles::c_last}};
  EXPECT_THAT(ends(tiling.m), ElementsAre(1024, 1536, 2048, 3072, 3584, 4096));
  EXPECT_THAT(ends(tiling.n), ElementsAre(1024, 2048, 3072, 3584, 4096));
  EXPECT_EQ(tiling.owner({2, 0}), 0U);
  EXPECT_EQ(tiling.owner({3, 0}), 1U);
  EXPECT_THAT(ends(Tiling{cube_of_4096, {2, 1}, {1024, SmallTiles::k_first}}.m),
              ElementsAre(1024, 2048, 3072, 4096));
}

TEST(SmallTiles, StopAtMultiplesOf64AndAtSmallTiles) {
  EXPECT_THAT(ends(with_small_first({{0, 300}, {300, 600}})),
              ElementsAre(64, 128, 300, 600));
  EXPECT_THAT(ends(with_small_last({{0, 300}, {300, 600}})), ElementsAre(300, 428, 600));
  EXPECT_THAT(ends(with_small_last({{0, 300}, {300, 555}})), ElementsAre(300, 555));
  EXPECT_THAT(ends(with_small_first({{0, 255}})), ElementsAre(255));
  EXPECT_THAT(with_small_first({}), ::testing::IsEmpty());
}

TEST(Ragged, RestsOfUpToHalfATileAreMerged) {
  const auto cut = [](int64_t extent) {
    return ends(split_tiles({0, extent}, 1000, {}, Ragged::merged));
  };
  EXPECT_THAT(cut(3000), ElementsAre(1000, 2000, 3000));
  EXPECT_THAT(cut(3001), ElementsAre(1000, 2000, 3001));
  EXPECT_THAT(cut(3500), ElementsAre(1000, 2000, 3500));
  EXPECT_THAT(cut(3501), ElementsAre(1000, 2000, 3000, 3501));
  EXPECT_THAT(cut(1500), ElementsAre(1500));
  EXPECT_THAT(cut(300), ElementsAre(300));
  EXPECT_THAT(ends(split_tiles({0, 7}, 3, {}, Ragged::merged)),
              ElementsAre(3, 7));  // the rest of 1 is below half of 3
  EXPECT_THAT(ends(split_tiles({0, 3001}, 1000)), ElementsAre(1000, 2000, 3000, 3001));
}

TEST(Ragged, NoMergedTileCrossesABorder) {
  const std::vector<int64_t> borders{2400, 2500};
  EXPECT_THAT(ends(split_tiles({0, 3600}, 1000, borders, Ragged::merged)),
              ElementsAre(1000, 2400, 2500, 3600));
}

TEST(Ragged, RestsAreMergedInEveryBlockOfCAndPartOfK) {
  const Region region{{0, 4800}, {0, 2500}, {0, 2100}};
  const Tiling tiling{region, {2, 1}, {1000, SmallTiles::none, Ragged::merged}};
  for (size_t block = 0; block < 2; ++block) EXPECT_EQ(tiling.rows_of(block).size(), 2U);
  EXPECT_THAT(ends(tiling.n), ElementsAre(1000, 2500));
  EXPECT_THAT(ends(tiling.k), ElementsAre(1000, 2100));
}

TEST(Proportional, BlocksFollowTheSharesOfRowsAndColumns) {
  const Region region{{0, 4000}, {0, 8000}, {0, 100}};
  const std::vector<double> columns{1, 2};
  const Tiling wide{region, {1, 2}, 8000, Distribution::proportional, columns};
  EXPECT_THAT(ends(wide.n), ElementsAre(2688, 8000));
  EXPECT_EQ(wide.owner({0, 1}), 1U);
  const std::vector<double> four{1, 1, 1, 3};
  const Tiling square{region, {2, 2}, 8000, Distribution::proportional, four};
  EXPECT_THAT(ends(square.m), ElementsAre(1344, 4000));  // 2 of 6
  EXPECT_THAT(ends(square.n), ElementsAre(2688, 8000));
  const std::vector<double> equal{5, 5};
  EXPECT_THAT(ends(Tiling{region, {1, 2}, 8000, Distribution::proportional, equal}.n),
              ElementsAre(4032, 8000));
  EXPECT_THAT(ends(Tiling{region, {1, 2}, 8000, Distribution::blocks, columns}.n),
              ElementsAre(8000));  // of whole tiles
}

TEST(Balance, GivesMoreToDevicesThatEndEarly) {
  const std::vector<double> equal{1, 1};
  const std::vector<Seconds> ends{Seconds{1}, Seconds{3}};
  EXPECT_DOUBLE_EQ(imbalance(ends), 0.5);
  EXPECT_THAT(balanced_shares(equal, ends, 1),
              ElementsAre(1.5, 0.5));  // 2 and 2/3, with a mean of 1
  const std::vector<Seconds> idle{Seconds{0}, Seconds{3}};
  EXPECT_THAT(balanced_shares(equal, idle, 1),
              ElementsAre(DoubleNear(1.778, 1e-9), DoubleNear(0.2222, 1e-9)));
  const auto half = balanced_shares(equal, ends, 0.5);
  EXPECT_THAT(half, ElementsAre(DoubleNear(1.268, 1e-9),
                                DoubleNear(0.7321, 1e-9)));  // to four digits
}

GemmProblem far_from_gpu1(const Topology& machine) {
  GemmProblem problem = cube(4096);
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  return problem;
}

/// Simulates gpu0 at one rate and any other GPU at a third of it.
struct OneFastGpu {
  std::mutex mutex = {};
  int64_t ops = 0;

  PlanSimulator simulator(const Topology& machine) {
    return {[&](const Plan& plan) {
      std::map<MemoryId, double> work;
      for (const Op& op : plan.ops)
        if (op.kind == OpKind::gemm) {
          const MemoryId gpu = plan.queue(op.queue).dst;
          work[gpu] += op_flops(op, plan.operands_of(op)).value / 2 *
                       (gpu == machine.gpus()[0] ? 1 : 3);
        }
      PlanCost cost;
      for (const MemoryId gpu : plan.devices) {
        cost.ends.push_back(Seconds{1e-12 * (work[gpu] + 1)});
        cost.makespan = std::max(cost.makespan, cost.ends.back());
      }
      const std::lock_guard lock{mutex};
      ops += int64_t(plan.ops.size());
      return cost;
    }};
  }
};

TEST(Balance, IsPartOfASearch) {
  const Topology machine = test::shipped("two-gpu");
  const GemmProblem problem = far_from_gpu1(machine);
  const Policy searching = policy("tilerail", {"tile=1024", "devices=all", "grid=auto"});
  OneFastGpu fast;
  const Plan plan =
      plan_gemm(problem, machine, machine.gpus(), searching, fast.simulator(machine));
  validate(plan, machine);
  EXPECT_EQ(decided(plan, "distribution"), "proportional");
  EXPECT_THAT(chosen(plan).what, HasSubstr(" shares="));
  const double made = fast.simulator(machine).of(plan).makespan.value;
  EXPECT_NEAR(made, 1e-12 * 0.75 * 4096.0 * 4096 * 4096,
              0.03 * made);  // three quarters of the work on gpu0
  const auto decisions = decisions_of(plan, machine, searching);
  EXPECT_EQ(
      content_hash(plan_decided(problem, machine, machine.gpus(), searching, decisions)),
      content_hash(plan));
}

TEST(Balance, KeepsTheUsersOptions) {
  const Topology machine = test::shipped("two-gpu");
  OneFastGpu fast;
  for (const char* option : {"shares=equal", "distribution=blocks", "effort=fixed"}) {
    const Policy asking = policy("tilerail", {"tile=1024", "devices=all", option});
    const Plan plan = plan_gemm(far_from_gpu1(machine), machine, machine.gpus(), asking,
                                fast.simulator(machine));
    EXPECT_THAT(chosen(plan).what, ::testing::Not(HasSubstr("shares="))) << option;
  }
}

}  // namespace
}  // namespace tilerail::testing
