// GPUs without a route from any holder of a tile: the tile is forwarded by other GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "plan/validate.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

using small_machine::memory;

/// GPUs with links to the host and the given links between GPUs.
Topology machine_with(int gpus,
                      std::initializer_list<std::pair<const char*, const char*>> links) {
  auto d = small_machine::memories_and_switches(gpus, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (int gpu = 0; gpu < gpus; ++gpu)
    small_machine::add_links(d, "h", "g" + std::to_string(gpu), 10);
  for (const auto& [from, to] : links) small_machine::add_links(d, from, to, 50);
  return Topology{d};
}

GemmProblem placed(const Topology& machine, const std::string& a, const std::string& b,
                   int64_t side = 2048) {
  GemmProblem problem = cube(side);
  problem.place_a = memory(machine, a), problem.place_b = memory(machine, b);
  return problem;
}

/// Names of the pairs of memories between which parts of a matrix, or copies of them, are
/// copied.
std::set<std::string> pairs(const Plan& plan, const Topology& machine) {
  std::set<std::string> found;
  for (const Op& op : plan.ops)
    if (const Queue& queue = plan.queue(op.queue); queue.kind == Queue::Kind::copy)
      found.insert(machine.memory(queue.src).name + ">" + machine.memory(queue.dst).name);
  return found;
}

const std::initializer_list<std::pair<const char*, const char*>> star_links = {
    {"g0", "g2"}, {"g1", "g2"}};
const std::initializer_list<std::pair<const char*, const char*>> chain_links = {
    {"g0", "g2"}, {"g2", "g3"}, {"g3", "g1"}};

TEST(Detour, GoesOverAGpuThatHasRoutesToBoth) {
  const Topology machine = machine_with(3, star_links);
  for (const char* name : {"tilerail", "paralia", "gemmex"}) {
    const Plan plan = plan_gemm(placed(machine, "g0", "g1"), machine, machine.gpus(),
                                policy(name, {"devices=all"}));
    validate(plan, machine);
    EXPECT_EQ(plan.devices.size(), 3u) << name;
    EXPECT_THAT(pairs(plan, machine),
                ::testing::IsSupersetOf({"g0>g2", "g2>g1", "g1>g2", "g2>g0"}))
        << name;
  }
}

TEST(Detour, TakesSeveralHopsIfNecessary) {
  const Topology machine = machine_with(4, chain_links);
  const Plan plan = plan_gemm(placed(machine, "g0", "g1"), machine, machine.gpus(),
                              policy("paralia", {"devices=all"}));
  validate(plan, machine);
  EXPECT_THAT(pairs(plan, machine), ::testing::IsSupersetOf({"g0>g2", "g2>g3", "g3>g1",
                                                             "g1>g3", "g3>g2", "g2>g0"}));
}

TEST(Detour, RequiresCaching) {
  const Topology machine = machine_with(3, star_links);
  expect_input_error(
      [&] {
        plan_gemm(
            placed(machine, "g0", "g1"), machine, machine.gpus(),
            policy("tilerail", {"devices=all", "caching=off", "peer-copies=direct"}));
      },
      {"no route from 'g1' to 'g0'"});
}

TEST(Detour, AHostReplacesItWithoutCaching) {
  const Topology machine = machine_with(3, star_links);
  const Plan plan = plan_gemm(placed(machine, "g0", "g1"), machine, machine.gpus(),
                              policy("tilerail", {"devices=all", "caching=off"}));
  EXPECT_THAT(pairs(plan, machine), ::testing::IsSupersetOf({"g1>h", "h>g0"}));
}

TEST(Detour, GpusThatNeedADetourCanBeChosen) {
  const Topology machine = machine_with(4, chain_links);
  const GemmProblem problem = placed(machine, "g0", "g1", 16384);
  const auto gpus = machine.gpus();
  EXPECT_EQ(supplied_devices(problem, machine, gpus), gpus);
  EXPECT_TRUE(directly_supplied(problem, machine, gpus).empty());
  EXPECT_EQ(plan_gemm(problem, machine, gpus, any_preset("tilerail")).devices.size(), 4u);
  // Without g3, the others receive nothing from g1, nor does g1 from them.
  const std::vector<MemoryId> three{gpus[0], gpus[1], gpus[2]};
  EXPECT_TRUE(supplied_devices(problem, machine, three).empty());
  const Topology short_ways = machine_with(3, star_links);
  EXPECT_EQ(
      directly_supplied(placed(short_ways, "g0", "g1"), short_ways, short_ways.gpus()),
      std::vector{memory(short_ways, "g2")});
}

// C is on g0, to which g1 has no route: the search tries plans with copies between them
// and drops them.
TEST(Detour, PlansThatCannotRunAreNotSimulated) {
  const Topology machine = machine_with(4, chain_links);
  const Resources resources{machine};
  GemmProblem problem = placed(machine, "g0", "g1");
  problem.place_c = memory(machine, "g0");
  std::atomic<int> judged = 0;
  const PlanSimulator simulator{[&](const Plan& plan) {
    validate(plan, machine);
    ++judged;
    return PlanCost{estimate_plan(plan, machine, resources).makespan, {}};
  }};
  const Plan plan =
      plan_gemm(problem, machine, machine.gpus(),
                policy("tilerail", {"routing=link-map(max-hops=2)"}), simulator);
  validate(plan, machine);
  EXPECT_GT(judged.load(), 10);
  EXPECT_GT(plan.devices.size(), 1u);
}

// C is also forwarded by g1: without g0 the plan takes 1.5 times as long.
TEST(Detour, GpusThatReturnCOverOtherGpusCanBeChosen) {
  const Topology machine = machine_with(3, {{"g0", "g1"}, {"g1", "g2"}});
  const Resources resources{machine};
  GemmProblem problem = placed(machine, "g0", "g1", 4096);
  problem.place_c = memory(machine, "g2");
  const PlanSimulator simulator{[&](const Plan& plan) {
    return PlanCost{estimate_plan(plan, machine, resources).makespan, {}};
  }};
  const std::vector<MemoryId> two{memory(machine, "g0"), memory(machine, "g1")};
  EXPECT_EQ(supplied_devices(problem, machine, two), std::vector{memory(machine, "g1")});
  EXPECT_EQ(supplied_devices(problem, machine, two, ReturnPath::over_others), two);
  const Plan plan = plan_gemm(problem, machine, two, any_preset("tilerail"), simulator);
  validate(plan, machine);
  EXPECT_EQ(plan.devices.size(), 2u);
  // Without relays and without staged copies, g0 has no route to C.
  const Policy direct = policy("tilerail", {"routing=link-eta", "peer-copies=direct"});
  EXPECT_EQ(plan_gemm(problem, machine, two, direct, simulator).devices.size(), 1u);
}

/// Columns of each copy between two memories.
std::vector<int64_t> columns(const Plan& plan, MemoryId src, MemoryId dst) {
  std::vector<int64_t> found;
  for (const Op& op : plan.ops)
    if (const Queue& queue = plan.queue(op.queue); queue.src == src && queue.dst == dst)
      found.push_back(plan.result(op).cols);
  return found;
}

// One tile; A and B on g0, which computes, and C on g1, forwarded by g2 both ways. With
// four pieces per hop, piece j of the second hop depends on piece j of the first; by the
// other rule, one whole copy depends on the other.
TEST(Detour, TilesOfCPassOtherGpusInPiecesUnderTheBottleneckRule) {
  const Topology machine = machine_with(3, star_links);
  const MemoryId g0 = memory(machine, "g0"), g1 = memory(machine, "g1"),
                 g2 = memory(machine, "g2");
  GemmProblem problem = placed(machine, "g0", "g0", 1024);
  problem.place_c = g1;
  const auto plan_by = [&](const char* rule) {
    return plan_gemm(problem, machine, std::array{g0, g2},
                     policy("paralia", {"tile=1024", rule}));
  };
  const Plan pieces = plan_by("routing=link-map(rule=bottleneck,chunks=4)"),
             whole = plan_by("routing=link-map");
  for (const auto& [src, dst] : {std::pair{g1, g2}, {g2, g0}, {g0, g2}, {g2, g1}}) {
    EXPECT_EQ(columns(pieces, src, dst), (std::vector<int64_t>{256, 256, 256, 256}));
    EXPECT_EQ(columns(whole, src, dst), (std::vector<int64_t>{1024}));
  }
  validate(pieces, machine);
  int followed = 0;
  for (size_t i = 0; i < pieces.ops.size(); ++i) {
    const Op& op = pieces.ops[i];
    if (pieces.queue(op.queue).kind != Queue::Kind::copy ||
        pieces.queue(op.queue).src != g2)
      continue;
    for (const OpId before : pieces.deps_of(OpId{i})) {
      if (pieces.queue(pieces.op(before).queue).kind != Queue::Kind::copy) continue;
      EXPECT_EQ(pieces.result(pieces.op(before)).col, pieces.operands_of(op)[0].col);
      ++followed;
    }
  }
  EXPECT_EQ(followed, 8);
}

// Policies that use all GPUs reject invalid plans; a selection drops such sets.
TEST(Detour, WithoutARouteForCPlansAreRefusedAndSelectionsTakeOtherGpus) {
  const Topology machine = machine_with(3, {{"g0", "g1"}, {"g1", "g2"}});
  GemmProblem problem = placed(machine, "h", "h");
  problem.place_c = memory(machine, "g2");
  for (const char* name : {"baseline", "gemmex", "cocopelia"})
    expect_input_error(
        [&] {
          plan_gemm(problem, machine, machine.gpus(),
                    policy(name, {"tile=512", "devices=all"}));
        },
        {"no route from 'g", "peer-copies=staged"});
  const Plan plan = plan_gemm(problem, machine, machine.gpus(),
                              policy("gemmex", {"tile=512", "devices=best"}));
  validate(plan, machine);
  EXPECT_LT(plan.devices.size(), 3u);
  EXPECT_THROW(plan_gemm(problem, machine, std::array{memory(machine, "g0")},
                         policy("gemmex", {"devices=best"})),
               InputError);
}

// Forwarded tiles take memory on the forwarding GPU.
TEST(Detour, ForwardedTilesCanFillAMemory) {
  for (const double megabytes : {60, 70, 80, 90, 100, 110, 120, 140, 160}) {
    auto d = small_machine::memories_and_switches(3, 0);
    d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
    for (const char* gpu : {"g0", "g1", "g2"}) small_machine::add_links(d, "h", gpu, 10);
    for (const auto& [from, to] : star_links) small_machine::add_links(d, from, to, 50);
    d.memories[3].capacity = Bytes{megabytes * 1e6};
    const Topology machine{d};
    for (const char* name : {"tilerail", "gemmex"})
      EXPECT_NO_THROW(
          validate(plan_gemm(placed(machine, "g0", "g1"), machine, machine.gpus(),
                             policy(name, {"devices=all", "tile=256"})),
                   machine))
          << name << " " << megabytes;
  }
}

TEST(Detour, AGpuThatCannotBringBackItsPartOfCIsLeftOut) {
  const Topology machine = machine_with(3, star_links);
  GemmProblem problem = placed(machine, "g0", "g2");
  problem.place_c = memory(machine, "g1");
  EXPECT_EQ(supplied_devices(problem, machine, machine.gpus()),
            (std::vector{memory(machine, "g1"), memory(machine, "g2")}));
}

}  // namespace
}  // namespace tilerail::testing
