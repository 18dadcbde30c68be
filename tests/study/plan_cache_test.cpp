// The file of tuned plans: text, write protection, and use.
#include "study/planning/plan_cache.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/base/files.hpp"
#include "sched/decided_plan.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/tuned_plans.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::study {
namespace {

namespace fs = std::filesystem;
using testing::cube;
using testing::policy;
using testing::shipped;

class PlanCacheFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv(plan_cache_variable);
    folder_ = fs::path{::testing::TempDir()} /
              ("tilerail-plan-cache-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override {
    ::unsetenv(plan_cache_variable);
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// The plan of a cube with these overrides, stored for policy tilerail.
  TunedPlan tuned(int64_t side, std::initializer_list<std::string_view> overrides) const {
    const Policy searched = policy("tilerail", overrides);
    const Plan plan = plan_gemm(cube(side), machine_, machine_.gpus(), searched);
    TunedPlan result{decisions_of(plan, machine_, searched),
                     0.25,
                     Evaluator::simulator,
                     "gemmex",
                     17,
                     Effort::normal,
                     "",
                     "0.1.0"};
    Plan again = plan_decided(cube(side), machine_, machine_.gpus(),
                              any_preset("tilerail"), result.decisions);
    result.plan_hash = tuned_hash(again);
    return result;
  }
  PlanKey key(int64_t side) const {
    return key_of(cube(side), machine_, machine_.gpus(), any_preset("tilerail"));
  }

  void keep(const std::string& file, int64_t side, const TunedPlan& plan) const {
    keep_plan(file, owner_of(machine_), key(side), plan);
  }

  /// The plan of the cache, else a plan without operations.
  Plan cached(const TunedPlans& plans, const GemmProblem& problem,
              const Policy& asked = any_preset("tilerail")) const {
    return plans.plan(problem, machine_, machine_.gpus(), asked, [] { return Plan{}; });
  }

  const Topology machine_ = shipped("two-gpu");
  fs::path folder_;
};

TEST_F(PlanCacheFile, SurvivesWritingAndReading) {
  PlanCache cache{owner_of(machine_), {{key(512), tuned(512, {"tile=128"})}}, "f"};
  PlanKey odd = key(300);
  odd.alpha_is_zero = odd.beta_is_zero = true, odd.trans_a = Trans::yes,
  odd.ld = {301, 302, 303};
  odd.policy = "tilerail+order=fifo", odd.dtype = DType::bf16;
  cache.plans[odd] = tuned(300, {"shares=equal", "tile=64"});
  cache.plans[odd].evaluator = Evaluator::measurement, cache.plans[odd].seconds = 1.0 / 3,
  cache.plans[odd].metric = 2e20;
  const PlanCache read = read_plan_cache(to_toml(cache), "f");
  EXPECT_EQ(read.owner, cache.owner);
  EXPECT_EQ(read.plans, cache.plans);
  EXPECT_EQ(to_toml(read), to_toml(cache));
}

TEST_F(PlanCacheFile, ErrorsNameThePlaceTheValueAndTheExpectation) {
  const std::string good =
      to_toml({owner_of(machine_), {{key(512), tuned(512, {"tile=128"})}}, "f"});
  const auto refuse = [&](const std::string& old, const std::string& with,
                          const std::vector<std::string>& words) {
    std::string text = good;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), old.size(), with);
    expect_input_error([&] { read_plan_cache(text, "f"); }, words);
  };
  refuse("schema = 2", "schema = 1", {"f:2:", "schema: '1'", "expected 2"});
  refuse("machine_hash = \"", "machine_hash = \"x", {"f:4:", "is not a hash"});
  refuse("routine = \"gemm\"", "routine = \"spmv\"", {"f:7:", "spmv"});
  refuse("m = 512", "m = -1", {"f:8:", "'-1'", "out of range"});
  refuse("m = 512", "mm = 512", {"'mm' is an unknown key"});
  refuse("trans = \"NN\"", "trans = \"\xc3\xa9\"", {"trans", "N or T"});
  refuse("judge = \"simulator\"", "judge = \"oracle\"", {"'oracle'", "measurement"});
  refuse("effort = \"normal\"", "effort = \"low\"", {"'low'", "high"});
  refuse("seconds = 0.25", "seconds = nan", {"seconds", "finite"});
  refuse("place = [", "place = [\"x\", ", {"place"});
  refuse("version = \"0.1.0\"", "", {"'version' is missing"});
  refuse("[plan.decided]", "[plan.other]", {"'other' is an unknown key"});
  refuse("[[plan]]", "[[plan", {"expected TOML"});
  const std::string entry = good.substr(good.find("[[plan]]"));
  expect_input_error([&] { read_plan_cache(good + "\n" + entry, "f"); },
                     {"gemm 512,512,512 f64 NN host:host:host", "expected it once"});
  for (size_t size = 0; size < good.size();
       size += 37) {  // a truncated file is read or rejected
    try {
      (void)read_plan_cache(good.substr(0, size), "f");
    } catch (const InputError&) {
    }
  }
}

