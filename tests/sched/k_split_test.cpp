// Several GPUs compute parts of the same tile of C, each over its own part of k.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "backends/fluid/simulation.hpp"
#include "plan/validate.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

GemmProblem gemm(int64_t m, int64_t n, int64_t k) {
  GemmProblem problem = cube(m);
  problem.n = n, problem.k = k, problem.ldb = k;
  return problem;
}

Plan planned(const GemmProblem& problem, const std::string& split,
             const std::vector<std::string>& overrides = {}) {
  const Topology machine = test::shipped("pcie-tree-8");
  Policy policy = testing::policy("tilerail", {"effort=fast", "devices=all"});
  for (const std::string& each : overrides) apply_override(policy, each);
  apply_override(policy, "grid=auto(layers=" + split + ")");
  Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
  validate(plan, machine);
  return plan;
}

/// Bytes received by each GPU from any memory.
std::map<MemoryId, double> received(const Plan& plan) {
  std::map<MemoryId, double> bytes;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy)
      bytes[plan.queue(op.queue).dst] += copy_bytes(plan, op).value;
  return bytes;
}

TEST(KSplit, LayersHaveTheirPartsOfK) {
  const std::vector<double> equal(4, 1.0), faster{1, 1, 2, 2};
  const Region all{{0, 100}, {0, 100}, {0, 3000}};
  const Tiling even{all, {1, 2, 2}, 1000, Distribution::blocks, equal};
  ASSERT_EQ(even.layers(), 2U);
  EXPECT_EQ(even.k[1].end, 1472);  // a multiple of 64
  EXPECT_EQ(even.depth(1).begin, 2);
  EXPECT_EQ(even.depth(1).end, 4);
  EXPECT_EQ(even.owner({0, 1}, 1), 3U);
  EXPECT_EQ(even.layer_of(1), 0U);
  const Tiling shared{all, {1, 2, 2}, 1000, Distribution::blocks, faster};
  EXPECT_NEAR(double(shared.k[size_t(shared.depth(1).begin)].begin), 1000, 32);
  EXPECT_EQ(shared.k.back().end, 3000);
}

TEST(KSplit, ReceivesLessOfAAndBAndAddsUpSums) {
  const GemmProblem problem = gemm(1024, 1024, 16384);
  const Plan whole = planned(problem, "1", {"tile=512", "batch=off"});
  const Plan split = planned(problem, "all", {"tile=512", "batch=off"});
  EXPECT_EQ(decided(split, "grid"), "1x1x8");
  std::map<OpKind, int> kinds;
  for (const Op& op : split.ops) ++kinds[op.kind];
  EXPECT_EQ(kinds[OpKind::gemm], 2 * 2 * 32);
  EXPECT_EQ(kinds[OpKind::axpby],
            4 * 7 + 4);  // partial sums, and C_in, which is fetched last here
  const auto total = [](const Plan& plan) {
    double bytes = 0;
    for (const auto& [memory, received] : received(plan)) bytes += received;
    return bytes;
  };
  EXPECT_LT(total(split), 0.6 * total(whole));
}

TEST(KSplit, UsesTheLargestDivisorUpToTheOption) {
  const GemmProblem problem = gemm(512, 512, 4096);
  EXPECT_EQ(decided(planned(problem, "7", {"tile=256"}), "grid"), "1x2x4");
  EXPECT_EQ(decided(planned(problem, "3", {"tile=256"}), "grid"), "2x2x2");
  EXPECT_EQ(decided(planned(gemm(512, 512, 3), "all", {"tile=256"}), "grid"), "2x2x2");
}

// Each GPU holds a panel and its partial sums; if they do not fit, k is not split.
TEST(KSplit, IsOmittedIfSumsDoNotFit) {
  const GemmProblem problem = gemm(8192, 8192, 1024);
  EXPECT_EQ(decided(planned(problem, "8", {"tile=1024"}), "grid"), "1x1x8");
  EXPECT_EQ(decided(planned(problem, "8", {"tile=1024", "memory=0.01"}), "grid"), "2x4");
}

// GPUs have only direct links to each other: at first none, then between the first GPUs
// of both layers of two, then also between the second ones.
TEST(KSplit, IsOmittedIfSumsHaveNoRoute) {
  auto d = small_machine::memories_and_switches(4, 0);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  for (const char* gpu : {"g0", "g1", "g2", "g3"})
    small_machine::add_links(d, "h", gpu, 10);
  const auto grid = [&](std::initializer_list<std::string_view> overrides) {
    const Topology machine{d};
    const Plan plan = plan_gemm(gemm(512, 512, 4096), machine, machine.gpus(),
                                policy("gemmex", overrides));
    validate(plan, machine);
    require_fit(plan, machine);
    return decided(plan, "grid");
  };
  EXPECT_EQ(grid({"tile=256", "grid=square(layers=2)"}), "2x2");
  small_machine::add_links(d, "g0", "g2", 50);
  EXPECT_EQ(grid({"tile=256", "grid=square(layers=2)"}), "2x2");
  small_machine::add_links(d, "g1", "g3", 50);
  EXPECT_EQ(grid({"tile=256", "grid=square(layers=2)"}), "1x2x2");
  EXPECT_EQ(grid({"tile=256", "grid=square(layers=all)"}), "1x2x2");
  EXPECT_EQ(grid({"tile=256", "grid=square(layers=2)", "distribution=1d-cyclic"}), "2x2");
}

TEST(KSplit, AddsSumsOnTheGpuOfC) {
  const Topology machine = test::shipped("pcie-tree-8");
  GemmProblem problem = gemm(1024, 1024, 8192);
  problem.place_c = machine.gpus()[5];
  const Plan plan = planned(problem, "all", {"tile=512"});
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::axpby) continue;
    EXPECT_EQ(plan.queue(op.queue).dst, machine.gpus()[5]);
  }
}

TEST(KSplit, IsFasterForLongKOverSlowLinks) {
  const Topology machine = test::shipped("pcie-tree-8");
  const GemmProblem problem = gemm(2000, 2000, 30000);
  const auto seconds = [&](const char* split) {
    double end = 0;
    for (const OpTime& time :
         simulate_fluid(planned(problem, split, {"tile=1024", "sends=free"}), machine))
      end = std::max(end, time.end);
    return end;
  };
  EXPECT_LT(seconds("4"), 0.7 * seconds("1"));
}

}  // namespace
}  // namespace tilerail::testing
