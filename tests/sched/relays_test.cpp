#include "sched/policy/decisions.hpp"
#include "sched/policy/fields.hpp"

#include <gtest/gtest.h>

#include <map>

#include "cost/estimate.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "sched/transport/router.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

GemmProblem placed(const Topology& machine, int64_t n, int gpu) {
  GemmProblem p = cube(n);
  p.place_a = p.place_b = p.place_c = machine.gpus()[size_t(gpu)];
  return checked(p);
}

TEST(Relays, HelpOnlyIfNvlinksBypassPcie) {
  const Topology clx = shipped("clx-ai"), hgx = shipped("hgx-h200"),
                 tree = shipped("pcie-tree-8");
  EXPECT_TRUE(relays_help(placed(clx, 4096, 0), Resources{clx}, clx.gpus()));
  EXPECT_FALSE(relays_help(placed(hgx, 4096, 0), Resources{hgx}, hgx.gpus()))
      << "every pair has the switch";
  EXPECT_FALSE(relays_help(placed(tree, 4096, 0), Resources{tree}, tree.gpus()));
  // 0 and 1 have a direct link, and there is no third GPU.
  EXPECT_FALSE(
      relays_help(placed(clx, 4096, 0), Resources{clx}, std::span{clx.gpus()}.first(2)));
  GemmProblem axpy = placed(clx, 4096, 0);
  axpy.routine = Routine::axpy;
  EXPECT_FALSE(relays_help(axpy, Resources{clx}, clx.gpus()));
}

TEST(Relays, ThePlanWithTheBetterEstimateIsTaken) {
  const Topology machine = shipped("clx-ai");
  const Resources resources{machine};
  for (const int home : {0, 3}) {
    const GemmProblem problem = placed(machine, 12288, home);
    const auto time = [&](const Policy& policy) {
      return estimate_plan(plan_gemm(problem, machine, machine.gpus(), policy), machine,
                           resources)
          .makespan.value;
    };
    Policy relaying = with_relays(any_preset("tilerail"));
    apply_override(relaying, "effort=fast");  // no alternatives to compare
    const double without = time(policy("tilerail", {"routing=link-eta"})),
                 with = time(relaying);
    EXPECT_LT(with, 0.9 * without);
    EXPECT_DOUBLE_EQ(time(any_preset("tilerail")), with);
  }
}

TEST(Relays, KeepTheUsersOptions) {
  const Topology machine = shipped("clx-ai");
  GemmProblem problem = cube(8192);
  problem.beta = 1;
  problem.place_a = machine.gpus()[0], problem.place_b = machine.gpus()[1],
  problem.place_c = machine.gpus()[2];
  const auto decided = [&](std::initializer_list<std::string_view> overrides) {
    const Plan plan =
        plan_gemm(problem, machine, machine.gpus(), policy("tilerail", overrides));
    std::map<std::string, std::string> decisions;
    for (const PlanDecision& each : plan.origin.decisions)
      decisions[each.key] = each.value;
    return decisions;
  };
  EXPECT_EQ(decided({})["routing"], "link-map");
  auto asked = decided({"order=eta", "sends=in-order", "compute-streams=4", "batch=chain",
                        "distribution=blocks"});
  EXPECT_EQ(asked["order"], "eta");
  EXPECT_EQ(asked["sends"], "in-order");
  EXPECT_EQ(asked["compute-streams"], "4");
  EXPECT_EQ(asked["batch"], "chain");
  EXPECT_EQ(asked["distribution"], "blocks");
  EXPECT_EQ(decided({"routing=eta"})["routing"], "eta");
}

}  // namespace
}  // namespace tilerail::testing
