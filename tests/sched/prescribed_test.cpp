// Prescribed transport: who sends what to whom, and when; and what SUMMA and 2.5D Cannon
// hide, need and refuse. Results: tests/property/prescribed_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "backends/fluid/simulation.hpp"
#include "sched/algorithm/cannon25d.hpp"
#include "sched/algorithm/summa.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/gpu_nodes.hpp"
#include "tests/support/plan_facts.hpp"

namespace tilerail::testing {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

Pairs pairs(Pattern pattern, size_t nodes) {
  Pairs all;
  for (const Hop& hop : hops(pattern, nodes)) all.emplace_back(hop.from, hop.to);
  return all;
}

TEST(Hops, ReachEveryNodeAfterItsSender) {
  EXPECT_EQ(pairs(Pattern::chain, 4), (Pairs{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(pairs(Pattern::ring, 6), (Pairs{{0, 1}, {1, 2}, {2, 3}, {0, 5}, {5, 4}}));
  EXPECT_EQ(pairs(Pattern::ring, 3), (Pairs{{0, 1}, {0, 2}}));
  EXPECT_EQ(pairs(Pattern::tree, 6), (Pairs{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(pairs(Pattern::tree, 1), Pairs{});
}

/// The four GPUs of a node, and a matrix whose block i of 1024 x 1024 is on GPU i.
class OnOneNode : public ::testing::Test {
 protected:
  static constexpr int64_t side = 1024, bytes = side * side * 8;

  OnOneNode() {
    GemmProblem p;
    p.m = 4 * side, p.k = side;
    p.place_a = Layout::of_rows(gpus);
    plan = empty_plan(checked(p), machine);
    matrix = builder.add_tensor(tensor_a);
  }

  LocalTile block(size_t gpu) {
    const View view{matrix, int64_t(gpu) * side, 0, side, side};
    return Transport{builder}.tile_of(builder.in_block(view));
  }
  Tiles blocks() {
    Tiles tiles;
    for (size_t i = 0; i < gpus.size(); ++i) tiles[gpus[i]] = block(i);
    return tiles;
  }
  std::vector<MemoryId> members(std::initializer_list<size_t> numbers) const {
    std::vector<MemoryId> list;
    for (const size_t i : numbers) list.push_back(gpus[i]);
    return list;
  }
  const Buffer& buffer(const LocalTile& tile) const {
    return plan.buffer(tile.view.buffer);
  }
  /// The block of the matrix that a tile is a copy of.
  int64_t number(const LocalTile& tile) const { return buffer(tile).row / side; }

  Topology machine{small_machine::gpu_nodes(1)};
  std::vector<MemoryId> gpus = machine.gpus();
  Plan plan;
  PlanBuilder builder{plan};
  BufferId matrix;
};

/// A copy over two links of 1 us at 100 GB/s takes 2 us + bytes / (100 GB/s). In the
/// chain 2, 3, 0, 1, the last of four quarters arrives after 4 + 2 copies of a quarter.
TEST_F(OnOneNode, HopsOfPiecesOverlap) {
  Transport transport{builder, {Pattern::chain, 4}};
  Tiles there;
  transport.broadcast(block(2), gpus, there);
  for (size_t gpu = 0; gpu < 4; ++gpu) {
    const LocalTile& tile = there[gpus[gpu]];
    EXPECT_EQ(buffer(tile).memory, gpus[gpu]);
    EXPECT_EQ(number(tile), 2);
    EXPECT_EQ(tile.arena == nullptr, gpu == 2) << "in place where it is";
  }
  EXPECT_NEAR(makespan_of(simulate_fluid(plan, machine)).value * 1e6,
              (4 + 2) * (2 + bytes / 4 / 1e5), 1e-6);
}

TEST_F(OnOneNode, AReductionSendsAgainstTheHops) {
  Transport transport{builder, {Pattern::tree, 1}};
  Tiles sums = blocks();
  sums[gpus[2]].scale = Scalar::zero;
  transport.reduce(sums, members({1, 0, 2, 3}));
  std::vector<std::string> copies;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy)
      copies.push_back(plan.memories[plan.queue(op.queue).src.index()] + " to " +
                       plan.memories[plan.queue(op.queue).dst.index()]);
  // Nodes 0, 1, 2, 3 are GPUs 1, 0, 2, 3; hops 0-1, 0-2, 1-3; GPU 2 has a zero.
  EXPECT_EQ(copies, (std::vector<std::string>{"g3 to g0", "g0 to g1"}));
}

TEST_F(OnOneNode, AShiftSendsEachTileToTheNextMember) {
  Transport transport{builder};
  Tiles tiles = blocks();
  std::vector<int64_t> offsets;
  for (int64_t step = 1; step <= 4; ++step) {
    Tiles next;
    transport.shift(tiles, members({2, 0, 3}), next);
    Transport::drop(tiles);
    tiles = next;
    EXPECT_EQ(tiles.size(), 3u);
    EXPECT_EQ(number(tiles[gpus[0]]), (std::array{0, 2, 3, 0, 2}[size_t(step)]));
    EXPECT_EQ(number(tiles[gpus[3]]), (std::array{3, 0, 2, 3, 0}[size_t(step)]));
    EXPECT_EQ(buffer(tiles[gpus[3]]).memory, gpus[3]);
    offsets.push_back(tiles[gpus[0]].slot.offset);
  }
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, bytes, 0, bytes})) << "two slots in turns";
}

// ---------------------------------------------------------------------- algorithms

Layout grid_on(std::span<const MemoryId> gpus, LayoutGrid grid) {
  return {grid, {}, {}, {gpus.begin(), gpus.begin() + ptrdiff_t(grid.members())}};
}

GemmProblem cube_on(std::span<const MemoryId> gpus, LayoutGrid grid, int64_t side) {
  GemmProblem p;
  p.m = p.n = p.k = side;
  p.place_a = p.place_b = p.place_c = grid_on(gpus, grid);
  return p;
}

/// Whether the kernels of each GPU run without a pause between them.
void expect_no_pauses(const Plan& plan, const Topology& machine, size_t kernels) {
  const auto times = simulate_fluid(plan, machine);
  std::map<QueueId, std::vector<size_t>> of_queue;
  for (size_t i = 0; i < plan.ops.size(); ++i)
    if (plan.ops[i].kind == OpKind::gemm) of_queue[plan.ops[i].queue].push_back(i);
  EXPECT_EQ(of_queue.size(), plan.devices.size());
  for (const auto& [queue, ops] : of_queue) {
    EXPECT_EQ(ops.size(), kernels);
    for (size_t i = 1; i < ops.size(); ++i)
      EXPECT_NEAR(times[ops[i]].start, times[ops[i - 1]].end, 1e-9);
  }
}

/// A kernel of 16384^3 takes 1.76 s, and a block of 2.1 GB over a NIC of 12 GB/s, with
/// eight blocks at a time, at most 1.43 s.
TEST(PrescribedTransport, RunsUnderKernels) {
  const Topology machine{small_machine::gpu_nodes(4)};
  const std::span gpus{machine.gpus()};
  const GemmProblem p = cube_on(gpus, {4, 4, 1}, 4 * 16384);
  expect_no_pauses(plan_cannon25d(p, machine, gpus), machine, 4);
  expect_no_pauses(plan_summa(p, machine, {16384, {Pattern::chain, 8}}), machine, 4);
}

/// Squares of 512 x 512 f64: A and B doubled, and above layer 0 a sum. Sums that arrive
/// take the memory of A and B.
TEST(PrescribedTransport, TakesTwoTilesOfEachInput) {
  const Topology machine{small_machine::gpu_nodes(8)};
  const std::span gpus{machine.gpus()};
  constexpr int64_t block = 512 * 512 * 8;
  const GemmProblem p = cube_on(gpus, {4, 4, 1}, 4 * 512);
  const auto peak = [&](const Plan& plan, size_t gpu) {
    return plan.peak_bytes[gpus[gpu].index()];
  };
  EXPECT_EQ(peak(plan_cannon25d(p, machine, gpus.first(16)), 5), 4 * block);
  EXPECT_EQ(peak(plan_cannon25d(p, machine, gpus), 5), 4 * block);
  EXPECT_EQ(peak(plan_cannon25d(p, machine, gpus), 16), 5 * block);
  EXPECT_EQ(peak(plan_summa(p, machine, {128}), 5), 4 * block / 4);
}

TEST(PrescribedTransport, IsRefusedWithASentence) {
  auto description = small_machine::gpu_nodes(2);
  const Topology machine{description};
  const std::span gpus{machine.gpus()};
  const GemmProblem p = cube_on(gpus, {2, 2, 1}, 64);
  for (const auto& [count, grid] : {std::pair{7, 2}, {8, 1}, {2, 2}, {0, 2}, {4, 3}})
    expect_error(
        [&, count = size_t(count), grid = grid] {
          plan_cannon25d(cube_on(gpus, {grid, 1, 1}, 64), machine, gpus.first(count));
        },
        {.subject = "devices",
         .expected = "a number of layers by which the side of the grid is divisible"});
  GemmProblem other = p;
  other.place_b = gpus[0];
  expect_input_error([&] { plan_cannon25d(other, machine, gpus); },
                     {"place: 'g0' is not a place for B", "expected grid(2x2)@g0"});
  expect_input_error([&] { plan_summa(other, machine); },
                     {"place: 'g0' is not a place for B", "expected grid(2x2)@g0"});
  expect_error(
      [&] {
        plan_summa(cube_on(machine.hosts(), {1, 1, 1}, 64), machine);
      },
      {.subject = "devices"});
  description.memories[4].capacity = Bytes{(3 + 4) * 32 * 32 * 8 - 1};
  const Topology small{description};
  expect_input_error([&] { plan_cannon25d(p, small, gpus.first(4)); },
                     {"place: 'g3' has", "are needed"});
}

}  // namespace
}  // namespace tilerail::testing
