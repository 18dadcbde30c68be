// The search that ends with judged plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include "sched/choose/outlook.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A judge that measures plans by a rule of the test, and notes what it was asked.
struct Asked {
  std::function<double(const Plan&)> seconds;
  std::mutex mutex = {};
  std::int64_t ops = 0;
  int plans = 0;
  double least = 1e9;

  Judge judge() {
    return {[this](const Plan& plan) {
      const std::lock_guard lock{mutex};
      ops += static_cast<std::int64_t>(plan.ops.size());
      ++plans;
      least = std::min(least, seconds(plan));
      return Judgement{Seconds{seconds(plan)}, {}};
    }};
  }
};

std::string decision(const Plan& plan, const char* key) {
  const auto found = std::ranges::find(plan.origin.decisions, key, &PlanDecision::key);
  return found == plan.origin.decisions.end() ? "" : found->value;
}

Plan planned(const std::vector<std::string>& overrides, const Judge& judge, std::int64_t side = 4096) {
  const Topology machine = test::shipped("meluxina-a100");
  Policy policy = preset("tilerail");
  for (const std::string& each : overrides) apply_override(policy, each);
  GemmProblem problem = cube(side);
  problem.place_a = machine.gpus()[0], problem.place_b = machine.gpus()[1], problem.place_c = machine.gpus()[2];
  return plan_gemm(problem, machine, machine.gpus(), policy, judge);
}

TEST(JudgedSearch, TakesThePlanThatItsJudgeLikesMost) {
  Asked asked{[](const Plan& plan) { return decision(plan, "batch") == "off" ? 1.0 : 2.0; }};
  EXPECT_EQ(decision(planned({}, asked.judge()), "batch"), "off");
  Asked other{[](const Plan& plan) { return 1.0 / static_cast<double>(plan.ops.size()); }};
  const Plan plan = planned({}, other.judge());
  EXPECT_EQ(1.0 / static_cast<double>(plan.ops.size()), other.least);
  EXPECT_THAT(plan.origin.why, HasSubstr("the fastest of"));
  EXPECT_EQ(plan.origin.judge, "simulator");
  EXPECT_EQ(plan.origin.candidates.size(), static_cast<std::size_t>(other.plans));
}

TEST(JudgedSearch, KeepsToItsBudgetOnASetOfGpus) {
  for (const char* budget : {"300", "3000", "20000"}) {
    Asked asked{[](const Plan& plan) { return static_cast<double>(plan.ops.size()); }};
    planned({std::string{"judge-ops="} + budget, "devices=all"}, asked.judge());
    EXPECT_LE(asked.ops, std::stoll(budget));
    EXPECT_GT(asked.plans, 0);
  }
}

TEST(JudgedSearch, LeavesLargePlansToTheEstimate) {
  Asked asked{[](const Plan&) { return 1.0; }};
  const Plan plan = planned({"judge-ops=10"}, asked.judge());
  EXPECT_EQ(asked.plans, 0);
  EXPECT_EQ(plan.origin.judge, "estimate");
  EXPECT_EQ(content_hash(plan), content_hash(planned({"judge-ops=10"}, {})));
}

TEST(JudgedSearch, IsTheSameEveryTime) {
  const auto once = [] {
    Asked asked{[](const Plan& plan) { return static_cast<double>(plan.ops.size() % 97) + 1; }};
    const Plan plan = planned({}, asked.judge());
    std::string tried;
    for (const PlanCandidate& candidate : plan.origin.candidates) tried += candidate.what + "\n";
    return content_hash(plan) + tried;
  };
  const std::string first = once();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(once(), first);
}

TEST(JudgedSearch, NeedsAJudge) {
  const Plan plan = planned({}, {});
  EXPECT_EQ(plan.origin.judge, "estimate");
  EXPECT_EQ(decision(plan, "sends"), "in-order");
}

TEST(JudgedSearch, FindsFewerGpusThatWantAnotherTile) {
  // To this judge the whole matrix is the best tile of all GPUs, and hopeless on fewer.
  Asked asked{[](const Plan& plan) {
    const bool whole = plan.tile == 4096;
    return plan.devices.size() == 4 ? (whole ? 1.0 : 1.1) : (whole ? 10.0 : 0.9);
  }};
  // With little to spend it must be right about the tile of fewer GPUs at once.
  EXPECT_LT(planned({"judge-ops=2000"}, asked.judge()).devices.size(), 4U);
  EXPECT_LT(planned({}, asked.judge()).devices.size(), 4U);
}

