// Options without effect are listed, and others are not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sched/decided_plan.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"

namespace tilerail {
namespace {

using testing::policy;
using testing::shipped;

GemmProblem problem_of(Routine routine, int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  p.routine = routine, p.m = m, p.n = n, p.k = k;
  p.beta = routine == Routine::dot ? 0.0 : 1.0;
  if (routine == Routine::dot) p.trans_a = Trans::yes;
  return p;
}

std::vector<std::string> named(const GemmProblem& problem, const Topology& machine,
                               std::span<const MemoryId> gpus, const Policy& asked) {
  return without_effect(plan_gemm(problem, machine, gpus, asked), machine, asked);
}

/// Values that differ from the preset gemmex.
const std::vector<std::string> options{"grid=auto",
                                       "distribution=1d-cyclic",
                                       "distribution=2d-cyclic",
                                       "shares=speed",
                                       "tile-rows=all",
                                       "tile-depth=growing",
                                       "small-tiles=k-first",
                                       "ragged=own",
                                       "routing=initial",
                                       "routing=link-map(max-hops=2)",
                                       "batch=off",
                                       "batch=chain(chunks=3,min-bytes=0)",
                                       "batch=chain(min-bytes=100000)",
                                       "sends=in-order",
                                       "peer-copies=staged",
                                       "c-tiles=eager",
                                       "c-tiles=lazy",
                                       "write-backs=in-order",
                                       "order=fifo",
                                       "agent=xkblas",
                                       "caching=off",
                                       "in-place=off",
                                       "overlap=off",
                                       "compute-streams=1",
                                       "memory=0.7",
                                       "issue=per-device",
                                       "graph=off",
                                       "task-us=80",
                                       "peer-us=9"};

/// gemmex does not compare plans, so two plans differ only by the option.
void expect_named_where_nothing_changes(const GemmProblem& problem,
                                        const Topology& machine, size_t count) {
  const auto gpus = std::span{machine.gpus()}.first(count);
  const Plan plain = plan_gemm(problem, machine, gpus, policy("gemmex", {"tile=512"}));
  int same = 0;
  for (const std::string& option : options) {
    const Policy asked = policy("gemmex", {"tile=512", option});
    Plan plan = plan_gemm(problem, machine, gpus, asked);
    const std::vector<std::string> names = without_effect(plan, machine, asked);
    plan.policy = plain.policy;
    const bool is_same = content_hash(plan) == content_hash(plain);
    EXPECT_EQ(names.size(), is_same ? 1 : 0)
        << option << " on " << count << " GPUs of " << machine.name();
    same += is_same;
  }
  EXPECT_GT(same, 0);
  EXPECT_LT(same, std::ssize(options));
}

TEST(WithoutEffect, OptionsAreNamedIfAndOnlyIfThePlanIsTheSame) {
  for (const size_t gpus : {1, 2, 4})
    for (const Routine routine : {Routine::gemm, Routine::gemv, Routine::dot}) {
      const bool cube = routine == Routine::gemm;
      const GemmProblem problem = cube ? problem_of(routine, 1500, 1300, 1100)
                                  : routine == Routine::gemv
                                      ? problem_of(routine, 3000, 1, 2000)
                                      : problem_of(routine, 1, 1, 900000);
      expect_named_where_nothing_changes(problem, shipped("meluxina-a100"), gpus);
    }
  GemmProblem on_gpus = problem_of(Routine::gemm, 1500, 1300, 1100);
  on_gpus.place_a = on_gpus.place_c = MemoryId{1}, on_gpus.place_b = MemoryId{2};
  expect_named_where_nothing_changes(on_gpus, shipped("clx-ai"), 4);
}

TEST(WithoutEffect, TheSentenceNamesBothValues) {
  const Topology machine = shipped("two-gpu");
  const std::span gpus = std::span{machine.gpus()}.first(1);
  EXPECT_THAT(named(testing::cube(1024), machine, gpus,
                    policy("gemmex", {"tile=512", "batch=off"})),
              ::testing::ElementsAre(
                  "batch=off: the plan with batch=chain(min-bytes=0) is the same"));
}

TEST(WithoutEffect, ThePresetsOwnValueAndOptionsOfTheSearchAreNotNamed) {
  const Topology machine = shipped("two-gpu");
  EXPECT_THAT(
      named(testing::cube(1024), machine, machine.gpus(),
            policy("gemmex", {"tile=512", "batch=chain(min-bytes=0)", "effort=fixed"})),
      ::testing::IsEmpty());
}

// A search may have chosen a value other than the preset's for every open field.
TEST(WithoutEffect, AppliesToPlansOfASearch) {
  const Topology machine = shipped("clx-ai");
  GemmProblem problem = testing::cube(4096);
  problem.place_a = machine.gpus()[0], problem.place_c = machine.gpus()[1];
  EXPECT_THAT(
      named(problem, machine, machine.gpus(), policy("tilerail", {"in-place=off"})),
      ::testing::IsEmpty());
  EXPECT_THAT(
      named(testing::cube(4096), machine, machine.gpus(),
            policy("tilerail", {"in-place=off"})),
      ::testing::ElementsAre("in-place=off: the plan with in-place=on is the same"));
}

TEST(WithoutEffect, DecisionsAreListedAlsoIfTheyChangeNothing) {
  const Topology machine = shipped("two-gpu");
  const Plan plan = plan_gemm(problem_of(Routine::dot, 1, 1, 900000), machine,
                              machine.gpus(), policy("gemmex"));
  for (const PolicyField& field : fields_of(policy("gemmex"))) {
    EXPECT_NE(field.meaning, "") << field.key;
    if (field.emulates) continue;
    const bool listed =
        std::ranges::find(plan.origin.decisions, field.key, &PlanDecision::key) !=
        plan.origin.decisions.end();
    EXPECT_EQ(listed,
              field.key == "devices" || !is_of_the_search(policy("gemmex"), field.key))
        << field.key;
  }
}

}  // namespace
}  // namespace tilerail
