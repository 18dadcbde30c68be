// Tiles of C that go to a host in strips of rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sched/scheduler.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

constexpr std::int64_t tile = 512;

Plan plan_with(std::int64_t strip_bytes, DType dtype = DType::f64, bool c_on_gpu = false, std::int64_t m = 1300) {
  const Topology machine = test::shipped("two-gpu");
  GemmProblem problem;
  problem.m = m, problem.n = 1100, problem.k = 700, problem.dtype = dtype;
  if (c_on_gpu) problem.place_c = machine.gpus()[0];
  Policy policy = preset("gemmex");
  policy.tile = tile, policy.strip_bytes = strip_bytes;
  return plan_gemm(checked(problem), machine, machine.gpus(), policy);
}

/// Rows of the copies of C to the host, by the tile's first column and first row.
std::map<std::pair<std::int64_t, std::int64_t>, std::vector<View>> written(const Plan& plan) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<View>> copies;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy && plan.buffer(op.y.buffer).kind == Buffer::Kind::matrix_c)
      copies[{op.y.col, op.y.row / tile}].push_back(op.y);
  return copies;
}

TEST(Strips, HaveNoMoreBytesOfAColumnAndMakeUpTheTile) {
  for (const auto& [bytes, rows] : {std::pair{1024, 128}, {1000, 128}, {3 * 1024, 384}, {64, 8}, {1, 8}}) {
    const Plan plan = plan_with(bytes);
    const auto tiles = written(plan);
    EXPECT_GE(tiles.size(), 6u);
    for (const auto& [at, strips] : tiles) {
      std::int64_t next = at.second * tile;
      for (const View& strip : strips) {
        EXPECT_EQ(strip.row, next);
        EXPECT_LE(strip.rows, rows);
        EXPECT_TRUE(strip.rows == rows || &strip == &strips.back());
        EXPECT_EQ(strip.cols, strips.front().cols);
        next += strip.rows;
      }
      EXPECT_EQ(next, std::min<std::int64_t>(1300, (at.second + 1) * tile));
    }
  }
}

TEST(Strips, AreCountedInBytes) {
  EXPECT_EQ(written(plan_with(1024, DType::f32)).begin()->second.front().rows, 256);
  EXPECT_EQ(written(plan_with(1024, DType::f16)).begin()->second.size(), 1u) << "512 halves";
}

// What takes a tile's memory next waits for its last strip.
TEST(Strips, ArePartsOfTheTileForOthers) {
  const Plan whole = plan_with(0), strips = plan_with(1024);
  const auto copies = [](const Plan& plan) {
    return std::ranges::count_if(plan.ops, [](const Op& op) { return op.kind == OpKind::copy; });
  };
  std::int64_t more = 0;
  for (const auto& [at, of_tile] : written(strips)) more += static_cast<std::int64_t>(of_tile.size()) - 1;
  EXPECT_GT(more, 9);
  EXPECT_EQ(copies(strips), copies(whole) + more);
  EXPECT_EQ(strips.peak_bytes, whole.peak_bytes);
}

TEST(Strips, AreOnlyOfWhatGoesToAHost) {
  Plan plan = plan_with(1024, DType::f64, true), whole = plan_with(0, DType::f64, true);
  EXPECT_EQ(plan.ops.size(), whole.ops.size());
  EXPECT_THAT(plan.origin.without_effect, ::testing::IsEmpty()) << "nothing was overridden";
}

}  // namespace
}  // namespace tilerail