TEST(JudgedSearch, GivesTilesDealtOtherwiseAnotherTile) {
  Asked asked{[start = planned({}, {}).tile](const Plan& plan) {
    const bool dealt = decision(plan, "distribution") == "2d-cyclic";
    return !dealt ? 1.0 : plan.tile >= start ? 1.2 : 0.5;
  }};
  EXPECT_EQ(decision(planned({"judge-ops=4000"}, asked.judge()), "distribution"), "2d-cyclic");
}

// To this judge GPU d needs d + 1 seconds for a multiplication.
TEST(JudgedSearch, BalancesTheWorkOfGpusThatEndApartAndSaysSo) {
  const Judge judge{[](const Plan& plan) {
    std::vector<Seconds> ends(plan.devices.size());
    for (const Op& op : plan.ops)
      for (std::size_t d = 0; d < ends.size() && op.kind == OpKind::gemm; ++d)
        if (plan.queue(op.queue).dst == plan.devices[d])
          ends[d] += Seconds{static_cast<double>(d + 1) * static_cast<double>(op.y.rows * op.y.cols * op.a.cols)};
    return Judgement{std::ranges::max(ends), {}, ends};
  }};
  const Plan plan = planned({"tile=512", "devices=all"}, judge);
  EXPECT_THAT(plan.origin.why, HasSubstr(" distribution=proportional shares="));
  double unbalanced = 0, least = plan.origin.candidates.front().seconds;
  for (const PlanCandidate& candidate : plan.origin.candidates) {
    least = std::min(least, candidate.seconds);
    std::istringstream words{candidate.what.substr(candidate.what.find(" gpus="))};
    std::set<std::string> keys;
    for (std::string word; words >> word;)
      EXPECT_TRUE(keys.insert(word.substr(0, word.find('='))).second) << candidate.what;
    if (!keys.contains("shares"))
      unbalanced = unbalanced == 0 ? candidate.seconds : std::min(unbalanced, candidate.seconds);
  }
  EXPECT_LT(least, 0.6 * unbalanced);  // 12 / 25 in the limit: 1 / (1 + 1/2 + 1/3 + 1/4) against a quarter
}

TEST(JudgedSearch, KeepsTheTileAndTheGpusThatAreGiven) {
  Asked asked{[](const Plan& plan) { return static_cast<double>(plan.ops.size()); }};
  const Plan plan = planned({"tile=1024", "devices=all"}, asked.judge());
  EXPECT_EQ(plan.tile, 1024);
  EXPECT_EQ(plan.devices.size(), 4U);
  for (const PlanCandidate& candidate : plan.origin.candidates)
    EXPECT_THAT(candidate.what, AllOf(HasSubstr("tile=1024 "), HasSubstr("gpus=gpu0,gpu1,gpu2,gpu3")));
}

