// Staged copies of tiles: addresses, capacity and dependencies of host buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sched/tasks/copier.hpp"
#include "sched/tasks/workspace.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

/// A host and three GPUs with links of 10 GB/s and no latency; no links between the GPUs.
Topology star() {
  auto d = small_machine::memories_and_switches(3, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (const char* gpu : {"g0", "g1", "g2"}) small_machine::add_links(d, "h", gpu, 10);
  return Topology{d};
}

Decisions staged(int chunks) {
  Decisions d;
  d.choices.peer_copies = PeerCopies::staged, d.choices.stage_chunks = chunks;
  return d;
}

class OverTheHost : public ::testing::Test {
 protected:
  static constexpr MemoryId host{0}, g0{1}, g1{2}, g2{3};
  static constexpr int64_t alignment = 256;

  Topology machine = star();
  GemmProblem problem = cube(4096);
  Resources resources{machine};
  Decisions decisions = staged(4);
  std::vector<MemoryId> devices{g0, g1, g2};
  std::vector<int64_t> capacities = std::vector<int64_t>(3, int64_t{1} << 34);
  Plan plan = empty_plan(problem, machine);
  PlanBuilder builder{plan};
  KernelCosts costs{machine};
  PlanSetup setup{machine, resources, decisions, devices, capacities, builder, costs, {}};
  Workspace space{setup, {}, 0};
  PlanContext& context = space.context();

  View tile(MemoryId memory, int64_t rows, int64_t cols) {
    const Buffer tile{.memory = memory, .rows = rows, .cols = cols, .ld = rows};
    return {builder.add_buffer(tile), 0, 0, rows, cols};
  }
  /// Sends a tile from g0 to another GPU, on behalf of the other GPU.
  Copier::Result send(size_t device, int64_t rows, int64_t cols) {
    const MemoryId to = devices[device];
    return context.copier->copy(context.router.leg(g0, to, false),
                                {device, tile(g0, rows, cols), tile(to, rows, cols)});
  }
  std::vector<Buffer> host_buffers() const {
    std::vector<Buffer> found;
    std::ranges::copy_if(plan.buffers, std::back_inserter(found),
                         [](const Buffer& buffer) { return buffer.memory == host; });
    return found;
  }
  int64_t peak() {
    space.note_peaks(plan);
    return plan.peak_bytes[host.index()];
  }
};

TEST_F(OverTheHost, EachPieceLeavesTheBufferOnArrival) {
  send(1, 8, 10);
  ASSERT_EQ(plan.ops.size(), 8U) << "four pieces in, four out";
  int64_t column = 0;
  for (size_t j = 0; j < 4; ++j) {
    const OpId in{2 * j}, out{2 * j + 1};
    EXPECT_EQ(plan.queue(plan.op(in).queue).dst, host);
    EXPECT_EQ(plan.queue(plan.op(out).queue).src, host);
    EXPECT_TRUE(waits_for(plan, out, in));
    EXPECT_EQ(plan.operands_of(plan.op(in))[0].col, column);
    EXPECT_EQ(plan.result(plan.op(out)).col, column);
    EXPECT_EQ(covered(plan.result(plan.op(in))),
              covered(plan.operands_of(plan.op(out))[0]))
        << "the same columns of the buffer";
    column += plan.operands_of(plan.op(in))[0].cols;
  }
  EXPECT_EQ(column, 10) << "all columns, once each";
}

TEST_F(OverTheHost, ATileOfFewColumnsGoesInAsManyPieces) {
  send(1, 8, 3);
  EXPECT_EQ(plan.ops.size(), 6U);
}

// Two buffers per device: the third tile reuses the memory of the first, and waits until
// the first has left it.
TEST_F(OverTheHost, ADeviceUsesTwoBuffersInTurn) {
  constexpr int64_t bytes = 64 * 64 * 8;  // a multiple of the alignment
  const OpId first_left = send(1, 64, 64).pieces.last;
  send(1, 64, 64);
  const size_t ops = plan.ops.size();
  send(1, 64, 64);
  std::vector<int64_t> offsets;
  for (const Buffer& buffer : host_buffers()) offsets.push_back(buffer.offset);
  EXPECT_THAT(offsets, ::testing::ElementsAre(0, bytes, 0));
  EXPECT_TRUE(waits_for(plan, OpId{ops}, first_left));
  EXPECT_EQ(peak(), 2 * bytes);
}

TEST_F(OverTheHost, BuffersOfTwoDevicesAreApartAndAligned) {
  for (int i = 0; i < 4; ++i)
    for (const size_t device : {size_t{1}, size_t{2}}) send(device, 10, 10);
  const std::vector<Buffer> buffers = host_buffers();
  std::set<int64_t> of_first, of_second;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].offset % alignment, 0);
    (i % 2 == 0 ? of_first : of_second).insert(buffers[i].offset);
  }
  EXPECT_EQ(of_first.size(), 2U);
  EXPECT_EQ(of_second.size(), 2U);
  std::set<int64_t> all = of_first;
  all.insert(of_second.begin(), of_second.end());
  ASSERT_EQ(all.size(), 4U);
  int64_t before = -1;
  for (const int64_t offset :
       all) {  // 10 columns of 10 doubles, each aligned to 64 bytes: 16 doubles
    if (before >= 0) {
      EXPECT_GE(offset - before, 10 * 16 * 8);
    }
    before = offset;
  }
  EXPECT_GE(peak(), *all.rbegin() + 10 * 16 * 8);
}

