#include "sched/choose/set_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "model/base/parse.hpp"
#include "sched/choose/search.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/fields.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

/// A question about four GPUs with unbalanced work and all matrices on the host.
struct HostQuestion {
  explicit HostQuestion(int64_t side)
      : problem{checked(cube(side))}, policy{any_preset("tilerail")} {
    apply_override(policy, "distribution=blocks");
    apply_override(policy, "shares=equal");
  }
  Question by(const Policy& other) const {
    return {problem, problem, topology, resources, devices, other, {}, true};
  }

  GemmProblem problem;
  Policy policy;
  Topology topology = test::shipped("meluxina-a100");
  Resources resources{topology};
  std::vector<MemoryId> devices = topology.gpus();
};

/// The differences from the policy in a candidate's text, such as {"sends", "free"}.
std::vector<std::pair<std::string, std::string>> strategy_of(const std::string& what) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string_view word : split(what, ' ')) {
    const std::string key{word.substr(0, word.find('='))};
    if (key == "tile" || key == "gpus" ||
        (key == "grid" && !word.starts_with("grid=auto") && !word.starts_with("grid=sq")))
      continue;
    all.emplace_back(key, word.substr(key.size() + 1));
  }
  return all;
}

TEST(SetSearch, NamesNoValueWithoutEffectOnThePlan) {
  const HostQuestion asked{2048};
  const Question question = asked.by(asked.policy);
  const Plan start = estimated_plan(question.estimated());
  PlanSimulator simulator;
  simulator.of = [](const Plan& plan) {  // makes plans with random changes the fastest
    return PlanCost{
        Seconds{1 + double(std::hash<std::string>{}(content_hash(plan)) % 997)}, {}};
  };
  const auto search = set_search(question, simulator, start);
  search->run_until(100'000);
  const Plan found = search->take();
  const std::string what = chosen(found).what;
  const auto strategy = strategy_of(what);
  ASSERT_FALSE(strategy.empty()) << what;
  const auto hash_without = [&](size_t left_out) {
    Policy policy = asked.policy;
    for (size_t i = 0; i < strategy.size(); ++i)
      if (i != left_out) set_value(policy, strategy[i].first, strategy[i].second);
    const Question by = asked.by(policy);
    const TileScheduler scheduler{by};
    return content_hash(
        scheduler.plan(found.tile, scheduler.fitting(scheduler.grid(), found.tile)));
  };
  EXPECT_EQ(hash_without(strategy.size()), content_hash(found));
  for (size_t i = 0; i < strategy.size(); ++i)
    EXPECT_NE(hash_without(i), content_hash(found))
        << strategy[i].first << "=" << strategy[i].second;
}

}  // namespace
}  // namespace tilerail::testing
