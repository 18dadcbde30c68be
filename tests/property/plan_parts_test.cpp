// The parts of a plan in ranks: together, they are the plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "plan/part.hpp"
#include "plan/validate.hpp"
#include "sched/algorithm/cannon25d.hpp"
#include "sched/algorithm/summa.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/gpu_nodes.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/prescribed_problems.hpp"
#include "tests/support/test_seed.hpp"

namespace tilerail::testing {
namespace {

/// An operand: the elements of a tensor in a memory, and where they are if it is known.
std::string name(const Plan& plan, const View& view, bool with_place) {
  const Buffer& b = plan.buffer(view.buffer);
  std::ostringstream out;
  out << " " << b.tensor.value << " in " << b.memory.value << ": " << b.row + view.row
      << " " << b.col + view.col << " " << view.rows << " x " << view.cols << " "
      << int(b.dtype);
  if (with_place)
    out << " at " << b.in_arena << " " << b.offset << " " << view.row << " " << view.col
        << " " << b.ld;
  return out.str();
}

/// An operation as one rank sees it.
std::string name(const Plan& plan, const Op& op, const OwnRank& own) {
  const Queue& q = plan.queue(op.queue);
  std::ostringstream out;
  out << to_string(op.kind) << int(op.trans_a) << int(op.trans_b) << int(op.alpha)
      << int(op.beta) << " " << int(q.kind) << " " << q.src.value << " " << q.dst.value
      << " " << q.index;
  for (const View& view : plan.operands_of(op))
    out << name(plan, view, own.has(plan.buffer(view.buffer).memory));
  return out.str();
}

/// The last operation of each queue but the own one: what a plan keeps of dependencies.
std::set<OpId> last_of_queues(const Plan& plan, OpId op, const std::set<OpId>& deps) {
  std::map<QueueId, OpId> last;  // sets are in ascending order
  for (const OpId dep : deps) last[plan.op(dep).queue] = dep;
  last.erase(plan.op(op).queue);
  std::set<OpId> kept;
  for (const auto& [queue, dep] : last) kept.insert(dep);
  return kept;
}

/// Each operation of the plan is in the parts of the ranks of its memories, in order, and
/// depends in one of them on what it depends on in the plan.
void expect_union(const Plan& plan, const std::vector<PlanPart>& parts) {
  std::vector<std::vector<OpId>> in_plan(parts.size());  // by rank and own operation
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    const Queue& queue = plan.queue(op.queue);
    std::set<OpId> deps;
    for (size_t r = 0; r < parts.size(); ++r) {
      const PlanPart& part = parts[r];
      if (!part.own.has(queue.src) && !part.own.has(queue.dst)) continue;
      const OpId own{in_plan[r].size()};
      ASSERT_LT(own.index(), part.plan.ops.size()) << "rank " << r;
      ASSERT_EQ(name(part.plan, part.plan.op(own), part.own), name(plan, op, part.own))
          << "rank " << r << " operation " << i;
      for (const OpId dep : part.plan.deps_of(own)) deps.insert(in_plan[r][dep.index()]);
      in_plan[r].push_back(OpId{i});
    }
    const auto expected = plan.deps_of(OpId{i});
    ASSERT_EQ(last_of_queues(plan, OpId{i}, deps),
              (std::set<OpId>{expected.begin(), expected.end()}))
        << "operation " << i;
  }
  for (size_t r = 0; r < parts.size(); ++r)
    EXPECT_EQ(in_plan[r].size(), parts[r].plan.ops.size()) << "rank " << r;
}

/// A part has no buffers of tiles that only other ranks have.
void expect_own_buffers(const Plan& plan, const PlanPart& part) {
  size_t expected = part.transfers.size();
  for (const Buffer& b : plan.buffers) expected += !b.in_arena || part.own.has(b.memory);
  EXPECT_EQ(part.plan.buffers.size(), expected);
  for (size_t m = 0; m < plan.peak_bytes.size(); ++m)
    EXPECT_EQ(part.plan.peak_bytes[m],
              part.own.has(MemoryId{m}) ? plan.peak_bytes[m] : 0);
}

/// Every message is in the lists of its sender and of its receiver, at the same place,
/// and has a name of its own.
void expect_agreement(const std::vector<PlanPart>& parts) {
  std::set<Message> all;
  size_t sent = 0;
  for (const PlanPart& from : parts)
    for (const PlanPart& to : parts) {
      const auto messages = from.messages(to.own.id, true);
      EXPECT_EQ(messages, to.messages(from.own.id, false));
      all.insert(messages.begin(), messages.end());
      sent += messages.size();
    }
  EXPECT_EQ(all.size(), sent);
}

template <class PartOf>
void check(const Topology& machine, const Ranks& ranks, const Plan& plan, PartOf part) {
  std::vector<PlanPart> generated, derived;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const OwnRank own{ranks, RankId{r}};
    generated.push_back(part(own));
    derived.push_back(part_of(plan, machine, own));
    EXPECT_EQ(shared_hash(generated[r]), shared_hash(derived[0]));
  }
  for (const auto* parts : {&generated, &derived}) {
    SCOPED_TRACE(parts == &generated ? "generated" : "derived");
    expect_union(plan, *parts);
    expect_agreement(*parts);
    for (const PlanPart& each : *parts) {
      validate(each.plan, machine, each.own);
      expect_own_buffers(plan, each);
    }
  }
}

