// Plans made again from decisions, without a search.
#include "sched/decided_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

/// Prefers plans with few operations.
PlanSimulator brief() {
  return {[](const Plan& plan) {
    return PlanCost{Seconds{double(plan.ops.size())}, {}};
  }};
}

struct Place {
  size_t a, b, c;  // 0 is the host, the others are GPUs
};

GemmProblem placed(const Topology& machine, GemmProblem problem, const Place& place) {
  const auto memory = [&](size_t i) {
    return i == 0 ? machine.hosts().front() : machine.gpus()[i - 1];
  };
  problem.place_a = memory(place.a), problem.place_b = memory(place.b),
  problem.place_c = memory(place.c);
  return problem;
}

/// Compares the hash of the found plan with the plan made again.
void expect_same(const GemmProblem& problem, const Topology& machine,
                 const Policy& policy, const PlanSimulator& simulator) {
  const std::vector<MemoryId> gpus = machine.gpus();
  const Plan found = plan_gemm(problem, machine, gpus, policy, simulator);
  const Plan again =
      plan_decided(problem, machine, gpus, policy, decisions_of(found, machine, policy));
  EXPECT_EQ(content_hash(again), content_hash(found))
      << machine.name() << ' ' << name_of(policy);
  EXPECT_EQ(again.origin.given, found.origin.given);
}

TEST(DecidedPlan, IsThePlanThatTheSearchFound) {
  for (const char* name : {"two-gpu", "clx-ai-hetero", "hgx-h200-4"}) {
    const Topology machine = shipped(name);
    for (const Place& place : {Place{0, 0, 0}, {1, 2, 0}, {1, 0, 2}})
      for (const PlanSimulator& simulator : {PlanSimulator{}, brief()})
        expect_same(placed(machine, cube(3000), place), machine, policy("tilerail"),
                    simulator);
  }
}

TEST(DecidedPlan, ReproducesEveryPresetAndRoutine) {
  const Topology machine = shipped("clx-ai-hetero");
  for (const std::string& name : any_preset_names()) {
    expect_same(cube(2048), machine, any_preset(name), {});
    for (GemmProblem problem : {gemv_problem(4096, 2048, Trans::yes),
                                dot_problem(1 << 20), axpy_problem(1 << 20)}) {
      problem.place_a = problem.place_b = problem.place_c = machine.hosts().front();
      expect_same(problem, machine, any_preset(name), {});
    }
  }
}

struct Made {
  Topology machine = shipped("two-gpu");
  std::vector<MemoryId> gpus = machine.gpus();
  Policy policy = any_preset("tilerail");
  Plan plan = plan_gemm(cube(1024), machine, gpus, policy);
  std::vector<PlanDecision> decisions = decisions_of(plan, machine, policy);

  void refuse(const std::string& key, const std::string& value,
              const std::vector<std::string>& words) {
    std::vector<PlanDecision> changed = decisions;
    std::erase_if(changed, [&](const PlanDecision& each) { return each.key == key; });
    if (!value.empty()) changed.push_back({key, value});
    expect_input_error([&] { plan_decided(cube(1024), machine, gpus, policy, changed); },
                       words);
  }
};

TEST(DecidedPlan, DecisionsThatDoNotFitAreNamed) {
  Made made;
  made.refuse("routing", "teleport", {"routing: 'teleport'", "link-eta"});
  made.refuse("devices", "gpu7", {"devices: 'gpu7'", "two-gpu"});
  made.refuse("devices", "gpu0,gpu0", {"each processor once"});
  made.refuse("devices", "", {"devices: is missing"});
  made.refuse("tile", "", {"tile: is missing"});
  made.refuse("tile", "0", {"tile"});
  made.refuse("tile", "auto", {"tile"});
  made.refuse("grid", "3x3", {"grid"});
  made.refuse("grid", "2", {"grid: '2'", "2x4"});
  made.refuse("shares", "1:2:3", {"shares: '1:2:3'"});
  made.refuse("shares", "1:-2", {"shares above 0"});
  made.refuse("effort", "high", {"effort: 'high'"});
  made.refuse("compute-streams", "auto", {"compute-streams: 'auto'"});
  made.refuse("colour", "red", {"colour: 'red'", "not a decision"});
}

}  // namespace
}  // namespace tilerail::testing
