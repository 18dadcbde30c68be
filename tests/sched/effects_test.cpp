// Which wishes cannot matter: what the planner says of them has to be true, and it has to say it.
#include "sched/policy/effects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "backends/fluid/simulation.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

using test::shipped;

/// A value other than the field's own, for every field.
const std::vector<std::string> wishes = [] {
  std::istringstream all{
      "devices=search devices=all k-split=2 k-split=all select=edp select-by=model select-ms=7 "
      "ways=search ways=fixed "
      "effort=fast effort=normal grid=auto grid=square distribution=1d-cyclic distribution=sequential "
      "distribution=blocks distribution=even-blocks distribution=proportional shares=speed shares=equal "
      "tile-choice=search "
      "tile-choice=dr tile-choice=gemmex tile-choice=thesis tile=300 tile-rows=all tile-rows=side "
      "tile-depth=growing tile-depth=columns tile-depth=all tile-depth=side small-tiles=k-first small-tiles=k-last "
      "small-tiles=c-last small-tiles=none ragged=merged ragged=own routing=initial routing=bandwidth "
      "routing=link-map routing=eta routing=link-eta relays=on relays=off max-hops=0 max-hops=2 hop-rule=bottleneck "
      "hop-rule=added batch=on batch=off chunks=3 min-chunk-bytes=100000 sends=in-order sends=free "
      "peer-copies=staged peer-copies=staged-home peer-copies=direct copy-rates=duplex copy-rates=alone "
      "input-buffers=3 input-buffers=0 c-tiles=eager c-tiles=lazy c-tiles=auto write-backs=own-queues "
      "write-backs=in-order write-backs=with-next order=fifo order=fewest-fetches order=eta "
      "order=eta-all order=steps "
      "agent=none "
      "agent=paralia agent=xkblas agent=blasx routing=peer-rank routing=nearest-id grid=xkblas caching=on caching=off "
      "in-place=off in-place=on warm=on overlap=off overlap=on compute-streams=1 compute-streams=3 memory=cubes "
      "memory=evict memory-fraction=0.3 issue=single issue=per-device graph=on "
      "graph=off task-us=80 request-us=5 peer-us=9 gpu-us=5"};
  return std::vector<std::string>{std::istream_iterator<std::string>{all}, {}};
}();

std::string key_of(const std::string& wish) { return wish.substr(0, wish.find('=')); }

struct Case {
  const char *machine, *preset;
  std::vector<std::string> overrides;
  GemmProblem problem;
  std::size_t gpus;
  bool judged = false;
};

GemmProblem problem_of(Routine routine, std::int64_t m, std::int64_t n, std::int64_t k, double alpha = 1) {
  GemmProblem p;
  p.routine = routine, p.m = m, p.n = n, p.k = k, p.alpha = alpha;
  p.beta = routine == Routine::dot || alpha == 0 ? 0.0 : 1.0;
  if (routine == Routine::dot) p.trans_a = Trans::yes;
  return p;
}

