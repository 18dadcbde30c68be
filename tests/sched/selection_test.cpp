#include "sched/choose/selection.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cost/energy.hpp"
#include "model/published/workload.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

TEST(WorkloadGemm, ByHand) {
  // flat: 2 m n k / 1 TFLOP/s; T = 512: 8 kernels of 0.268 ms for 1024^3.
  auto description = shipped("two-gpu").description();
  for (Memory& memory : description.memories)
    if (memory.processor)
      memory.processor->idle_watts = Watts{50}, memory.processor->busy_watts = Watts{250};
  const Topology machine{description};
  GemmProblem p = cube(1024);
  p.beta = 0;
  const WorkloadProblem w = workload_problem(checked(p), machine, machine.gpus(), 512, 1);
  ASSERT_EQ(w.operands.size(), 3u);
  EXPECT_DOUBLE_EQ(w.operands[0].bytes.value, 8.0 * 1024 * 1024);
  EXPECT_TRUE(w.operands[0].read && !w.operands[0].written);
  EXPECT_TRUE(!w.operands[2].read && w.operands[2].written) << "beta = 0 never reads C";
  EXPECT_DOUBLE_EQ(w.exec_times[1].value, 2.0 * 1024 * 1024 * 1024 / 1e12);
  EXPECT_EQ(w.watts, (std::vector<Watts>{Watts{250}, Watts{250}}));
  EXPECT_DOUBLE_EQ(w.tile_bytes.value, 8.0 * 512 * 512);
}

/// The part of all kernels that each device of the plan runs.
std::vector<double> parts_of(const Plan& plan) {
  std::vector<double> parts(plan.devices.size(), 0.0);
  double all = 0;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::gemm)
      for (size_t d = 0; d < plan.devices.size(); ++d)
        if (plan.devices[d] == plan.queue(op.queue).dst) parts[d] += 1, all += 1;
  for (double& part : parts) part /= all;
  return parts;
}

constexpr double rounding = 1.5 / (12 * 12);  // of parts, to tiles of 12288 / 1024

TEST(Selection, TheModelsDevicesArePlannedInItsShares) {
  const Topology machine = shipped("clx-ai-hetero");
  const GemmProblem problem = checked(cube(12288));
  for (const Metric& metric : metrics) {
    const Policy paralia =
        policy("paralia", {fmt::format("devices=best(metric={})", metric.name),
                           "tile=1024", "select-by=model"});
    WorkloadProblem workload =
        workload_problem(problem, machine, machine.gpus(), 1024, 1);
    workload.hop_rule = paralia.choices.hop_rule;
    const auto best = ranked_workloads(workload, LinkMap{machine}, metric)[0];
    // The second policy also lets the search choose fields.
    for (const char* effort : {"fast", "normal"}) {
      Policy given = paralia;
      apply_override(given, fmt::format("effort={}", effort));
      const Plan plan = plan_gemm(problem, machine, machine.gpus(), given);
      EXPECT_EQ(plan.devices, best.devices(machine.gpus()));
      EXPECT_EQ(plan.origin.reasons.back().kind, PlanReason::model);
      EXPECT_EQ(plan.origin.reasons.back().name, metric.name);
      const std::vector<double> parts = parts_of(plan);
      for (size_t d = 0; d < parts.size(); ++d)
        EXPECT_NEAR(parts[d], best.shares[d], rounding) << metric.name << " " << effort;
    }
  }
}

// Kernels decide, so that shares are 5, 5, 7 and 7 of 24 by speed. For edp the library
// deals in proportion to share x rate^2: 125, 125, 343 and 343 of 936.
TEST(Selection, TheLibraryDealsByTheMetric) {
  const Topology machine = shipped("clx-ai-hetero");
  const Plan plan = plan_gemm(
      cube(12288), machine, machine.gpus(),
      policy("paralia", {"devices=best(metric=edp)", "tile=1024", "select-by=library"}));
  const auto gpus = machine.gpus();
  EXPECT_EQ(plan.devices, (std::vector<MemoryId>{gpus[2], gpus[3], gpus[5], gpus[7]}));
  const std::vector<double> parts = parts_of(plan);
  for (const size_t d : {0u, 1u}) EXPECT_NEAR(parts[d], 125.0 / 936, rounding);
  for (const size_t d : {2u, 3u}) EXPECT_NEAR(parts[d], 343.0 / 936, rounding);
}

// C has four tiles, so that no more than four GPUs are selected. GPUs with a switch of
// their own read 3 x 33.6 MB / 4 at 13.1 GB/s in 1.9 ms; two behind one switch need twice
// as long.
TEST(Selection, TheLibrarySelectsAGpuOfEachSwitch) {
  const Topology machine = shipped("clx-ai");
  const auto gpus = machine.gpus();
  const std::vector<MemoryId> one_each{gpus[0], gpus[2], gpus[4], gpus[6]};
  EXPECT_EQ(
      plan_gemm(cube(2048), machine, gpus, policy("paralia", {"devices=best"})).devices,
      one_each);
}