TEST_F(PlanCacheFile, BelongsToOneMachine) {
  const std::string file = path("plans.toml");
  keep(file, 512, tuned(512, {}));
  const Topology other = shipped("clx-ai");
  expect_input_error([&] { keep_plan(file, owner_of(other), key(64), tuned(64, {})); },
                     {file, "'two-gpu'", "'clx-ai'"});
  expect_input_error([&] { TunedPlans(file, other); }, {file, "'two-gpu'", "'clx-ai'"});
  ::setenv(plan_cache_variable, file.c_str(), 1);
  const TunedPlans unused{"", other};
  const Plan plan = unused.plan(cube(512), other, other.gpus(), any_preset("tilerail"),
                                [] { return Plan{}; });
  EXPECT_TRUE(plan.ops.empty());
  const PlanReason& reason = plan.origin.reasons.at(0);
  EXPECT_EQ(reason.kind, PlanReason::other_machine);
  EXPECT_EQ(reason.owner, "two-gpu");
  EXPECT_FALSE(cached(TunedPlans("", machine_), cube(512)).ops.empty());
}

TEST_F(PlanCacheFile, AHitReturnsTheTunedPlanWithItsOrigin) {
  const std::string file = path("plans.toml");
  keep(file, 512, tuned(512, {"tile=128", "sends=free"}));
  const TunedPlans plans{file, machine_};
  GemmProblem problem = cube(512);
  problem.alpha = -7, problem.beta = 0.5;  // nonzero, like the tuned values
  Plan found = cached(plans, problem);
  Plan direct = plan_gemm(problem, machine_, machine_.gpus(),
                          policy("tilerail", {"tile=128", "sends=free"}));
  EXPECT_EQ(tuned_hash(found), tuned_hash(direct));
  EXPECT_EQ(found.policy, "tilerail");
  EXPECT_EQ(found.gemm().alpha, -7);
  EXPECT_EQ(found.origin.evaluator, Evaluator::simulator);
  const PlanReason& reason = found.origin.reasons.at(0);
  EXPECT_EQ(reason.kind, PlanReason::tuned);
  EXPECT_EQ(found.origin.candidates.at(reason.chosen).seconds, 0.25);
  EXPECT_EQ(reason.count, 17u);
  EXPECT_EQ(reason.name, file);
  EXPECT_EQ(reason.owner, "0.1.0");
}

TEST_F(PlanCacheFile, MissesReportTheReason) {
  const std::string file = path("plans.toml");
  keep(file, 512, tuned(512, {"tile=128"}));
  TunedPlan stale = tuned(256, {"tile=64"});
  stale.plan_hash = "0123456789abcdef", stale.version = "0.0.7";
  keep(file, 256, stale);
  const TunedPlans plans{file, machine_};
  const auto reason = [&](const GemmProblem& problem, const Policy& asked) {
    const Plan plan = cached(plans, problem, asked);
    EXPECT_TRUE(plan.ops.empty());
    return plan.origin.reasons.at(0);
  };
  const Policy tilerail = any_preset("tilerail");
  GemmProblem zero = cube(512);
  zero.beta = 0;
  EXPECT_EQ(reason(cube(513), tilerail).kind, PlanReason::not_tuned);
  EXPECT_EQ(reason(zero, tilerail).kind, PlanReason::not_tuned);
  EXPECT_EQ(reason(cube(512), any_preset("gemmex")).kind, PlanReason::not_tuned);
  EXPECT_EQ(reason(cube(512), policy("tilerail", {"tile=128"})).kind,
            PlanReason::not_tuned);
  const std::vector<MemoryId> one{machine_.gpus()[0]};
  EXPECT_EQ(plans.plan(cube(512), machine_, one, tilerail, [] { return Plan{}; })
                .origin.reasons.at(0)
                .kind,
            PlanReason::not_tuned);
  EXPECT_EQ(reason(cube(256), tilerail).kind, PlanReason::outdated);
  EXPECT_EQ(reason(cube(256), tilerail).owner, "0.0.7");
  EXPECT_TRUE(cached(TunedPlans{}, cube(512)).origin.reasons.empty());
}

