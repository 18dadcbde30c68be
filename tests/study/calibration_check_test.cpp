#include "study/cases/calibration_check.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "study/job.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::study {
namespace {

std::set<std::string> types_of(const std::vector<Case>& cases) {
  std::set<std::string> types;
  for (const Case& c : cases) types.insert(c.problem.dtype);
  return types;
}

TEST(CheckCases, AreTenOfSeveralSizesTypesPlacesPoliciesAndTiles) {
  const auto cases = check_cases(testing::shipped("hgx-h200-4"));
  EXPECT_EQ(cases.size(), 10U);
  std::set<std::string> sizes, places, policies;
  for (const Case& c : cases)
    sizes.insert(*c.problem.gemm), places.insert(*c.problem.place),
        policies.insert(c.policy.name);
  EXPECT_GE(sizes.size(), 6U);
  EXPECT_THAT(places, ::testing::ElementsAre("0:3:0", "0:3:h", "h:h:h"));
  EXPECT_GE(policies.size(), 7U);
  EXPECT_THAT(types_of(cases),
              ::testing::ElementsAre("bf16", "f16", "f32", "f64", "tf32"));
  EXPECT_TRUE(std::ranges::any_of(
      cases, [](const Case& c) { return c.policy.tile.has_value(); }));
}

TEST(CheckCases, TakeTheTypesWithTimes) {
  // tf32 is missing.
  EXPECT_THAT(types_of(check_cases(testing::shipped("two-gpu"))),
              ::testing::ElementsAre("bf16", "f16", "f32", "f64"));
}

// With 50 TFLOP/s of f64 per GPU, 8192^3 takes 5.5 ms on four GPUs.
TEST(CheckCases, CanBePlannedAndTakeLittleTime) {
  for (const char* name : {"hgx-h200-1", "hgx-h200-4", "two-gpu"}) {
    const Topology machine = testing::shipped(name);
    CaseStudy study{check_cases(machine), machine};
    double sum = 0;
    for (const CaseResult& result : study.results()) sum += result.bound.time.value;
    EXPECT_LT(sum, 2) << name;
  }
}

}  // namespace
}  // namespace tilerail::study