std::vector<Case> cases() {
  const GemmProblem gemm = problem_of(Routine::gemm, 1500, 1300, 1100), dot = problem_of(Routine::dot, 1, 1, 900000),
                    gemv = problem_of(Routine::gemv, 3000, 1, 2000), axpy = problem_of(Routine::axpy, 900000, 1, 1),
                    scale = problem_of(Routine::gemm, 1500, 1300, 1100, 0);
  GemmProblem on_gpus = gemm, large = gemm;
  GemmProblem axpy_on_gpu = problem_of(Routine::axpy, 9000, 1, 1), scale_on_gpu = scale;
  axpy_on_gpu.place_a = axpy_on_gpu.place_c = scale_on_gpu.place_c = MemoryId{1}, scale_on_gpu.beta = 0.5;
  GemmProblem at_home = gemm;
  at_home.place_a = at_home.place_b = at_home.place_c = MemoryId{1};
  GemmProblem relayed = problem_of(Routine::gemm, 1024, 8192, 8192);
  relayed.place_a = MemoryId{1};
  GemmProblem zero = problem_of(Routine::gemm, 1024, 1000, 64, 0);
  GemmProblem dot_of_nothing = problem_of(Routine::dot, 1, 1, 900000, 0);
  dot_of_nothing.place_b = MemoryId{1};
  on_gpus.place_a = MemoryId{1}, on_gpus.place_b = MemoryId{2}, on_gpus.place_c = MemoryId{1};
  large.beta = 0;
  std::vector<Case> all;
  for (const auto& [preset, gpus] : std::vector<std::pair<const char*, std::size_t>>{
           {"baseline", 2}, {"paralia", 2}, {"gemmex", 1}, {"gemmex", 2}, {"tilerail", 1}, {"tilerail", 2}})
    for (const GemmProblem& problem : {gemm, on_gpus, gemv, dot, dot_of_nothing, axpy, scale})
      all.push_back({"two-gpu", preset, {"tile=512"}, problem, gpus});
  all.push_back({"two-gpu", "gemmex", {"tile=256", "memory=evict", "memory-fraction=0.015"}, large, 2});
  all.push_back({"two-gpu", "gemmex", {"tile=256", "min-chunk-bytes=1000000"}, gemm, 2});
  all.push_back({"two-gpu", "gemmex", {"tile=2048"}, gemm, 2});
  all.push_back({"two-gpu", "tilerail", {}, gemm, 2});
  all.push_back({"clx-ai", "tilerail", {"tile=512"}, on_gpus, 4});
  for (const GemmProblem& problem : {gemm, gemv, dot, axpy, scale, zero}) {
    all.push_back({"clx-ai", "tilerail", {"tile=512"}, problem, 6});
    all.push_back({"clx-ai", "tilerail", {"tile=512", "caching=off"}, problem, 6});
    all.push_back({"clx-ai", "paralia", {"tile=512"}, problem, 6});
  }
  all.push_back({"clx-ai", "tilerail", {"caching=off", "tile=512"}, relayed, 8});
  for (const GemmProblem& problem : {axpy_on_gpu, scale_on_gpu})
    all.push_back({"clx-ai", "gemmex", {"tile=512"}, problem, 8});
  all.push_back({"two-gpu", "gemmex", {"tile=256"}, at_home, 1});
  all.push_back({"clx-ai", "paralia", {"tile=512", "select=perf"}, gemm, 3});
  all.push_back({"two-gpu", "gemmex", {}, scale, 2});
  all.push_back({"clx-ai", "tilerail", {"tile=512", "select=edp"}, gemm, 4});
  all.push_back({"karolina-hgx-a100", "tilerail", {"tile=512"}, on_gpus, 2});
  for (const char* machine : {"karolina-hgx-a100", "clx-ai"})
    for (const GemmProblem& problem : {gemm, on_gpus}) all.push_back({machine, "xkblas", {"tile=512"}, problem, 4});
  all.push_back({"clx-ai", "gemmex", {"tile=512", "k-split=2", "peer-copies=staged-home"}, gemm, 4});
  all.push_back({"two-gpu", "gemmex", {"tile=256", "in-place=off"}, at_home, 1});
  for (const GemmProblem& problem : {gemm, on_gpus, gemv, dot, scale})
    all.push_back({"two-gpu", "tilerail", {}, problem, 2, true});
  all.push_back({"two-gpu", "tilerail", {}, at_home, 1, true});
  all.push_back({"clx-ai", "tilerail", {"tile=512"}, on_gpus, 4, true});
  return all;
}

