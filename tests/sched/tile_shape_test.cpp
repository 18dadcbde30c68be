// Tiles that are not squares, and the order that goes through k in steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "plan/validate.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/gemm/gemm_tasks.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TileCut cut(int64_t side, TileRows rows, TileDepth depth) {
  TileCut how{side};
  how.rows = rows, how.depth = depth;
  return how;
}

TEST(TileShape, DepthGrowsAndTheLastTakesASmallRest) {
  EXPECT_THAT(ends(growing_tiles({0, 4096}, 512)),
              ElementsAre(512, 1536, 4096));  // 2560, not 2048 and 512
  EXPECT_THAT(ends(growing_tiles({0, 3000}, 512)),
              ElementsAre(512, 1536, 3000));  // 1464, more than half of 2048
  EXPECT_THAT(ends(growing_tiles({0, 2500}, 512)),
              ElementsAre(512, 2500));  // the rest, 964, is less
  EXPECT_THAT(ends(growing_tiles({100, 400}, 512), 100), ElementsAre(400));
  EXPECT_THAT(ends(growing_tiles({0, 4096}, 512, std::vector<int64_t>{2000})),
              ElementsAre(512, 1536, 2000, 4096));
  EXPECT_THAT(growing_tiles({0, 0}, 512), ::testing::IsEmpty());
  EXPECT_THAT(ends(growing_tiles({0, 1024}, 512)),
              ElementsAre(512, 1024));  // 512 left, just half of 1024
  for (const int64_t extent : {0, 300, 1023, 1024, 2500, 3000, 4096, 4608, 100'000})
    EXPECT_EQ(growing_tile_count(extent, 512),
              std::ssize(growing_tiles({0, extent}, 512)))
        << extent;
}

TEST(TileShape, AllRowsSpanABlock) {
  const Tiling tiling{cube_of_4096, {2, 1}, cut(1024, TileRows::all, TileDepth::all)};
  EXPECT_THAT(ends(tiling.m), ElementsAre(2048, 4096));
  EXPECT_THAT(ends(tiling.n), ElementsAre(1024, 2048, 3072, 4096));
  EXPECT_THAT(ends(tiling.k), ElementsAre(4096));
  const Tiling layers{cube_of_4096, {1, 1, 2}, cut(1024, TileRows::side, TileDepth::all)};
  EXPECT_THAT(ends(layers.k), ElementsAre(2048, 4096));
}

TEST(TileShape, WholeColumnsEndAtLayersAndBorders) {
  const Borders borders{.m = {}, .n = {}, .k = {3072}};
  const Tiling tiling{
      cube_of_4096, {1, 1, 2}, cut(512, TileRows::side, TileDepth::columns), borders};
  ASSERT_THAT(tiling.k, SizeIs(8));
  const auto column = [&](int64_t k) {
    return std::pair{tiling.column_of(k).begin, tiling.column_of(k).end};
  };
  EXPECT_EQ(column(1), (std::pair<int64_t, int64_t>{0, 4}));
  EXPECT_EQ(column(4), (std::pair<int64_t, int64_t>{4, 6}));
  EXPECT_EQ(column(7), (std::pair<int64_t, int64_t>{6, 8}));
  const Tiling squares{cube_of_4096, {1, 1}, 512};
  EXPECT_EQ(squares.column_of(3).size(), 1);
}

TEST(TileShape, WholeColumnsApplyToTheMatrixWithColumnsAlongK) {
  const Tiling tiling{cube_of_4096, {1, 1}, cut(1024, TileRows::all, TileDepth::columns)};
  GemmProblem p = cube(4096);
  const GemmTasks plain{p, tiling};
  EXPECT_EQ(plain.b(0, 1), plain.b(3, 1));
  EXPECT_NE(plain.a(0, 0), plain.a(0, 3));
  const Task task = plain.task({0, 1, 2}, false, false);
  EXPECT_EQ(task.rows_read[0].count, 0);
  EXPECT_EQ(task.rows_read[1].first, 2048);
  EXPECT_EQ(task.rows_read[1].count, 1024);
  p.trans_a = p.trans_b = Trans::yes;
  const GemmTasks transposed{p, tiling};
  EXPECT_EQ(transposed.a(0, 0), transposed.a(0, 3));
  EXPECT_NE(transposed.b(0, 1), transposed.b(3, 1));
}

Plan planned(const std::vector<std::string>& options,
             const GemmProblem& problem = cube(2048), size_t gpus = 1) {
  const Topology topology = test::shipped("two-gpu");
  Policy policy = any_preset("tilerail");
  policy.choices.tile = 512;
  for (const std::string& option : options) apply_override(policy, option);
  Plan plan = plan_gemm(problem, topology, {topology.gpus().data(), gpus}, policy);
  validate(plan, topology);
  return plan;
}

std::vector<Op> ops_of(const Plan& plan, OpKind kind) {
  std::vector<Op> all;
  for (const Op& op : plan.ops)
    if (op.kind == kind) all.push_back(op);
  return all;
}

TEST(TileShape, WholeColumnsMakeEveryCopyContiguous) {
  for (const char* depth : {"tile-depth=columns", "tile-depth=all"}) {
    const Plan plan = planned({"tile-rows=all", depth});
    for (const Op& op : ops_of(plan, OpKind::copy)) EXPECT_EQ(plan.result(op).rows, 2048);
    EXPECT_THAT(ops_of(plan, OpKind::gemm),
                SizeIs(std::string_view{depth} == "tile-depth=all" ? 4 : 16));
  }
}

TEST(TileShape, IsASquareIfNotAllTilesFit) {
  const Plan plan =
      planned({"tile-rows=all", "tile-depth=columns", "memory=0.05"}, cube(4096));
  for (const Op& op : ops_of(plan, OpKind::copy)) EXPECT_EQ(plan.result(op).rows, 512);
  EXPECT_EQ(planned({"tile-rows=all", "caching=off"}).ops.size(),
            planned({"caching=off"}).ops.size());
}

TEST(OwnersInSteps, GoThroughAllTilesOfCWithOneKBeforeTheNext) {
  const Plan plan = planned({"order=steps"});
  const std::vector<Op> kernels = ops_of(plan, OpKind::gemm);
  ASSERT_THAT(kernels, SizeIs(64));
  std::set<BufferId> tiles_of_c;
  for (size_t at = 0; at < kernels.size(); ++at) {
    if (at % 16 == 0) tiles_of_c.clear();
    EXPECT_TRUE(tiles_of_c.insert(plan.result(kernels[at]).buffer).second) << at;
    EXPECT_EQ(kernels[at].beta == Scalar::zero, at < 16) << at;
  }
  EXPECT_NE(plan.operands_of(kernels[0])[1].buffer,
            plan.operands_of(kernels[1])[1].buffer);  // the row continues: A is present
  EXPECT_EQ(plan.operands_of(kernels[0])[0].buffer,
            plan.operands_of(kernels[1])[0].buffer);
}

}  // namespace
}  // namespace tilerail::testing