TEST_F(OverTheHost, ALargerTileGetsSeparateMemory) {
  send(1, 64, 64), send(1, 64, 64);
  send(1, 64, 128);
  EXPECT_GE(host_buffers().back().offset, 2 * 64 * 64 * 8);
  EXPECT_EQ(peak(), 4 * 64 * 64 * 8);
}

// The first of four pieces arrives after 2/4 of the time of one way, and the three others
// 1/4 later each.
TEST_F(OverTheHost, BothLegsOverlap) {
  const double one_way = 1000 * 1000 * 8 / 10e9;
  const Leg leg = context.router.leg(g0, g1, false);
  EXPECT_NEAR(context.copier->arrival(leg, tile(g0, 1000, 1000), 1, {}).last.value,
              1.25 * one_way, 1e-12);
  EXPECT_NEAR(send(1, 1000, 1000).arrival.last.value, 1.25 * one_way, 1e-12);
  EXPECT_NEAR(context.copier->arrival(leg, tile(g0, 1000, 1000), 1, {}).last.value,
              2.25 * one_way, 1e-12)
      << "after the one before";
}

View tile_on(PlanBuilder& builder, int memory) {
  const Buffer tile{.memory = MemoryId{memory}, .rows = 9, .cols = 9, .ld = 9};
  return {builder.add_buffer(tile), 0, 0, 9, 9};
}

/// A host and two GPUs with links between all pairs.
Topology triangle() {
  auto d = small_machine::memories_and_switches(2, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (const char* gpu : {"g0", "g1"}) small_machine::add_links(d, "h", gpu, 10);
  small_machine::add_links(d, "g0", "g1", 10);
  return Topology{d};
}

// Piece j of a copy depends on piece j of the copy that brought the tile, or, if the
// numbers of pieces differ, on all of them.
TEST(DirectCopies, FollowEarlierPieces) {
  const Topology machine = triangle();
  const GemmProblem problem = cube(64);
  const Resources resources{machine};
  Decisions decisions;
  const std::vector<MemoryId> devices{MemoryId{1}, MemoryId{2}};
  const std::vector<int64_t> capacities(2, 1 << 30);
  for (const int pieces : {3, 2}) {
    Plan plan = empty_plan(problem, machine);
    PlanBuilder builder{plan};
    KernelCosts costs{machine};
    Workspace space{
        {machine, resources, decisions, devices, capacities, builder, costs, {}}, {}, 0};
    PlanContext& context = space.context();
    std::vector<View> views;
    for (const int memory : {0, 1, 2}) views.push_back(tile_on(builder, memory));
    Copier::Job job{0, views[0], views[1]};
    job.pieces = 3;
    const Copier::Result first =
        context.copier->copy(context.router.leg(MemoryId{0}, MemoryId{1}, true), job);
    EXPECT_EQ(first.pieces.count(), 3);
    job.from = views[1], job.to = views[2], job.before = first.pieces,
    job.pieces = pieces;
    const Copier::Result second =
        context.copier->copy(context.router.leg(MemoryId{1}, MemoryId{2}, false), job);
    for (int j = 0; j < pieces; ++j) {
      const OpId op{second.pieces.first.value + j},
          expected{pieces == 3 ? first.pieces.first.value + j : 2};
      const auto deps = plan.deps_of(op);
      // The queue already orders later pieces after this dependency.
      if (pieces == 3 || j == 0) {
        EXPECT_THAT(std::vector(deps.begin(), deps.end()),
                    ::testing::ElementsAre(expected));
      }
    }
  }
}

}  // namespace
}  // namespace tilerail::testing