Plan planned(const Case& at, const Topology& machine, const std::vector<std::string>& more) {
  constexpr std::int64_t few = 1500;  // operations, so that each of many searches is short
  Policy policy = preset(at.preset);
  for (const auto* overrides : {&at.overrides, &more})
    for (const std::string& each : *overrides) apply_override(policy, each);
  policy.judge_ops = std::min(policy.judge_ops, few);
  const Judge judge{[&](const Plan& plan) {
    const Seconds makespan = makespan_of(simulate_fluid(plan, machine));
    return Judgement{makespan, Joules{makespan.value}};
  }};
  return plan_gemm(at.problem, machine, std::span{machine.gpus()}.first(at.gpus), policy, at.judged ? judge : Judge{});
}

/// The keys that a plan says are without effect.
std::set<std::string> named(const Plan& plan) {
  std::set<std::string> keys;
  for (const std::string& each : plan.origin.without_effect) keys.insert(each.substr(0, each.find(':')));
  return keys;
}

bool same_operations(Plan a, const Plan& b, bool also_issue) {
  a.policy = b.policy, a.tile = b.tile;
  if (!also_issue) a.single_issuer = b.single_issuer;
  return content_hash(a) == content_hash(b);
}

std::string text_of(const Case& at) {
  return fmt::format("{} {} {} {} on {} GPUs, {}", at.machine, at.preset, to_string(at.problem.routine),
                     at.problem.alpha, at.gpus, fmt::join(at.overrides, " "));
}

TEST(Effects, AWishThatIsNamedChangesNothing) {
  for (const Case& at : cases()) {
    const Topology machine = shipped(at.machine);
    const Plan plain = planned(at, machine, {});
    for (const std::string& wish : wishes) {
      // Where the case has that wish, too, in another way: the preset's value is what it does not differ from.
      Case without = at;
      std::erase_if(without.overrides, [&](const std::string& set) { return key_of(set) == key_of(wish); });
      const Plan plan = planned(at, machine, {wish});
      const bool is_named = named(plan).contains(key_of(wish));
      const bool had = without.overrides.size() < at.overrides.size();
      EXPECT_TRUE(!is_named ||
                  same_operations(had ? planned(without, machine, {}) : plain, plan, key_of(wish) != "issue"))
          << text_of(at) << ": " << wish;
    }
  }
}

/// What is named when every wish is made, each by itself.
std::string named_of_all(const Case& at) {
  std::set<std::string> keys;
  const Topology machine = shipped(at.machine);
  for (const std::string& wish : wishes) keys.merge(named(planned(at, machine, {wish})));
  return fmt::format("{}", fmt::join(keys, " "));
}

TEST(Effects, WishesWithoutEffectAreNamed) {
  const GemmProblem gemm = problem_of(Routine::gemm, 1500, 1300, 1100);
  EXPECT_EQ(named_of_all({"two-gpu", "gemmex", {"tile=512"}, gemm, 2}),
            "graph hop-rule in-place input-buffers max-hops memory memory-fraction peer-copies relays select-by "
            "select-ms sends shares tile-choice ways");
  EXPECT_EQ(
      named_of_all({"two-gpu", "tilerail", {"tile=512"}, gemm, 1}),
      "batch chunks devices distribution graph grid hop-rule in-place input-buffers issue k-split max-hops memory "
      "memory-fraction min-chunk-bytes peer-copies peer-us relays select select-by select-ms sends shares tile-choice");
  EXPECT_EQ(named_of_all({"two-gpu", "baseline", {"tile=512"}, problem_of(Routine::gemv, 3000, 1, 2000), 2}),
            "batch chunks graph grid hop-rule in-place k-split max-hops memory min-chunk-bytes peer-copies ragged "
            "relays routing select-by select-ms sends shares small-tiles tile-choice tile-depth tile-rows warm ways");
  EXPECT_EQ(named_of_all({"two-gpu", "gemmex", {"tile=512"}, problem_of(Routine::dot, 1, 1, 900000), 2}),
            "agent batch c-tiles caching chunks compute-streams distribution graph grid hop-rule in-place "
            "input-buffers k-split max-hops memory min-chunk-bytes order peer-copies ragged relays routing "
            "select-by select-ms sends shares small-tiles tile-choice tile-depth tile-rows warm ways "
            "write-backs");
  EXPECT_EQ(named_of_all({"two-gpu", "gemmex", {"tile=256", "memory=evict", "memory-fraction=0.015"}, gemm, 2}),
            "batch chunks graph hop-rule in-place input-buffers max-hops memory memory-fraction min-chunk-bytes "
            "order peer-copies relays select-by select-ms sends shares tile-choice tile-depth tile-rows ways");
  EXPECT_THAT(named_of_all({"two-gpu", "gemmex", {"tile=256", "min-chunk-bytes=1000000"}, gemm, 2}),
              ::testing::HasSubstr("chunks "));
  EXPECT_THAT(named_of_all({"two-gpu", "gemmex", {"tile=2048"}, gemm, 2}), ::testing::HasSubstr("compute-streams "));
  EXPECT_THAT(named_of_all({"two-gpu", "tilerail", {"tile=512"}, problem_of(Routine::gemm, 1500, 1300, 1100, 0), 2}),
              ::testing::HasSubstr("batch "));
  EXPECT_EQ(named_of_all({"clx-ai", "tilerail", {"tile=512", "select=edp"}, gemm, 4}),
            "devices hop-rule in-place input-buffers max-hops peer-copies relays shares tile-choice");
}

