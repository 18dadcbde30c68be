// Plans of matrices in blocks on two hosts: tiles end at block borders and come from
// their own host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "plan/validate.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail::testing {
namespace {

TEST(Tiles, EndAtBorders) {
  const std::vector<int64_t> borders{5, 10, 12};
  const auto tiles = split_tiles({0, 14}, 4, borders);
  std::vector<int64_t> ends;
  for (const IndexRange tile : tiles) ends.push_back(tile.end);
  EXPECT_THAT(ends, ::testing::ElementsAre(4, 5, 9, 10, 12, 14));
}

// The faster second layer has k from 250; a border is at 500.
TEST(Tiles, EndAtBordersInEachLayerOfK) {
  const std::vector<double> shares{1, 3};
  const Tiling tiling{
      {{0, 900}, {0, 900}, {0, 1000}}, {1, 1, 2}, 300, Distribution::blocks, shares,
      Borders{{450}, {}, {500}}};
  const auto ends = [](const std::vector<IndexRange>& tiles) {
    std::vector<int64_t> all;
    for (const IndexRange tile : tiles) all.push_back(tile.end);
    return all;
  };
  EXPECT_THAT(ends(tiling.k), ::testing::ElementsAre(250, 500, 800, 1000));
  EXPECT_EQ(tiling.depth(0).end, 1);
  EXPECT_EQ(tiling.depth(1).end, 4);
  EXPECT_THAT(ends(tiling.m), ::testing::ElementsAre(300, 450, 750, 900));
  EXPECT_THAT(ends(tiling.n), ::testing::ElementsAre(300, 600, 900));
}

class HomesInBlocks : public ::testing::Test {
 protected:
  GemmProblem problem(const char* a, const char* b, const char* c) const {
    GemmProblem p = cube(1000);
    p.place_a = testing::layout(machine, a), p.place_b = testing::layout(machine, b),
    p.place_c = testing::layout(machine, c);
    return p;
  }
  Plan plan(const GemmProblem& p, std::string_view also = "tile=300") const {
    return plan_gemm(p, machine, machine.gpus(),
                     policy("gemmex", {"tile=300", "ragged=own", also}));
  }
  MemoryId memory(const char* name) const { return small_machine::memory(machine, name); }
  Topology machine{small_machine::two_hosts()};
};

// A and C by columns meet at column 500 of 1000, B by rows at row 500: k and n are cut
// there, but m is not.
TEST_F(HomesInBlocks, EveryCopyUsesTheHostThatHoldsTheBytes) {
  const Plan made = plan(problem("h/cols", "h/rows", "h/cols"));
  validate(made, machine);
  double from_each[2] = {}, to_each[2] = {};
  for (const Op& op : made.ops) {
    if (op.kind != OpKind::copy) continue;
    const Queue& queue = made.queue(op.queue);
    const Buffer &from = made.buffer(made.operands_of(op)[0].buffer),
                 &to = made.buffer(made.result(op).buffer);
    for (const auto& [buffer, end] :
         {std::pair{from, queue.src}, std::pair{to, queue.dst}}) {
      if (buffer.in_arena) continue;
      const int64_t first = buffer.offset / 8,
                    half = buffer.tensor == tensor_b ? 500 : 500 * 1000;
      EXPECT_EQ(first, end == memory("h0") ? 0 : half);
    }
    if (machine.is_host(queue.src))
      from_each[queue.src == memory("h1")] += copy_bytes(made, op).value;
    if (machine.is_host(queue.dst))
      to_each[queue.dst == memory("h1")] += copy_bytes(made, op).value;
  }
  EXPECT_EQ(from_each[0], from_each[1]);
  EXPECT_EQ(to_each[0], 8.0 * 1000 * 500);
  EXPECT_EQ(to_each[1], 8.0 * 1000 * 500);
}

// Each GPU multiplies the part of k on its own host, and the total goes home to both
// hosts.
TEST_F(HomesInBlocks, LayersOfKReadTheHostThatHasTheirPart) {
  for (const char* c : {"h*", "h/rows", "h1"}) {
    const Plan made = plan(problem("h/cols", "h/rows", c), "grid=square(layers=2)");
    validate(made, machine);
    std::map<std::pair<std::string, std::string>, double> copied;
    const auto name = [&](MemoryId id) { return machine.memory(id).name; };
    int additions = 0;
    for (const Op& op : made.ops) {
      additions += op.kind == OpKind::axpby;
      if (op.kind != OpKind::copy ||
          testing::is_of(made.buffer(made.operands_of(op)[0].buffer), tensor_c))
        continue;
      const Queue& queue = made.queue(op.queue);
      copied[{name(queue.src), name(queue.dst)}] += copy_bytes(made, op).value;
    }
    const double whole = 8.0 * 1000 * 1000;
    EXPECT_GE(additions, 4 * 4) << c;
    EXPECT_EQ((copied[{"h0", "g0"}]), whole) << c;  // half of A and half of B
    EXPECT_EQ((copied[{"h1", "g1"}]), whole) << c;
    EXPECT_EQ((copied[{"g0", "g1"}] + copied[{"g1", "g0"}]), whole)
        << c;  // a partial sum per element
    const double to_h0 = copied[{"g0", "h0"}] + copied[{"g1", "h0"}];
    const double to_h1 = copied[{"g0", "h1"}] + copied[{"g1", "h1"}];
    const double to_both = copied[{"g0", "h*"}] + copied[{"g1", "h*"}];
    EXPECT_EQ(to_h0 + to_h1 + to_both, whole) << c;
    EXPECT_EQ(to_h0, std::string{c} == "h/rows" ? whole / 2 : 0) << c;
  }
}

TEST_F(HomesInBlocks, APlanKeepsItsBlocksInItsFile) {
  const Plan made = plan(problem("h/rows", "h/cols", "h/rows"));
  const std::string json = to_json(made);
  const Plan read = plan_from_json(json, "plan.json");
  EXPECT_EQ(content_hash(read), content_hash(made));
  EXPECT_NO_THROW(validate(read, machine));
}

TEST_F(HomesInBlocks, BlocksThatDoNotMatchThePlaceAreRefused) {
  const Plan made = plan(problem("h/cols", "h0", "h0"));
  Plan moved = made;
  moved.buffers[0].row = 1;
  expect_input_error([&] { validate(moved); }, {"the buffers of A", "its layout"});
  Plan outside = made;
  outside.buffers[1].offset += 8;
  expect_input_error([&] { validate(outside); }, {"the buffers of A"});
}

// Tiles of interleaved pages are not cut, and come from all hosts simultaneously.
TEST_F(HomesInBlocks, InterleavedPagesAreOneHome) {
  const Plan made = plan(problem("h*", "h*", "h*"));
  validate(made, machine);
  for (const Queue& queue : made.queues) {
    if (queue.kind != Queue::Kind::copy) continue;
    for (const MemoryId end : {queue.src, queue.dst})
      EXPECT_TRUE(end == memory("h*") || !machine.is_host(end))
          << machine.memory(end).name;
  }
}

}  // namespace
}  // namespace tilerail::testing