TEST(Outlook, ExpectsOfAWayWhatItWasBehindElsewhere) {
  Outlook outlook{1, {100, 100, 100}, 100'000};
  outlook.learn({0, 0, 0}, 1.0);
  outlook.learn({1, 0, 0}, 1.5);
  outlook.learn({0, 0, 1}, 0.5);
  // Way 1 with tile 1 is expected to take 0.75 s; with tile 2, next to it, both take what they take there.
  const auto next = outlook.most_promising(2, 10);
  ASSERT_EQ(next.size(), 3U);
  EXPECT_EQ(next[0], (Candidate{0, 0, 2}));
  EXPECT_EQ(next[1], (Candidate{1, 0, 1}));
}

TEST(Outlook, LeavesOutWhatIsHopelessKnownOrTooDear) {
  Outlook outlook{1, {100, 600}, 1000};
  outlook.learn({0, 0, 0}, 1.0);
  outlook.learn({1, 0, 0}, 2.0);  // more than e^0.6 behind
  outlook.use(500);
  EXPECT_TRUE(outlook.most_promising(2, 10).empty());
  EXPECT_TRUE(outlook.affords({0, 0, 0}));
  EXPECT_FALSE(outlook.affords({0, 0, 1}));
  EXPECT_TRUE(outlook.takes({0, 0, 0}, 0.1));
  EXPECT_FALSE(outlook.takes({0, 0, 1}, 0.1));
}

TEST(Outlook, KnowsThatWaysOfOtherShapesHaveFewerOperations) {
  const std::vector<std::int64_t> squares{100, 600}, narrow{10, 60};
  const Outlook outlook{1, squares, 1000, [&](std::size_t way) -> const std::vector<std::int64_t>& {
                          return way == 1 ? narrow : squares;
                        }};
  EXPECT_EQ(outlook.ops({0, 0, 1}), 600);
  EXPECT_EQ(outlook.ops({1, 0, 1}), 60);
  EXPECT_FALSE(outlook.takes({0, 0, 1}, 0.1));
  EXPECT_TRUE(outlook.takes({1, 0, 1}, 0.1));
}

TEST(Outlook, ExpectsOfASetAndATileWhatTheyPromiseWithOthers) {
  Outlook outlook{2, {100, 100, 100, 100, 100}, 100'000};
  outlook.learn({0, 0, 0}, 1.0);
  outlook.learn({0, 0, 4}, 0.5);  // the tile halves the time on set 0
  outlook.learn({0, 1, 0}, 0.9);
  EXPECT_EQ(outlook.most_promising(1, 1), (std::vector<Candidate>{{0, 1, 4}}));  // 0.45 s
}

TEST(Outlook, RanksWaysThatAreAlwaysAlikeBehindOthers) {
  Outlook outlook{1, {100, 100}, 100'000};
  outlook.learn({0, 0, 0}, 1.0);
  outlook.learn({1, 0, 0}, 1.0);
  outlook.learn({2, 0, 0}, 1.01);
  EXPECT_EQ(outlook.most_promising(3, 3), (std::vector<Candidate>{{0, 0, 1}, {2, 0, 1}, {1, 0, 1}}));
  outlook.learn({0, 0, 1}, 1.0);
  outlook.learn({1, 0, 1}, 0.9);
  EXPECT_EQ(outlook.fastest(0), (std::vector<Candidate>{{0, 0, 0}, {2, 0, 0}}));
  EXPECT_EQ(outlook.fastest(1), (std::vector<Candidate>{{1, 0, 1}, {0, 0, 1}}));
}

TEST(Outlook, TakesAllOtherSetsForAsFar) {
  Outlook outlook{5, {100}, 100'000};
  outlook.learn({0, 0, 0}, 1.0);
  EXPECT_EQ(outlook.most_promising(1, 10).size(), 4U);
}

TEST(Outlook, DoesNotTakeWaysForAlikeThatHadNoPlan) {
  Outlook outlook{1, {100, 100}, 100'000};
  for (const std::size_t way : {0, 1, 2}) outlook.learn({way, 0, 0}, std::nullopt);
  outlook.learn({2, 0, 1}, 1.0);
  EXPECT_EQ(outlook.most_promising(2, 1), (std::vector<Candidate>{{0, 0, 1}}));
  outlook.learn({0, 0, 1}, 2.0);  // twice as long: the other one is still taken for what it was
  EXPECT_EQ(outlook.most_promising(2, 1), (std::vector<Candidate>{{1, 0, 1}}));
}

TEST(Outlook, SaysWhatIsNearlyAsFast) {
  Outlook outlook{4, {100}, 1000};
  outlook.learn({0, 0, 0}, 1.0);
  outlook.learn({0, 1, 0}, 1.2);
  outlook.learn({0, 2, 0}, 1.3);
  EXPECT_TRUE(outlook.is_near({0, 1, 0}, {0, 0, 0}));
  EXPECT_FALSE(outlook.is_near({0, 2, 0}, {0, 0, 0}));
  EXPECT_FALSE(outlook.is_near({0, 3, 0}, {0, 0, 0}));
  EXPECT_FALSE(outlook.is_hopeless({0, 2, 0}, {0, 0, 0}));
  EXPECT_FALSE(outlook.is_hopeless({0, 3, 0}, {0, 0, 0}));
  outlook.learn({0, 3, 0}, 1.9);
  EXPECT_TRUE(outlook.is_hopeless({0, 3, 0}, {0, 0, 0}));
}

TEST(Outlook, ForgetsNobodyWhoseTimeIsNotKnown) {
  Outlook outlook{1, {100}, 1000};
  outlook.learn({0, 0, 0}, 1.0);
  outlook.learn({1, 0, 0}, std::nullopt);
  EXPECT_TRUE(outlook.knows({1, 0, 0}));
  EXPECT_TRUE(outlook.most_promising(2, 10).empty());
}

}  // namespace
}  // namespace tilerail::testing