// T = 1024. 2048^3: 8 kernels on three GPUs are uneven; four tiles of C are too few for
// five GPUs. 2048 x 2048 x 1536 has a ragged dimension.
TEST(WorkloadGemm, TheLibrarysFactorsByHand) {
  const Topology machine = shipped("clx-ai");
  const Resources resources{machine};
  const Policy paralia = policy("paralia", {"tile=1024"});
  const auto factors = [&](int64_t k) {
    GemmProblem p = cube(2048);
    p.k = k;
    const GemmProblem problem = checked(p);
    return workload_problem(
               Question{problem, problem, machine, resources, machine.gpus(), paralia})
        .library_factors;
  };
  const std::vector<double> even = factors(2048), ragged = factors(1536);
  ASSERT_EQ(even.size(), 8u);
  EXPECT_DOUBLE_EQ(even[0], 1);
  EXPECT_DOUBLE_EQ(even[2], 1.1);
  EXPECT_DOUBLE_EQ(even[3], 1);
  EXPECT_DOUBLE_EQ(even[4], 1.1e6);
  EXPECT_DOUBLE_EQ(even[7], 1e6);
  EXPECT_DOUBLE_EQ(ragged[1], 1.1);
}

TEST(Selection, EnergySelectsFewerDevicesThanSpeed) {
  const Topology machine = shipped("clx-ai");
  const GemmProblem problem = checked(cube(4096));
  for (const char* preset : {"paralia", "tilerail"}) {
    const auto devices = [&](std::string_view metric) {
      return plan_gemm(problem, machine, machine.gpus(),
                       policy(preset, {fmt::format("devices=best(metric={})", metric)}))
          .devices.size();
    };
    EXPECT_EQ(devices("pdp"), 1u) << preset;
    EXPECT_GT(devices("perf"), 1u) << preset;
    EXPECT_LE(devices("edp"), devices("perf")) << preset;
  }
}

TEST(Selection, TheBestSimulatedPlanWins) {
  const Topology machine = shipped("clx-ai");
  const GemmProblem problem = checked(cube(4096));
  const Policy tilerail = policy("tilerail", {"devices=best"});
  // One evaluator prefers few devices, the other many.
  const PlanSimulator few{[](const Plan& plan) {
    return PlanCost{Seconds{double(plan.devices.size())}, {}};
  }};
  const PlanSimulator many{[](const Plan& plan) {
    return PlanCost{Seconds{9.0 - double(plan.devices.size())}, {}};
  }};
  EXPECT_LT(plan_gemm(problem, machine, machine.gpus(), tilerail, few).devices.size(),
            8u);
  const Plan best = plan_gemm(problem, machine, machine.gpus(), tilerail, many);
  EXPECT_EQ(best.devices.size(), 8u);
  const PlanReason& reason = best.origin.reasons.back();
  EXPECT_EQ(reason.kind, PlanReason::best_set);
  EXPECT_EQ(reason.name, tilerail.select->name);
  EXPECT_GT(reason.count, 1u);
}

TEST(Selection, TheBudgetBoundsHowManyPlansAreSimulated) {
  const Topology machine = shipped("clx-ai");
  const GemmProblem problem = checked(cube(4096));
  const auto judged = [&](std::string_view budget) {
    int plans = 0;
    const PlanSimulator simulator{[&](const Plan&) {
      return ++plans, PlanCost{Seconds{1}, {}};
    }};
    plan_gemm(problem, machine, machine.gpus(),
              policy("tilerail", {budget, "effort=fast"}), simulator);
    return plans;
  };
  EXPECT_EQ(judged("devices=best(ms=0)"), 2);
  EXPECT_GT(judged("devices=best(ms=100)"), 2);
  EXPECT_EQ(judged("devices=best(ms=1000000)"), 255);
}

TEST(Selection, EndsWithTheSearchOfTheSimulator) {
  const Topology machine = shipped("clx-ai");
  const GemmProblem problem = checked(cube(4096));
  const auto makespan = [&](std::string_view more) {
    const PlanSimulator simulator{[&](const Plan& plan) {
      const auto found =
          std::ranges::find(plan.origin.decisions, "order", &PlanDecision::key);
      const bool fifo = found != plan.origin.decisions.end() && found->value == "fifo";
      return PlanCost{Seconds{fifo ? 1.0 : 2.0}, {}};
    }};
    return simulator
        .of(plan_gemm(problem, machine, machine.gpus(),
                      policy("tilerail", {"devices=best", more}), simulator))
        .makespan.value;
  };
  EXPECT_EQ(makespan("effort=normal"), 1);
  EXPECT_EQ(makespan("effort=fast"), 2);
}

TEST(Selection, MetricsOfEnergyNeedWatts) {
  auto description = shipped("two-gpu").description();
  for (Memory& memory : description.memories)
    if (memory.processor)
      memory.processor->idle_watts.reset(), memory.processor->busy_watts.reset();
  const Topology machine{description};
  for (const char* preset : {"paralia", "tilerail"}) {
    expect_input_error(
        [&] {
          plan_gemm(cube(1024), machine, machine.gpus(),
                    policy(preset, {"devices=best(metric=edp)"}));
        },
        {"devices: 'edp'", "two-gpu", "'watts'"});
    EXPECT_NO_THROW(
        plan_gemm(cube(1024), machine, machine.gpus(), policy(preset, {"devices=best"})));
  }
  EXPECT_TRUE(plan_gemm(cube(0), machine, machine.gpus(),
                        policy("paralia", {"devices=best(metric=edp)"}))
                  .ops.empty());
  const std::span<const MemoryId> one =
      std::span{machine.gpus()}.first(1);  // nothing to select
  EXPECT_NO_THROW(plan_gemm(cube(1024), machine, one,
                            policy("tilerail", {"devices=best(metric=edp)"})));
}

}  // namespace
}  // namespace tilerail::testing
