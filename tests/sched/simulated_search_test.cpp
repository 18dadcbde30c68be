// The search that simulates plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Measures plans by a rule of the test, and counts queries.
struct Asked {
  std::function<double(const Plan&)> seconds;
  std::mutex mutex = {};
  int64_t ops = 0;
  int plans = 0;
  double least = 1e9;

  PlanSimulator simulator() {
    return {[this](const Plan& plan) {
      const std::lock_guard lock{mutex};
      ops += int64_t(plan.ops.size());
      ++plans;
      least = std::min(least, seconds(plan));
      return PlanCost{Seconds{seconds(plan)}, {}};
    }};
  }
};

Plan searched(const std::vector<std::string>& overrides, const PlanSimulator& simulator) {
  const Topology machine = test::shipped("meluxina-a100");
  Policy policy = any_preset("tilerail");
  for (const std::string& each : overrides) apply_override(policy, each);
  GemmProblem problem = cube(4096);
  problem.place_a = machine.gpus()[0], problem.place_b = machine.gpus()[1],
  problem.place_c = machine.gpus()[2];
  return plan_gemm(problem, machine, machine.gpus(), policy, simulator);
}

TEST(SimulatedSearch, TakesTheFastestSimulatedPlan) {
  Asked asked{
      [](const Plan& plan) { return decided(plan, "batch") == "off" ? 1.0 : 2.0; }};
  EXPECT_EQ(decided(searched({}, asked.simulator()), "batch"), "off");
  Asked other{[](const Plan& plan) { return 1.0 / double(plan.ops.size()); }};
  const Plan plan = searched({}, other.simulator());
  EXPECT_EQ(1.0 / double(plan.ops.size()), other.least);
  EXPECT_EQ(plan.origin.evaluator, Evaluator::simulator);
  EXPECT_EQ(plan.origin.candidates.size(), size_t(other.plans));
  const auto taken =
      std::ranges::min_element(plan.origin.candidates, {}, &PlanCandidate::seconds);
  EXPECT_EQ(chosen(plan), *taken);
  EXPECT_EQ(plan.origin.reasons.at(0).kind, PlanReason::fastest);
  EXPECT_EQ(plan.origin.reasons.at(0).count, plan.origin.candidates.size());
}

TEST(SimulatedSearch, StagesCopiesOnlyOfSetsWhoseCopiesAHostMakesFaster) {
  const Topology machine = test::shipped("pcie-tree-8");
  GemmProblem problem = cube(2048);
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  Asked asked{[](const Plan& plan) { return double(plan.devices.size()); }};
  const Plan plan = plan_gemm(problem, machine, machine.gpus(), any_preset("tilerail"),
                              asked.simulator());
  std::vector<std::string> alone;
  for (const PlanCandidate& candidate : plan.origin.candidates)
    if (candidate.what.ends_with(" gpus=gpu0")) alone.push_back(candidate.what);
  EXPECT_GT(alone.size(), 1u);
  EXPECT_EQ(std::set(alone.begin(), alone.end()).size(), alone.size());
}

TEST(SimulatedSearch, OfTooManyOperationsOnTheOnlyPossibleSetIsAnEstimate) {
  Topology::Description small = test::shipped("two-gpu").description();
  const MemoryId second = test::shipped("two-gpu").gpus()[1];
  small.memories[second.index()].capacity = Bytes{100e3};
  const Topology machine{small};
  GemmProblem problem = cube(4096);
  problem.trans_a = Trans::yes, problem.beta = 0;
  Asked asked{[](const Plan&) { return 1.0; }};
  const Plan plan = plan_gemm(problem, machine, machine.gpus(),
                              policy("tilerail", {"tile=71"}), asked.simulator());
  EXPECT_EQ(plan.origin.evaluator, Evaluator::estimate);
  EXPECT_THAT(plan.devices, ::testing::ElementsAre(machine.gpus()[0]));
}

TEST(SimulatedSearch, AHighEffortSimulatesThePlansOfANormalEffortAndMore) {
  const auto judged = [](const char* effort) {
    Asked asked{[](const Plan& plan) { return double(plan.ops.size() % 97) + 1; }};
    std::set<std::string> plans;
    for (const PlanCandidate& candidate :
         searched({effort}, asked.simulator()).origin.candidates)
      plans.insert(candidate.what);
    return plans;
  };
  const std::set<std::string> normal = judged("effort=normal"),
                              high = judged("effort=high");
  EXPECT_TRUE(std::ranges::includes(high, normal));
  EXPECT_GT(high.size(), normal.size());
}

TEST(SimulatedSearch, ALargePlanGivesWayOnlyToPlansThatAreFasterThanItsEstimate) {
  const std::vector<std::string> small{"tile=65"};  // 64^3 kernels
  const Plan large = searched(small, {});
  Asked slow{[](const Plan&) { return 1.0; }};
  const Plan estimated = searched(small, slow.simulator());
  EXPECT_EQ(estimated.origin.evaluator, Evaluator::estimate);
  EXPECT_EQ(content_hash(estimated), content_hash(large));
  Asked fast{[](const Plan& plan) { return 1e-9 * double(plan.ops.size()); }};
  const Plan simulated = searched(small, fast.simulator());
  EXPECT_EQ(simulated.origin.evaluator, Evaluator::simulator);
  EXPECT_LT(simulated.ops.size(), large.ops.size() / 4);
}

