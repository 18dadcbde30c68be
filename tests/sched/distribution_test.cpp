#include "sched/place/distribution.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "sched/gemm/tiling.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

using Counts = std::vector<int64_t>;
using Owners = std::vector<size_t>;

Counts counts(const Owners& owners, size_t devices) {
  Counts result(devices, 0);
  for (const size_t d : owners) ++result[d];
  return result;
}

TEST(Distribution, PartsAreInProportionByLargestRemainders) {
  EXPECT_EQ(apportioned(10, std::vector{1.0, 1.0, 1.0}), (Counts{4, 3, 3}));
  EXPECT_EQ(apportioned(7, std::vector{5.0, 0.0, 2.0}), (Counts{5, 0, 2}));
  EXPECT_EQ(apportioned(5, std::vector{0.46, 0.27, 0.27}),
            (Counts{2, 2, 1}));  // 2.3, 1.35, 1.35
  EXPECT_EQ(apportioned(0, std::vector{1.0, 2.0}), (Counts{0, 0}));
}

TEST(Distribution, DealsInTurnAndMoreOftenToTheHeavier) {
  EXPECT_EQ(assigned(5, std::vector{1.0, 1.0, 1.0}), (Owners{0, 1, 2, 0, 1}));
  EXPECT_EQ(assigned(6, std::vector{2.0, 1.0}),
            (Owners{0, 0, 1, 0, 0, 1}));  // 1/2, 2/2 = 1/1, ...
  EXPECT_EQ(assigned(3, std::vector{0.0, 1.0}), (Owners{1, 1, 1}));
}

TEST(Distribution, EqualSharesByHand) {
  const std::vector<double> four(4, 0.25);
  const Grid grid{2, 2};
  // clang-format off
  EXPECT_EQ(tile_owners(Distribution::blocks, 4, 4, grid, four),
            (Owners{0, 0, 1, 1,
                    0, 0, 1, 1,
                    2, 2, 3, 3,
                    2, 2, 3, 3}));
  EXPECT_EQ(tile_owners(Distribution::cyclic_2d, 3, 5, grid, four),
            (Owners{0, 1, 0, 1, 0,
                    2, 3, 2, 3, 2,
                    0, 1, 0, 1, 0}));
  EXPECT_EQ(tile_owners(Distribution::cyclic_1d, 2, 5, grid, four),
            (Owners{0, 1, 2, 3, 0,
                    0, 1, 2, 3, 0}));
  EXPECT_EQ(tile_owners(Distribution::round_robin, 2, 3, grid, four),
            (Owners{0, 1, 2,
                    3, 0, 1}));
  EXPECT_EQ(tile_owners(Distribution::sequential, 2, 4, grid, four),
            (Owners{0, 0, 1, 1,
                    2, 2, 3, 3}));
  // clang-format on
}

TEST(Distribution, NoTileOfUnequalSharesIsBetterOnAnotherDevice) {
  const std::vector<double> shares{3.5, 3.5, 5, 5, 3.5, 7, 3.5, 7};
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (const auto distribution : {Distribution::blocks, Distribution::sequential,
                                  Distribution::round_robin, Distribution::cyclic_2d})
    for (const int64_t side : {4, 9, 11, 16}) {
      const Counts tiles =
          counts(tile_owners(distribution, side, side, {2, 4}, shares), shares.size());
      double most = 0, least = 1e9;
      for (size_t d = 0; d < shares.size(); ++d) {
        most = std::max(most, double(tiles[d]) / shares[d]);
        least = std::min(least, double(tiles[d] + 1) / shares[d]);
      }
      if (distribution == Distribution::sequential) {
        for (size_t d = 0; d < shares.size(); ++d)
          EXPECT_LT(std::abs(double(tiles[d]) - double(side * side) * shares[d] / sum),
                    1);
      } else {
        EXPECT_LE(most, least * (1 + 1e-9)) << side;
      }
    }
}

TEST(Distribution, ADeviceWithoutAShareGetsNothing) {
  const std::vector<double> shares{1, 0, 1, 2};
  for (const auto distribution :
       {Distribution::blocks, Distribution::sequential, Distribution::round_robin,
        Distribution::cyclic_1d, Distribution::cyclic_2d, Distribution::even_blocks})
    EXPECT_EQ(counts(tile_owners(distribution, 5, 7, {2, 2}, shares), 4)[1], 0);
}

TEST(Distribution, EveryTileOfATilingIsListedWithItsOwner) {
  const std::vector<double> shares{1, 2, 1, 3};
  const Tiling t{
      {{0, 100}, {0, 70}, {0, 30}}, {2, 2}, 16, Distribution::cyclic_2d, shares};
  size_t tiles = 0;
  for (size_t d = 0; d < t.devices(); ++d) {
    tiles += t.tiles_of(d).size();
    for (const TileOfC tile : t.tiles_of(d)) {
      EXPECT_EQ(t.owner(tile), d);
      EXPECT_THAT(t.rows_of(d), ::testing::Contains(tile.i));
      EXPECT_THAT(t.cols_of(d), ::testing::Contains(tile.j));
    }
  }
  EXPECT_EQ(tiles, t.m.size() * t.n.size());
}

TEST(Distribution, EvenBlocksDealTheRestInTurn) {
  const std::vector<double> equal(2, 1.0);
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 2, 5, {1, 2}, equal),
              ::testing::ElementsAre(0, 0, 1, 1, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 1, 3, {2, 1}, equal),
              ::testing::ElementsAre(0, 1, 0))
      << "fewer rows than the grid has: all are assigned";
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 3, 3, {2, 1}, equal),
              ::testing::ElementsAre(0, 0, 0, 1, 1, 1, 0, 1, 0))
      << "the row below the blocks in turn";
  const std::vector<double> six(6, 1.0);
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 2, 3, {3, 2}, six),
              ::testing::ElementsAre(0, 1, 2, 3, 4, 5))
      << "no blocks: row by row";
}

