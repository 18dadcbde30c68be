// Routes over another GPU as in PARALiA's library: used, in pieces, if their narrower
// link is much wider.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "plan/validate.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

using small_machine::memory;

/// A host with three GPUs; 20 GB/s between g0 and g1, `wide` GB/s from both to g2.
Topology machine_with(double wide) {
  auto d = small_machine::memories_and_switches(3, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (const char* gpu : {"g0", "g1", "g2"}) small_machine::add_links(d, "h", gpu, 10);
  small_machine::add_links(d, "g0", "g1", 20);
  small_machine::add_links(d, "g0", "g2", wide),
      small_machine::add_links(d, "g2", "g1", wide);
  return Topology{d};
}

Plan planned(const Topology& machine, std::initializer_list<std::string_view> overrides) {
  GemmProblem problem = cube(1536);
  problem.n = 512;  // a tile of C, and its row of A, for each GPU
  problem.place_a = memory(machine, "g0"), problem.place_b = memory(machine, "g1");
  Plan plan = plan_gemm(problem, machine, machine.gpus(), policy("paralia", overrides));
  validate(plan, machine);
  return plan;
}

/// Copies of a plan by their pair of memories.
std::map<std::string, std::vector<OpId>> copies(const Plan& plan,
                                                const Topology& machine) {
  std::map<std::string, std::vector<OpId>> found;
  for (size_t i = 0; i < plan.ops.size(); ++i)
    if (const Queue& queue = plan.queue(plan.ops[i].queue);
        queue.kind == Queue::Kind::copy)
      found[machine.memory(queue.src).name + ">" + machine.memory(queue.dst).name]
          .push_back(OpId{i});
  return found;
}

// Links of 30 GB/s take more time in total than one of 20, but 0.8 x 30 is wider.
TEST(WidePaths, AreTakenEvenIfTheirTimesAddUpToMore) {
  const Topology wide = machine_with(30), narrow = machine_with(24);  // 0.8 x 24 < 20
  EXPECT_FALSE(copies(planned(wide, {"tile=512"}), wide).contains("g0>g1"));
  EXPECT_TRUE(
      copies(planned(wide, {"tile=512", "routing=link-map"}), wide).contains("g0>g1"));
  EXPECT_TRUE(
      copies(planned(wide, {"tile=512", "routing=link-map(rule=bottleneck,max-hops=0)"}),
             wide)
          .contains("g0>g1"));
  EXPECT_TRUE(copies(planned(narrow, {"tile=512"}), narrow).contains("g0>g1"));
}

TEST(WidePaths, ForwardPiecesOnArrival) {
  const Topology machine = machine_with(30);
  const Plan plan =
      planned(machine, {"tile=512", "routing=link-map(rule=bottleneck,chunks=4)"});
  const auto by_pair = copies(plan, machine);
  int passed_on = 0;
  for (const OpId onward : by_pair.at("g2>g1")) {
    EXPECT_EQ(plan.result(plan.op(onward)).cols, 128);
    for (const OpId dep : plan.deps_of(onward)) {
      const Queue& queue = plan.queue(plan.op(dep).queue);
      if (queue.kind != Queue::Kind::copy || queue.src != memory(machine, "g0")) continue;
      EXPECT_EQ(plan.result(plan.op(dep)).col, plan.operands_of(plan.op(onward))[0].col);
      EXPECT_EQ(plan.result(plan.op(dep)).cols, 128);
      ++passed_on;
    }
  }
  EXPECT_GT(passed_on, 0);
  EXPECT_EQ(by_pair.at("g2>g1").size() % 4, 0u);
}

/// Number of tiles from g0 to g2, g1 to g2 and g0 to g1, with all matrices on the host;
/// all GPUs need all of B.
std::vector<size_t> sent_to_others(double host_rate, const char* rule,
                                   double g0_to_g2 = 40) {
  auto d = small_machine::memories_and_switches(3, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (const char* gpu : {"g0", "g1", "g2"})
    small_machine::add_links(d, "h", gpu, host_rate);
  small_machine::add_links(d, "g0", "g1", 40),
      small_machine::add_links(d, "g0", "g2", g0_to_g2);
  small_machine::add_links(d, "g1", "g2", 40);
  const Topology machine{d};
  const Plan plan = plan_gemm(cube(6144), machine, machine.gpus(),
                              policy("paralia", {"tile=512", rule, "agent=none"}));
  const auto by_pair = copies(plan, machine);
  std::vector<size_t> counts;
  for (const char* pair : {"g0>g2", "g1>g2", "g0>g1"})
    counts.push_back(by_pair.contains(pair) ? by_pair.at(pair).size() : 0);
  return counts;
}

// g2 fetches a tile from g0 or g1, whichever has sent it fewer tiles.
TEST(WidePaths, EquallyWideSourcesTakeTurns) {
  EXPECT_EQ(sent_to_others(10, "routing=link-map(rule=bottleneck)"),
            (std::vector<size_t>{72, 72, 144}));
  EXPECT_EQ(sent_to_others(10, "routing=link-map"), (std::vector<size_t>{144, 0, 144}));
}

// Rates within a tenth of the fastest are equal, and the lowest GPU is taken; lower rates
// are not equal.
TEST(PeerRank, TakesTheLowestGpuOfNearlyEqualRates) {
  EXPECT_EQ(sent_to_others(60, "routing=peer-rank", 37),
            (std::vector<size_t>{144, 0, 144}));
  EXPECT_EQ(sent_to_others(60, "routing=peer-rank", 35),
            (std::vector<size_t>{0, 144, 144}));
}

// Without agents, all tiles of other GPUs are in flight; 0.9 x 40 GB/s lies between 35
// and 37.
TEST(WidePaths, TilesInFlightCountLess) {
  EXPECT_EQ(sent_to_others(35, "routing=link-map(rule=bottleneck)"),
            (std::vector<size_t>{72, 72, 144}));
  EXPECT_EQ(sent_to_others(37, "routing=link-map(rule=bottleneck)"),
            (std::vector<size_t>{0, 0, 0}));
}

}  // namespace
}  // namespace tilerail::testing