TEST(SimulatedSearch, TakesThePlanOfTheLeastEffortIfNoOtherIsFaster) {
  const auto hash = [](Plan plan) {  // of operations: the policy names the effort
    plan.policy.clear(), plan.graph = false;
    return content_hash(plan);
  };
  const std::string least = hash(searched({"effort=fast"}, {}));
  for (const char* effort : {"effort=fixed", "effort=normal"}) {
    Asked asked{[&](const Plan& plan) { return hash(plan) == least ? 1.0 : 2.0; }};
    const Plan plan = searched({effort}, asked.simulator());
    EXPECT_EQ(hash(plan), least) << effort;
    EXPECT_EQ(chosen(plan).seconds, 1.0) << effort;
  }
}

TEST(SimulatedSearch, IsTheSameEveryTime) {
  const auto once = [] {
    Asked asked{[](const Plan& plan) { return double(plan.ops.size() % 97) + 1; }};
    const Plan plan = searched({}, asked.simulator());
    std::string tried;
    for (const PlanCandidate& candidate : plan.origin.candidates)
      tried += candidate.what + "\n";
    return content_hash(plan) + tried;
  };
  EXPECT_EQ(once(), once());
}

TEST(SimulatedSearch, NeedsASimulator) {
  const Plan plan = searched({}, {});
  EXPECT_EQ(plan.origin.evaluator, Evaluator::estimate);
  EXPECT_EQ(decided(plan, "sends"), "in-order");
}

TEST(SimulatedSearch, FindsFewerGpusThatNeedAnotherTile) {
  // The whole matrix is the best tile for all GPUs, and very slow on fewer.
  Asked asked{[](const Plan& plan) {
    const bool whole = plan.tile == 4096;
    return plan.devices.size() == 4 ? (whole ? 1.0 : 1.1) : (whole ? 10.0 : 0.9);
  }};
  EXPECT_LT(searched({}, asked.simulator()).devices.size(), 4U);
}

TEST(SimulatedSearch, FindsValuesOfSeveralFieldsThatHelpOneByOne) {
  Asked asked{[](const Plan& plan) {
    double seconds = 1;
    for (const auto& [key, value] : {std::pair{"order", "fifo"},
                                     {"sends", "free"},
                                     {"c-tiles", "eager"},
                                     {"small-tiles", "k-last"}})
      if (decided(plan, key) == value) seconds *= 0.9;
    return seconds;
  }};
  searched({}, asked.simulator());
  EXPECT_NEAR(asked.least, 0.9 * 0.9 * 0.9 * 0.9, 1e-9);
}

// GPU d needs d + 1 seconds per multiplication.
TEST(SimulatedSearch, BalancesTheWorkOfGpusThatEndApartAndReportsIt) {
  const PlanSimulator simulator{[](const Plan& plan) {
    std::vector<Seconds> ends(plan.devices.size());
    for (const Op& op : plan.ops)
      for (size_t d = 0; d < ends.size() && op.kind == OpKind::gemm; ++d)
        if (plan.queue(op.queue).dst == plan.devices[d])
          ends[d] +=
              Seconds{double(d + 1) * op_flops(op, plan.operands_of(op)).value / 2};
    return PlanCost{std::ranges::max(ends), {}, ends};
  }};
  const Plan plan = searched({"tile=512", "devices=all"}, simulator);
  EXPECT_THAT(chosen(plan).what, HasSubstr(" shares="));
  double unbalanced = 0, least = plan.origin.candidates.front().seconds;
  for (const PlanCandidate& candidate : plan.origin.candidates) {
    least = std::min(least, candidate.seconds);
    std::istringstream words{candidate.what.substr(candidate.what.find(" gpus="))};
    std::set<std::string> keys;
    for (std::string word; words >> word;)
      EXPECT_TRUE(keys.insert(word.substr(0, word.find('='))).second) << candidate.what;
    if (!keys.contains("shares"))
      unbalanced =
          unbalanced == 0 ? candidate.seconds : std::min(unbalanced, candidate.seconds);
  }
  EXPECT_LT(least, 0.6 * unbalanced);  // 12 / 25 in the limit: 1 / (1 + 1/2 + 1/3 + 1/4)
                                       // against a quarter
}

TEST(SimulatedSearch, KeepsTheTileAndTheGpusThatAreGiven) {
  Asked asked{[](const Plan& plan) { return double(plan.ops.size()); }};
  const Plan plan = searched({"tile=1024", "devices=all"}, asked.simulator());
  EXPECT_EQ(plan.tile, 1024);
  EXPECT_EQ(plan.devices.size(), 4U);
  for (const PlanCandidate& candidate : plan.origin.candidates)
    EXPECT_THAT(candidate.what,
                AllOf(HasSubstr("tile=1024 "), HasSubstr("gpus=gpu0,gpu1,gpu2,gpu3")));
}

}  // namespace
}  // namespace tilerail::testing