TEST(Distribution, EvenBlocksPassTilesAboveTheirShareToOtherDevices) {
  const std::vector<double> shares{1, 1, 3, 1};
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 4, 3, {2, 2}, shares),
              ::testing::ElementsAre(0, 1, 2, 0, 1, 2, 2, 3, 2, 2, 3, 2))
      << "2, 2, 6 and 2 of 12 tiles; of the last column each is assigned to the one with "
         "room";
  const std::vector<double> fewer{1, 5};
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 2, 6, {1, 2}, fewer),
              ::testing::ElementsAre(0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  const std::vector<double> rising{1, 2, 3};
  EXPECT_THAT(tile_owners(Distribution::even_blocks, 1, 6, {1, 3}, rising),
              ::testing::ElementsAre(0, 1, 1, 2, 2, 2))
      << "to the next one, not to the one before";
}

TEST(Distribution, LibrariesHaveASeparateGrid) {
  const Topology machine = shipped("clx-ai");
  const auto grid = [&](const char* preset, size_t gpus) {
    const Plan plan = plan_gemm(cube(4096), machine,
                                std::span{machine.gpus()}.first(gpus), policy(preset));
    return std::ranges::find(plan.origin.decisions, "grid", &PlanDecision::key)->value;
  };
  for (const char* preset : {"paralia", "xkblas"}) {
    EXPECT_EQ(grid(preset, 6), "3x2") << preset;
    EXPECT_EQ(grid(preset, 8), "2x4") << preset;
  }
}

/// Flops per GPU of a plan.
std::vector<double> flops_of(const Plan& plan, const Topology& machine) {
  std::vector<double> flops(machine.gpus().size(), 0.0);
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::gemm)
      flops[size_t(machine.processor(plan.queue(op.queue).dst).device)] +=
          op_flops(op, plan.operands_of(op)).value;
  return flops;
}

/// `two-gpu` with GPU 1 three times as fast.
Topology::Description fast_second_gpu() {
  Topology::Description description = shipped("two-gpu").description();
  KernelTimes fast = description.kernels.at(0);
  fast.name = "fast";
  for (GemmCurve& curve : fast.gemm)
    for (GemmCurve::Point& point : curve.points)
      point.rate = FlopRate{3 * point.rate.value};
  description.kernels.push_back(fast);
  for (Memory& memory : description.memories)
    if (memory.processor && memory.processor->device == 1) memory.processor->kernels = 1;
  return description;
}

TEST(Distribution, FasterGpusComputeMore) {
  const Topology machine{fast_second_gpu()};
  const auto flops = flops_of(plan_gemm(cube(4096), machine, machine.gpus(),
                                        policy("gemmex", {"shares=speed", "tile=512"})),
                              machine);
  EXPECT_NEAR(flops[1] / flops[0], 3, 1e-9);  // 48 and 16 of 64 tiles
  const auto equal = flops_of(
      plan_gemm(cube(4096), machine, machine.gpus(), policy("gemmex", {"tile=512"})),
      machine);
  EXPECT_DOUBLE_EQ(equal[0], equal[1]);
}

TEST(Distribution, SharesByAMetricFollowEachGpuAlone) {
  auto description = fast_second_gpu();
  for (Memory& memory : description.memories)
    if (memory.processor && memory.processor->device == 1)
      memory.processor->busy_watts = 2 * memory.processor->busy_watts.value();
  const Topology machine{description};
  const auto ratio = [&](const char* shares, const Topology& of) {
    const auto flops = flops_of(
        plan_gemm(cube(8192), of, of.gpus(),
                  policy("gemmex", {fmt::format("shares={}", shares), "tile=512"})),
        of);
    return flops[1] / flops[0];
  };
  EXPECT_NEAR(ratio("pdp", machine), 4.5, 0.1) << "3^2 / 2";
  EXPECT_NEAR(ratio("edp", machine), 13.5, 0.6) << "3^3 / 2, in 256 tiles";
  for (Memory& memory : description.memories)
    if (memory.processor) memory.processor->kernels = 0;
  const Topology thirsty{description};
  const auto is_equal = [](const Topology& of, const char* shares) {
    const Plan plan = plan_gemm(cube(4096), of, of.gpus(),
                                policy("gemmex", {fmt::format("shares={}", shares)}));
    return std::ranges::find(plan.origin.decisions, "shares", &PlanDecision::key)
               ->value == "equal";
  };
  EXPECT_TRUE(is_equal(shipped("two-gpu"), "edp"));
  EXPECT_TRUE(is_equal(thirsty, "speed"));
  EXPECT_FALSE(is_equal(thirsty, "edp")) << "as fast, but one draws twice as much";
  for (Memory& memory : description.memories)
    if (memory.processor) memory.processor->busy_watts.reset();
  const Topology silent{description};
  EXPECT_NO_THROW(ratio("edp", silent)) << "alike, so that nobody has to know";
  auto fast = fast_second_gpu();
  for (Memory& memory : fast.memories)
    if (memory.processor) memory.processor->busy_watts.reset();
  const Topology unequal{fast};
  EXPECT_NO_THROW(ratio("speed", unequal));
  const auto on_one = policy("gemmex", {"shares=edp"});
  EXPECT_NO_THROW(
      plan_gemm(cube(4096), unequal, std::span{unequal.gpus()}.first(1), on_one));
  expect_error([&] { ratio("edp", unequal); }, {.subject = "shares", .value = "edp"});
}

}  // namespace
}  // namespace tilerail::testing
