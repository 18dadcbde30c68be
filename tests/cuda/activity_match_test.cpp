#include "backends/cuda/trace/activity_match.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/plan_draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::cuda {
namespace {

/// A copy, then a multiplication, then a join.
Plan three_ops() {
  PlanDraft draft{test::shipped("two-gpu")};
  const MemoryId host{0}, gpu{1};
  const View there = draft.tile(host, 4, 4), tile = draft.tile(gpu, 4, 4);
  const OpId copy = draft.copy(draft.copy_queue(host, gpu), there, tile);
  const OpId gemm = draft.gemm(draft.compute_queue(gpu), tile, tile, tile, {}, {copy});
  draft.join(draft.compute_queue(gpu, 1), {gemm});
  return draft.plan;
}

TEST(ActivityMatch, TimesAreSecondsSinceTheOriginOfTheProfilersClock) {
  const auto times = match_activities(
      three_ops(), std::vector<ActivityRecord>{{7, 1500, 2500}, {9, 3000, 4000}},
      std::vector<LaunchMark>{{7, OpId{0}}, {9, OpId{1}}}, 1000);
  EXPECT_DOUBLE_EQ(times[0].start, 500e-9);
  EXPECT_DOUBLE_EQ(times[0].end, 1500e-9);
  EXPECT_DOUBLE_EQ(times[1].start, 2000e-9);
  EXPECT_DOUBLE_EQ(times[1].end, 3000e-9);
}

TEST(ActivityMatch, AnOperationOfSeveralKernelsLastsFromTheFirstStartToTheLastEnd) {
  const auto times = match_activities(
      three_ops(),
      std::vector<ActivityRecord>{{9, 30, 40}, {1, 0, 10}, {8, 12, 20}, {10, 38, 55}},
      std::vector<LaunchMark>{{1, OpId{0}}, {8, OpId{1}}, {9, OpId{1}}, {10, OpId{1}}},
      0);
  EXPECT_DOUBLE_EQ(times[1].start, 12e-9);
  EXPECT_DOUBLE_EQ(times[1].end, 55e-9);
}

TEST(ActivityMatch, AJoinEndsWhenTheLastOfItsDependenciesHas) {
  const auto times =
      match_activities(three_ops(), std::vector<ActivityRecord>{{1, 0, 10}, {2, 10, 90}},
                       std::vector<LaunchMark>{{1, OpId{0}}, {2, OpId{1}}}, 0);
  EXPECT_DOUBLE_EQ(times[2].start, 90e-9);
  EXPECT_DOUBLE_EQ(times[2].end, 90e-9);
}

TEST(ActivityMatch, ActivitiesOfOtherCallsAreIgnored) {
  const auto times = match_activities(
      three_ops(), std::vector<ActivityRecord>{{1, 0, 10}, {2, 10, 90}, {77, 0, 1000}},
      std::vector<LaunchMark>{{1, OpId{0}}, {2, OpId{1}}}, 0);
  EXPECT_DOUBLE_EQ(times[0].end, 10e-9);
  EXPECT_DOUBLE_EQ(times[1].end, 90e-9);
}

TEST(ActivityMatch, AMissingRecordIsAnError) {
  try {
    match_activities(three_ops(), std::vector<ActivityRecord>{{1, 0, 10}},
                     std::vector<LaunchMark>{{1, OpId{0}}}, 0);
    FAIL() << "operation 1 has no record";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "the trace has no record of operation 1, in 1 records and 1 marks");
  }
}

}  // namespace
}  // namespace tilerail::cuda
