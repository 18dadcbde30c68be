#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/sim/sim_executor.hpp"
#include "cost/kernel_costs.hpp"
#include "plan/validate.hpp"
#include "sched/factor/factor_planner.hpp"
#include "sched/factor/factor_tasks.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machine_places.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_interpreter.hpp"

namespace tilerail::testing {
namespace {

FactorProblem factorisation(int64_t n, MemoryId place) {
  return checked(FactorProblem{.m = n, .n = n, .place = place});
}

/// L L^T of a lower triangle of small integers with a diagonal from 1 on: every step of
/// its factorisation is exact.
std::vector<double> product_of(int64_t n, std::vector<double>& lower) {
  lower.assign(size_t(n * n), 0.0);
  for (int64_t c = 0; c < n; ++c)
    for (int64_t r = c; r < n; ++r)
      lower[size_t(r + c * n)] = r == c ? 1.0 : double((r * 7 + c * 3) % 5 - 2);
  std::vector<double> a(lower.size(), 0.0);
  for (int64_t c = 0; c < n; ++c)
    for (int64_t r = 0; r < n; ++r)
      for (int64_t k = 0; k < n; ++k)
        a[size_t(r + c * n)] += lower[size_t(r + k * n)] * lower[size_t(c + k * n)];
  return a;
}

/// With t tiles per side: t potrf, t (t - 1) / 2 each of trsm and syrk, t (t - 1) (t - 2)
/// / 6 gemm.
TEST(CholeskyTasks, MatchTheCountsOfTheFormulas) {
  const TaskGraph graph = potrf_tasks({factorisation(96, {}), 16, 16, {}});
  std::array<int, op_kind_count> counts{};
  for (size_t t = 0; t < graph.size(); ++t)
    ++counts[size_t(graph.task(TaskId{t}).op.kind)];
  const auto of = [&](OpKind kind) { return counts[size_t(kind)]; };
  EXPECT_EQ(of(OpKind::potrf), 6);
  EXPECT_EQ(of(OpKind::trsm), 15);
  EXPECT_EQ(of(OpKind::syrk), 15);
  EXPECT_EQ(of(OpKind::gemm), 20);
}

/// trsm follows the potrf of its diagonal tile; the syrk of a diagonal tile precedes the
/// tile's potrf.
TEST(CholeskyTasks, HazardsMakeTheEdges) {
  const TaskGraph graph = potrf_tasks(
      {factorisation(32, {}), 16, 16, {}});  // potrf 0, trsm 1, syrk 2, potrf 3
  ASSERT_EQ(graph.size(), 4u);
  EXPECT_THAT(graph.successors(TaskId{0}), ::testing::ElementsAre(TaskId{1}));
  EXPECT_THAT(graph.successors(TaskId{1}), ::testing::ElementsAre(TaskId{2}));
  EXPECT_THAT(graph.successors(TaskId{2}), ::testing::ElementsAre(TaskId{3}));
  EXPECT_TRUE(graph.task(TaskId{0}).last) << "nobody writes the first tile again";
  EXPECT_FALSE(graph.task(TaskId{2}).last);
}

class Cholesky : public ::testing::TestWithParam<MachinePlace> {};

TEST_P(Cholesky, RunsInAnyOrderWithoutARaceAndFactorsTheMatrix) {
  const auto& [name, place] = GetParam();
  const Topology machine = shipped(name);
  const FactorProblem problem = factorisation(90, *machine.find_memory(place));
  const Plan plan =
      plan_factorisation(problem, machine, machine.gpus(),
                         {.tile = 16});  // 5 tiles of 16 and a remainder of 10
  validate(plan, machine);
  EXPECT_EQ(find_race(plan), "");
  std::vector<double> lower;
  Matrices matrices;
  matrices.a = product_of(problem.n, lower);
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const std::vector<double> result = interpret(plan, matrices, seed);
    for (int64_t c = 0; c < problem.n; ++c)
      for (int64_t r = c; r < problem.n; ++r) {
        const auto at = size_t(r + c * problem.n);
        ASSERT_EQ(result[at], lower[at])
            << "order " << seed << ", row " << r << ", column " << c;
      }
  }
}

/// Several GPUs work, and no faster than all of them together at the rate of their GEMMs.
TEST_P(Cholesky, IsSimulated) {
  const auto& [name, place] = GetParam();
  const Topology machine = shipped(name);
  const FactorProblem problem = factorisation(4096, *machine.find_memory(place));
  const Plan plan = plan_factorisation(problem, machine, machine.gpus(), {.tile = 512});
  const double makespan = SimExecutor{machine}.execute(plan).makespan().value;
  const Plan alone = plan_factorisation(
      problem, machine, std::span{machine.gpus()}.first(1), {.tile = 512});
  EXPECT_LT(makespan, SimExecutor{machine}.execute(alone).makespan().value);
  double seconds = 0;
  KernelCosts costs{machine};
  for (const Op& op : plan.ops)
    if (is_kernel(op.kind))
      seconds +=
          costs.of(plan, op, plan.operands_of(op), plan.queue(op.queue).dst).time.value;
  EXPECT_GT(makespan, seconds / double(machine.gpus().size()));
}

TEST_P(Cholesky, HasNoCudaKernelsYet) {
  const auto& [name, place] = GetParam();
  const Topology machine = shipped(name);
  const Plan plan = plan_factorisation(factorisation(64, *machine.find_memory(place)),
                                       machine, machine.gpus(), {.tile = 32});
  expect_input_error([&] { require_kernels(plan, true); },
                     {"operation", "has no CUDA kernel yet"});
}

/// A matrix of 512 x 512 on gpu1 of two-gpu, whose memory is `room` times as large.
Plan plan_with_room(double room, int64_t tile) {
  auto d = shipped("two-gpu").description();
  const MemoryId home = *shipped("two-gpu").find_memory("gpu1");
  d.memories[home.index()].capacity = Bytes{room * 8 * 512 * 512};
  const Topology machine{d};
  const FactorProblem problem = factorisation(512, home);
  const Plan plan = plan_factorisation(problem, machine, machine.gpus(), {.tile = tile});
  validate(plan, machine);
  return plan;
}

TEST(CholeskyMemory, TilesNeedMemoryInAdditionToTheMatrix) {
  EXPECT_GT(plan_with_room(4, 64).peak_bytes[2], 0);
  expect_input_error([] { plan_with_room(1.01, 64); },
                     {"memory: 'gpu1'", "bytes for tiles, too few"});
  expect_input_error([] { plan_with_room(0.5, 64); }, {"place", "gpu1", "for matrices"});
}

TEST(CholeskyChecks, EqualTheChecksOfOtherPlanners) {
  const Topology machine = shipped("two-gpu");
  const FactorProblem problem = factorisation(4096, machine.hosts()[0]);
  expect_input_error(
      [&] { plan_factorisation(problem, machine, machine.hosts(), {.tile = 64}); },
      {"devices", "is not a processor"});
  expect_input_error([&] { plan_factorisation(problem, machine, {}, {.tile = 64}); },
                     {"devices", "is missing"});
  expect_input_error(
      [&] { plan_factorisation(problem, machine, machine.gpus(), {.tile = 1}); },
      {"tile: '1'", "kernels"});
}

INSTANTIATE_TEST_SUITE_P(OnTwoMachines, Cholesky, machine_places(), machine_place_name);

}  // namespace
}  // namespace tilerail::testing