/// `gpus_of_rank`: numbers to choose from.
void check_random(int nodes, std::initializer_list<int> gpus_of_rank,
                  std::initializer_list<LayoutGrid> grids, uint64_t seed) {
  const Topology machine{small_machine::gpu_nodes(nodes)};
  Random random{seed};
  for (int i = 0; i < 250 && !::testing::Test::HasFailure(); ++i) {
    const Ranks ranks = small_machine::ranks_of_gpus(
        machine, gpus_of_rank.begin()[random() % gpus_of_rank.size()]);
    const LayoutGrid grid = grids.begin()[random() % grids.size()];
    const std::span gpus = std::span{machine.gpus()}.first(grid.members());
    GemmProblem p = random_problem(random, 40);
    const Transport::Options transport = random_transport(random);
    SCOPED_TRACE(text(p, transport));
    p.place_a = p.place_b = p.place_c =
        grid_on(machine.gpus(), {grid.rows, grid.cols, 1});
    if (grid.replicas == 1 && random() % 4 == 0)
      p.place_a = p.place_b = p.place_c =
          Layout::block_cyclic(grid, 7, 9, {gpus.begin(), gpus.end()});
    if (grid.rows % grid.replicas == 0 && grid.rows == grid.cols &&
        p.place_a == grid_on(machine.gpus(), {grid.rows, grid.cols, 1}))
      check(machine, ranks, plan_cannon25d(p, machine, gpus, transport),
            [&](const OwnRank& own) {
              return part_of_cannon25d(p, machine, gpus, own, transport);
            });
    const SummaOptions options{4 + random_below(random, 16), transport};
    check(machine, ranks, plan_summa(p, machine, options),
          [&](const OwnRank& own) { return part_of_summa(p, machine, own, options); });
  }
}

TEST(PlanParts, TogetherAreThePlanOnEightGpus) {
  check_random(2, {1, 2, 4, 8}, {{2, 2, 2}, {2, 4}, {2, 2}, {8, 1}, {1, 1}},
               test::test_seed());
}

TEST(PlanParts, TogetherAreThePlanOnThirtyTwoGpus) {
  check_random(8, {2, 4, 8, 16}, {{4, 4, 2}, {3, 3, 3}, {4, 8}, {5, 5}},
               test::test_seed() + 1);
}

TEST(PlanParts, NeedMessagesBetweenTheirRanks) {
  const Topology machine{small_machine::gpu_nodes(2)};
  PlanDraft draft{machine};
  const MemoryId g0 = machine.gpus()[0], g4 = machine.gpus()[4];
  const View x = draft.tile(g0, 4, 4), y = draft.tile(g4, 4, 4);
  const OpId first = draft.axpby(draft.compute_queue(g0), x, x, {});
  const OpId sent = draft.copy(draft.copy_queue(g0, g4), x, y, {first});
  draft.axpby(draft.compute_queue(g4), y, y, {}, {sent});
  const Ranks ranks = small_machine::ranks_of_gpus(machine, 4);
  EXPECT_EQ(part_of(draft.plan, machine, {ranks, RankId{1}}).transfers.size(), 1u);
  draft.axpby(draft.compute_queue(g4), y, y, {}, {first});
  EXPECT_EQ(part_of(draft.plan, machine, {ranks, RankId{0}}).transfers.size(), 1u);
  expect_input_error(
      [&] {
        part_of(draft.plan, machine, {ranks, RankId{1}});
      },
      {"operation 3 depends on operation 0"});
}

TEST(PlanParts, EachMemoryBelongsToOneRank) {
  const Topology machine{small_machine::gpu_nodes(1)};
  const auto& gpus = machine.gpus();
  const MemoryId host = machine.hosts()[0];
  expect_input_error(
      [&] {
        Ranks(std::vector<Rank>{{{host, gpus[0]}}, {{gpus[0]}}}, machine);
      },
      {"ranks: 'g0' is given twice"});
  expect_input_error(
      [&] {
        Ranks(std::vector<Rank>{{{host, gpus[0], gpus[1], gpus[3]}}}, machine);
      },
      {"ranks", "is missing", "g2"});
}

}  // namespace
}  // namespace tilerail::testing
