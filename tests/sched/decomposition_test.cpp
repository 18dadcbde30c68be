#include "sched/gemm/decomposition.hpp"

#include <gtest/gtest.h>

#include "sched/choose/tile_choice.hpp"
#include "sched/gemm/tiling.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

TEST(Decomposition, EvenPiecesCoverTheExtentAndDifferByOneUnit) {
  for (const int64_t extent : {0, 1, 5, 63, 512, 1000, 4096, 10007})
    for (const int parts : {1, 2, 3, 7, 8}) {
      const auto pieces = split_evenly(extent, parts);
      ASSERT_EQ(pieces.size(), size_t(parts));
      EXPECT_EQ(pieces.front().begin, 0);
      EXPECT_EQ(pieces.back().end, extent);
      for (size_t i = 1; i < pieces.size(); ++i) {
        EXPECT_EQ(pieces[i].begin, pieces[i - 1].end);
        EXPECT_LE(std::abs(pieces[i].size() - pieces[i - 1].size()),
                  extent >= parts * 512 ? 128 : 1);
      }
    }
}

TEST(Decomposition, LargeBlocksStartAtMultiplesOf64) {
  // 10007 / 2 = 5003.5, and the nearest multiple of 64 is 4992.
  const auto pieces = split_evenly(10007, 2);
  EXPECT_EQ(pieces[0].end, 78 * 64);
}

TEST(Decomposition, SquareGridIsTheMostSquareFactorPair) {
  EXPECT_EQ(square_grid(1), (Grid{1, 1}));
  EXPECT_EQ(square_grid(6), (Grid{2, 3}));
  EXPECT_EQ(square_grid(7), (Grid{1, 7}));
  EXPECT_EQ(square_grid(8), (Grid{2, 4}));
  EXPECT_EQ(square_grid(64), (Grid{8, 8}));
}

TEST(Decomposition, TallProblemsGetTallGrids) {
  const Topology machine = shipped("karolina-hgx-a100");
  const Resources resources{machine};
  GemmProblem p = cube(2000);
  p.m = 40000;
  EXPECT_EQ(automatic_grid(p, resources, machine.gpus(), true), (Grid{8, 1}));
  std::swap(p.m, p.n);
  EXPECT_EQ(automatic_grid(p, resources, machine.gpus(), true), (Grid{1, 8}));
}

TEST(Decomposition, TrafficOfAGridByHand) {
  // two-gpu, all on the host, 1 x 2, not batched: each GPU fetches A (8 MB) and half of B
  // and C, and writes half of C back: 16 MB into each GPU, so 32 MB over the 12 GB/s
  // uplink, and 8 MB the other way.
  const Topology machine = shipped("two-gpu");
  const Resources resources{machine};
  const GemmProblem p = cube(1000);
  const GridTraffic alone = grid_traffic(p, resources, machine.gpus(), {1, 2}, false);
  EXPECT_NEAR(alone.bottleneck.value, 32e6 / 12e9, 1e-9);
  EXPECT_DOUBLE_EQ(alone.total.value, 40e6);
  // Batched: A enters once, half by each GPU, and goes to the other over their direct
  // link: 24 MB over the uplink.
  const GridTraffic passed_on = grid_traffic(p, resources, machine.gpus(), {1, 2}, true);
  EXPECT_NEAR(passed_on.bottleneck.value, 24e6 / 12e9, 1e-9);
  EXPECT_DOUBLE_EQ(passed_on.total.value, 40e6);
}

TEST(Tiling, DevicesOwnContiguousBlocksOfTiles) {
  const Tiling t{{{0, 10}, {0, 12}, {0, 5}}, {2, 2}, 3};
  // m: 5 + 5 -> tiles 3,2 | 3,2; n: 6 + 6 -> 3,3 | 3,3; k: 3,2
  ASSERT_EQ(t.m.size(), 4u);
  EXPECT_EQ(t.m[1].begin, 3);
  EXPECT_EQ(t.m[1].end, 5);
  EXPECT_EQ(t.k.size(), 2u);
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(t.rows_of(3), (Numbers{2, 3}));
  EXPECT_EQ(t.cols_of(3), (Numbers{2, 3}));
  EXPECT_EQ(t.rows_of(1), (Numbers{0, 1}));
  EXPECT_EQ(t.cols_of(1), (Numbers{2, 3}));
}

TEST(TileChoice, ThesisHeuristicByHand) {
  // 16384^3 on 2 x 4: blocks 8192 x 4096. T = 2048: no padding, 8 / 512 overlap, no
  // latency. T = 1024: 0.2 * 2.
  EXPECT_DOUBLE_EQ(thesis_tile_cost(8192, 4096, 16384, 8, {2, 4}, 2048), 8.0 / 512);
  EXPECT_DOUBLE_EQ(thesis_tile_cost(8192, 4096, 16384, 8, {2, 4}, 1024),
                   8.0 / 4096 + 0.4);
  // T = 3072 leaves 8192 = 2 T + rest, 4096 = T + rest, 16384 = 5 T + rest.
  EXPECT_DOUBLE_EQ(thesis_tile_cost(8192, 4096, 16384, 8, {2, 4}, 3072),
                   0.5 + 1 + 0.2 + 8.0 / (6 * 8 * 6));
  EXPECT_EQ(thesis_tile(16384, 16384, 16384, {2, 4}, 1 << 20), 2048);
}

TEST(TileChoice, AwkwardSizesGetMultiplesOf64) {
  for (const int64_t n : {10007, 7777, 12289})
    EXPECT_EQ(thesis_tile(n, n, n, {2, 4}, 1 << 20) % 64, 0) << n;
}

TEST(TileChoice, TinyAndThinProblemsGetOneTileAcross) {
  EXPECT_EQ(thesis_tile(50, 50, 50, {1, 1}, 1 << 20), 50);
  EXPECT_GE(thesis_tile(40000, 40000, 100, {2, 4}, 1 << 20),
            1024);  // not 160,000 sub-problems of T = 100
  EXPECT_LE(thesis_tile(16384, 16384, 16384, {2, 4}, 1000), 1000);
}

TEST(TileChoice, CandidatesRespectTheirLimits) {
  for (const int64_t tile : tile_candidates(16384, 16384, 16384, {2, 4}, 3000, 16384)) {
    EXPECT_LE(tile, 3000);
    const int64_t kernels = 2 * ((8192 + tile - 1) / tile) * 4 *
                            ((4096 + tile - 1) / tile) * ((16384 + tile - 1) / tile);
    EXPECT_LE(kernels, 16384);
  }
  EXPECT_EQ(tile_candidates(10, 10, 10, {1, 1}, 1 << 20, 16384),
            (std::vector<int64_t>{10}));
  EXPECT_EQ(tile_candidates(0, 0, 0, {1, 1}, 1 << 20, 16384), (std::vector<int64_t>{1}));
}

TEST(TileChoice, KernelsAreCountedByBlock) {
  EXPECT_EQ(kernel_count(16384, 16384, 16384, {2, 4}, 2048), 512);
  EXPECT_EQ(kernel_count(1000, 1000, 1000, {2, 1}, 256), 2 * 2 * 4 * 4);
}

TEST(TileChoice, CandidatesHaveTheSidesOfABlock) {
  EXPECT_EQ(tile_candidates(1400, 600, 900, {2, 1}, 1 << 20, 16384),
            (std::vector<int64_t>{256, 300, 384, 512, 600, 704, 768, 900}));
}

}  // namespace
}  // namespace tilerail::testing