// What the user overrides is kept where tiles go over other GPUs, too.
TEST(Effects, RelaysKeepWhatTheUserAskedFor) {
  const Topology machine = shipped("clx-ai");
  GemmProblem problem = problem_of(Routine::gemm, 8192, 8192, 8192);
  problem.place_a = machine.gpus()[0], problem.place_b = machine.gpus()[1], problem.place_c = machine.gpus()[2];
  const auto decided = [&](const std::vector<std::string>& overrides) {
    const Plan plan = planned({"clx-ai", "tilerail", overrides, problem, 8}, machine, {});
    std::map<std::string, std::string> decisions;
    for (const PlanDecision& each : plan.origin.decisions) decisions[each.key] = each.value;
    return decisions;
  };
  EXPECT_EQ(decided({})["routing"], "link-map");
  auto asked = decided({"order=eta", "sends=in-order", "compute-streams=4", "batch=on", "distribution=blocks"});
  EXPECT_EQ(asked["order"], "eta");
  EXPECT_EQ(asked["sends"], "in-order");
  EXPECT_EQ(asked["compute-streams"], "4");
  EXPECT_EQ(asked["batch"], "on");
  EXPECT_EQ(asked["distribution"], "blocks");
  EXPECT_EQ(decided({"routing=eta"})["routing"], "eta");
}

TEST(Effects, DecisionsThatDecideNothingAreNotStored) {
  const Topology machine = shipped("two-gpu");
  const Plan plan =
      planned({"two-gpu", "gemmex", {"tile=512"}, problem_of(Routine::dot, 1, 1, 900000), 2}, machine, {});
  const auto of = [](const char* key) { return ::testing::Field(&PlanDecision::key, key); };
  EXPECT_THAT(plan.origin.decisions,
              ::testing::ElementsAre(of("devices"), of("tile"), of("peer-copies"), of("copy-rates"), of("overlap"),
                                     of("memory-fraction"), of("issue"), of("task-us"), of("request-us"), of("peer-us"),
                                     of("tiles")));
}

// Every field that is tried is looked up among the rules: one without a rule ends in an error.
TEST(Effects, EveryFieldIsTriedHereAndHasAMeaning) {
  std::set<std::string> wished;
  for (const std::string& wish : wishes) wished.insert(key_of(wish));
  for (const PolicyField& field : fields_of(preset("tilerail"))) {
    EXPECT_TRUE(wished.contains(field.key)) << field.key << " is not tried here";
    EXPECT_NE(field.meaning, "") << field.key;
  }
}

}  // namespace
}  // namespace tilerail
