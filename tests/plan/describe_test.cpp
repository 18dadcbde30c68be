// Reasons of plans in words.
#include "plan/describe.hpp"

#include <gtest/gtest.h>

namespace tilerail::testing {
namespace {

/// Candidates "A", "B" and "C", of which B is the fastest.
std::string text_of(std::vector<PlanReason> reasons,
                    Evaluator evaluator = Evaluator::estimate,
                    PlanReason::Kind from = PlanReason::only_candidate) {
  PlanOrigin origin;
  for (const auto& [what, seconds] :
       {std::pair{"A", 0.250}, std::pair{"B", 0.249}, std::pair{"C", 0.5}})
    origin.candidates.push_back({what, seconds, evaluator});
  origin.reasons = std::move(reasons);
  return reason_text(origin, from);
}

TEST(ReasonText, NamesTheChosenCandidate) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({{PlanReason::only_candidate}}), "the only candidate");
  EXPECT_EQ(text_of({{PlanReason::fastest, 1, 3}}),
            "B: the fastest of 3 by the estimate");
  EXPECT_EQ(text_of({{PlanReason::fastest, 1, 3}}, Evaluator::simulator),
            "B: the fastest of 3 by the simulator");
  EXPECT_EQ(text_of({{PlanReason::too_little_gain, 0, 3, 1}}),
            "A: of the 3 tried, B is estimated to be 0.4 % faster, too little to prefer "
            "it");
}

TEST(ReasonText, SelectionsFollow) {
  EXPECT_EQ(
      text_of({{PlanReason::fastest, 1, 3}, {PlanReason::best_set, 0, 8, 0, "edp"}}),
      "B: the fastest of 3 by the estimate; the best of 8 plans on sets of GPUs by the "
      "metric edp");
  EXPECT_EQ(text_of({{PlanReason::only_candidate}, {PlanReason::model, 0, 0, 0, "edp"}}),
            "its GPUs and shares are the best for edp by PARALiA's model");
}

TEST(ReasonText, ContainsTheResultOfThePlanCache) {
  const PlanReason tuned{PlanReason::tuned, 0, 17, 0, "plans.toml", "0.1.0"};
  EXPECT_EQ(
      text_of({tuned}, Evaluator::simulator),
      "plan cache 'plans.toml': 250.0 ms by the simulator, the fastest of 17, found "
      "by version 0.1.0");
  EXPECT_EQ(
      text_of({tuned}, Evaluator::measurement),
      "plan cache 'plans.toml': 250.0 ms by the measurement, the fastest of 17, found by "
      "version 0.1.0");
  EXPECT_EQ(text_of({{.kind = PlanReason::not_tuned, .name = "plans.toml"}}),
            "plan cache 'plans.toml' has no plan of this problem on these GPUs with this "
            "policy");
  EXPECT_EQ(text_of({{.kind = PlanReason::other_machine,
                      .name = "plans.toml",
                      .owner = "two-gpu"}}),
            "plan cache 'plans.toml' is not used: it is for machine 'two-gpu'");
  EXPECT_EQ(
      text_of({{.kind = PlanReason::outdated, .name = "plans.toml", .owner = "0.1.0"}}),
      "plan cache 'plans.toml': its plan of version 0.1.0 is not used, because it is "
      "made differently now; tune again");
}

TEST(ReasonText, CanBeginWithThePlanCache) {
  const std::vector<PlanReason> reasons{
      {PlanReason::fastest, 1, 3}, {.kind = PlanReason::not_tuned, .name = "plans.toml"}};
  const std::string cache = text_of(reasons, Evaluator::estimate, PlanReason::tuned);
  EXPECT_TRUE(cache.starts_with("plan cache 'plans.toml' has no plan")) << cache;
  EXPECT_EQ(text_of(reasons), "B: the fastest of 3 by the estimate; " + cache);
}

/// Plan files can contain any index.
}  // namespace
}  // namespace tilerail::testing
