// What the fluid machine tells of a plan that it judges.
#include "study/planning/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::study {
namespace {

TEST(Judge, TellsWhenEachGpuIsDone) {
  const Topology machine = test::shipped("two-gpu");
  GemmProblem problem = testing::cube(4096);
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  const Policy policy = testing::policy("gemmex", {"tile=1024"});
  const Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
  const Judgement judgement = judge_of(machine).of(plan);
  ASSERT_EQ(judgement.ends.size(), 2U);
  EXPECT_EQ(std::max(judgement.ends[0], judgement.ends[1]), judgement.makespan);
  EXPECT_GT(std::min(judgement.ends[0], judgement.ends[1]), Seconds{0});
  EXPECT_NE(judgement.ends[0], judgement.ends[1]);  // the operands are on one of them
}

}  // namespace
}  // namespace tilerail::study
