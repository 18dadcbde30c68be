// Plans that `tilerail tune` found, in programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "api/handle.hpp"
#include "sched/decided_plan.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/tuned_plans.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/shipped.hpp"
#include "tilerail/tilerail.h"

namespace tilerail::api {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t n = 256;

class ApiPlanCache : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv(study::plan_cache_variable);
    file_ = (fs::path{::testing::TempDir()} /
             ("tilerail-api-plans-" + std::to_string(::getpid()) + ".toml"))
                .string();
    keep_plan_of_tile(32);
  }
  void TearDown() override {
    ::unsetenv(study::plan_cache_variable);
    fs::remove(file_);
  }

  /// The estimate would not choose this tile.
  void keep_plan_of_tile(int tile) {
    const Topology machine = test::FakeHardware::machine();
    GemmProblem problem;
    problem.m = problem.n = problem.k = n;
    problem.place_a = problem.place_b = problem.place_c = machine.hosts().front();
    Policy policy = preset("tilerail");
    policy.choices.tile = tile;
    Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
    study::TunedPlan tuned{decisions_of(plan, machine, policy),
                           0.5,
                           Evaluator::simulator,
                           "tilerail",
                           3,
                           Effort::high,
                           study::tuned_hash(plan),
                           "0.1.0"};
    study::keep_plan(file_, study::owner_of(machine),
                     study::key_of(problem, machine, machine.gpus(), preset("tilerail")),
                     tuned);
  }

  PlanInfo call(Context& context, int64_t size = n) {
    GemmOptions options;
    PlanInfo info;
    options.plan = &info;
    gemm(context, 'N', 'N', size, size, size, 2.0, a_.data(), size, b_.data(), size, 3.0,
         c_.data(), size, options);
    return info;
  }

  std::vector<double> a_ = std::vector<double>(n * n, 1.0), b_ = a_, c_ = a_;
  std::string file_;
};

TEST_F(ApiPlanCache, TheEstimateChoosesPlansWithoutACache) {
  Context context{test::fake_session(std::make_shared<test::Log>())};
  const PlanInfo info = call(context);
  EXPECT_EQ(info.by, PlanInfo::By::estimate);
  EXPECT_THAT(info.why, HasSubstr("by the estimate"));
  EXPECT_NE(info.tile, 32);
}

TEST_F(ApiPlanCache,
       TheEstimateChoosesAfterAPolicyChangeUnlessTheEffortAllowsTheSimulator) {
  Context context{test::fake_session(std::make_shared<test::Log>())};
  const std::string before = call(context).hash;
  context.set_policy("tilerail");
  const PlanInfo info = call(context);
  EXPECT_EQ(info.by, PlanInfo::By::estimate);
  EXPECT_EQ(info.hash, before);
  context.set_override("effort=normal");
  EXPECT_EQ(call(context).by, PlanInfo::By::simulator);
}

TEST_F(ApiPlanCache, APlanComesFromTheFileAndTheResultIsRight) {
  const auto log = std::make_shared<test::Log>();
  ContextOptions options;
  options.plan_cache = file_;
  Context context{test::fake_session(log, options)};
  const PlanInfo info = call(context);
  EXPECT_EQ(info.by, PlanInfo::By::cache);
  EXPECT_THAT(info.why, mentions({file_, "500.0 ms by the simulator"}));
  EXPECT_EQ(info.tile, 32);
  EXPECT_EQ(info.devices, (std::vector<int>{0, 1}));
  EXPECT_EQ(info.operations, log->plan->ops.size());
  for (const double c : c_) ASSERT_EQ(c, 2.0 * n + 3.0);
  EXPECT_EQ(call(context).by, PlanInfo::By::cache);  // of the cached plan, too
  EXPECT_EQ(log->binds, 1);
  const PlanInfo miss = call(context, n - 1);
  EXPECT_EQ(miss.by, PlanInfo::By::estimate);
  EXPECT_THAT(miss.why, HasSubstr("has no plan of this problem"));
}

TEST_F(ApiPlanCache, OverridesWin) {
  ContextOptions options;
  options.plan_cache = file_, options.overrides = {"tile=64"};
  Context context{test::fake_session(std::make_shared<test::Log>(), options)};
  const PlanInfo info = call(context);
  EXPECT_EQ(info.tile, 64);
  EXPECT_THAT(info.why,
              HasSubstr("has no plan of this problem on these GPUs with this policy"));
}

TEST_F(ApiPlanCache, TheEnvironmentCanNameTheCache) {
  ::setenv(study::plan_cache_variable, file_.c_str(), 1);
  Context context{test::fake_session(std::make_shared<test::Log>())};
  EXPECT_EQ(call(context).by, PlanInfo::By::cache);
  context.set_plan_cache("");
  EXPECT_EQ(call(context).by, PlanInfo::By::estimate);
  ContextOptions other;  // of another machine than the file's
  other.machine =
      std::make_shared<Topology>(tilerail::test::shipped("karolina-hgx-a100"));
  Context elsewhere{test::fake_session(std::make_shared<test::Log>(), other)};
  EXPECT_THAT(call(elsewhere).why, mentions({"is not used", "'two-gpu'"}));
  other.plan_cache = file_;
  expect_input_error([&] { test::fake_session(std::make_shared<test::Log>(), other); },
                     {"machine: 'two-gpu' of hash"});
}

TEST_F(ApiPlanCache, AnUnreadableCacheLeavesTheContextUnchanged) {
  ContextOptions options;
  options.plan_cache = file_;
  Context context{test::fake_session(std::make_shared<test::Log>(), options)};
  expect_input_error([&] { context.set_plan_cache("no/such/file"); },
                     {"plan-cache: ", "no/such/file"});
  EXPECT_EQ(call(context).by, PlanInfo::By::cache);
}

TEST_F(ApiPlanCache, CReturnsTheOriginOfThePlan) {
  tilerail_context context{Context{test::fake_session(std::make_shared<test::Log>())}};
  EXPECT_STREQ(tilerail_plan_origin(&context), "");
  EXPECT_STREQ(tilerail_plan_origin(nullptr), "");
  const auto call_c = [&] {
    return tilerail_dgemm(&context, 'N', 'N', n, n, n, 1, a_.data(), n, b_.data(), n, 1,
                          c_.data(), n);
  };
  EXPECT_EQ(call_c(), TILERAIL_SUCCESS);
  EXPECT_THAT(tilerail_plan_origin(&context), StartsWith("estimate: "));
  EXPECT_EQ(tilerail_set_plan_cache(&context, file_.c_str()), TILERAIL_SUCCESS);
  EXPECT_EQ(call_c(), TILERAIL_SUCCESS);
  EXPECT_THAT(tilerail_plan_origin(&context), StartsWith("plan cache '"));
  EXPECT_EQ(tilerail_set_plan_cache(&context, "no/such/file"), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_set_plan_cache(&context, nullptr), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_set_plan_cache(nullptr, "f"), TILERAIL_INVALID_HANDLE);
}

}  // namespace
}  // namespace tilerail::api