TEST_F(PlanCacheFile, TheResultOfTheCacheFollowsTheReasonsOfTheSearch) {
  const std::string file = path("plans.toml");
  keep(file, 512, tuned(512, {}));
  Plan searched;
  searched.origin.reasons = {{PlanReason::only_candidate}};
  const Plan plan =
      TunedPlans{file, machine_}.plan(cube(64), machine_, machine_.gpus(),
                                      any_preset("tilerail"), [&] { return searched; });
  ASSERT_EQ(plan.origin.reasons.size(), 2u);
  EXPECT_EQ(plan.origin.reasons[0].kind, PlanReason::only_candidate);
  EXPECT_EQ(plan.origin.reasons[1].kind, PlanReason::not_tuned);
  EXPECT_EQ(plan.origin.reasons[1].name, file);
}

TEST_F(PlanCacheFile, HandWrittenDecisionsAreRefusedOnUse) {
  const std::string file = path("plans.toml");
  TunedPlan odd = tuned(512, {});
  for (PlanDecision& decision : odd.decisions)
    if (decision.key == "routing") decision.value = "teleport";
  keep(file, 512, odd);
  const TunedPlans plans{file, machine_};
  expect_input_error(
      [&] { (void)cached(plans, cube(512)); },
      {"plans.toml:6:1: gemm 512,512,512 f64 NN host:host:host", "routing: 'teleport'"});
  odd = tuned(512, {"tile=128"});
  for (PlanDecision& decision : odd.decisions)
    if (decision.key == "tile") decision.value = "64";
  keep(file, 512, odd);
  const Plan plan = cached(TunedPlans{file, machine_}, cube(512));
  EXPECT_TRUE(plan.ops.empty());
  EXPECT_EQ(plan.origin.reasons.at(0).kind, PlanReason::outdated);
}

TEST_F(PlanCacheFile, UnknownDecisionsOfAnotherVersionAreIgnored) {
  const std::string file = path("plans.toml");
  TunedPlan newer = tuned(512, {});
  newer.decisions.push_back({"warp", "9"}), newer.version = "99.1";
  keep(file, 512, newer);
  const TunedPlans plans{file, machine_};
  const Plan plan = cached(plans, cube(512));
  EXPECT_TRUE(plan.ops.empty());
  EXPECT_EQ(plan.origin.reasons.at(0).kind, PlanReason::outdated);
  EXPECT_EQ(plan.origin.reasons.at(0).owner, "99.1");
}

TEST_F(PlanCacheFile, ManyWritersLoseNothing) {
  const std::string file = path("plans.toml");
  const TunedPlan plan = tuned(64, {});
  constexpr int writers = 4, each = 8;
  std::vector<pid_t> processes;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t process = fork();
    if (process == 0) {
      for (int i = 0; i < each; ++i) keep(file, 1 + writer * each + i, plan);
      _exit(0);
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = -1;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(load_plan_cache(file).plans.size(), size_t{writers * each});
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}),
            1);  // no lock file remains
}

TEST_F(PlanCacheFile, FilesThatCannotBeWrittenStayUnchanged) {
  const std::string file = path("plans.toml");
  std::ofstream{file} << "no plan cache";
  expect_input_error([&] { keep(file, 64, tuned(64, {})); }, {file, "expected TOML"});
  EXPECT_EQ(read_file(file), "no plan cache");
  expect_input_error(
      [&] { keep(path("no/such.toml"), 64, tuned(64, {})); },
      {"no/such.toml' cannot be written: the folder", "/no' does not exist"});
  expect_input_error([&] { keep(folder_.string(), 64, tuned(64, {})); },
                     {"cannot be written: Is a directory"});
}

}  // namespace
}  // namespace tilerail::study
