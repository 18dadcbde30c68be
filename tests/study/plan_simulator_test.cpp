// Results of the fluid machine as simulator of plans, and the plans chosen with it.
#include "study/planning/plan_simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/topology_toml.hpp"
#include "sched/scheduler.hpp"
#include "study/design/machine_design.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::study {
namespace {

TEST(PlanSimulator, ReturnsTheEndOfEachGpu) {
  const Topology machine = test::shipped("two-gpu");
  GemmProblem problem = testing::cube(4096);
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  const Policy policy = testing::policy("gemmex", {"tile=1024"});
  const Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
  const PlanCost cost = plan_simulator(machine).of(plan);
  ASSERT_EQ(cost.ends.size(), 2U);
  EXPECT_EQ(std::max(cost.ends[0], cost.ends[1]), cost.makespan);
  EXPECT_GT(std::min(cost.ends[0], cost.ends[1]), Seconds{0});
  EXPECT_NE(cost.ends[0], cost.ends[1]);  // the operands are on one of the GPUs
}

TEST(PlanSimulator, PrefersAllGpusIfDevicesAllIsFaster) {
  const std::string kernels =
      TILERAIL_SOURCE_DIR "/topologies/karolina-hgx-a100.toml:a100";
  const Topology machine =
      read_topology(design_machine({.gpus = "12", .kernels = kernels}), "12-gpus.toml");
  GemmProblem problem = testing::cube(4096);
  problem.n = 512;
  problem.lda = problem.ldb = problem.ldc = 4096;
  problem.dtype = DType::f32;
  const PlanSimulator simulator = plan_simulator(machine);
  const auto seconds = [&](std::initializer_list<std::string_view> overrides) {
    const Policy policy = testing::policy("tilerail", overrides);
    return simulator.of(plan_gemm(problem, machine, machine.gpus(), policy, simulator))
        .makespan.value;
  };
  EXPECT_LE(seconds({}), (1 + 1e-9) * seconds({"devices=all"}));
}

}  // namespace
}  // namespace tilerail::study
