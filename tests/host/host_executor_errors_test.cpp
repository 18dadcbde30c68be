#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "check/reference.hpp"
#include "model/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/tiled_plan.hpp"

namespace tilerail {
namespace {

using test::machine;
using test::on_host;
using test::tiled_plan;

void expect_refused(HostExecutor& executor, const Plan& plan,
                    const std::vector<std::string>& words) {
  expect_input_error([&] { executor.execute(plan); }, words);
}

TEST(HostExecutorErrors, RefusesTf32NamingIt) {
  const Topology topology = machine(1, 1);
  HostExecutor executor{topology};
  GemmProblem p = on_host(8, 8, 8);
  p.dtype = DType::tf32;
  expect_refused(executor, tiled_plan(topology, p, 8),
                 {"tf32", "expected f64, f32, f16 or bf16"});
}

TEST(HostExecutorErrors, RefusesMissingMatrices) {
  const Topology topology = machine(1, 1);
  HostExecutor executor{topology};
  const Plan plan = tiled_plan(topology, on_host(8, 8, 8), 8);
  const GemmData data{plan.gemm(), 20};
  Matrices matrices = data.matrices();
  matrices.b = nullptr;
  executor.set_matrices(matrices);
  expect_refused(executor, plan, {"matrix B"});
}

TEST(HostExecutorErrors, RefusesPlansOfOtherMachinesAndBrokenPlans) {
  HostExecutor executor{machine(1, 1)};
  expect_refused(executor, tiled_plan(machine(2, 1), on_host(8, 8, 8), 8), {});
  Plan broken = tiled_plan(machine(1, 1), on_host(8, 8, 8), 8);
  broken.views.back().rows = 9;
  expect_refused(executor, broken, {"operation"});
}

TEST(HostExecutorErrors, AFailingOperationIsNamedAndTheExecutorStaysUsable) {
  // A is one column whose leading dimension exceeds a BLAS integer: the plan is valid,
  // but its kernel must refuse it.
  const Topology topology = machine(2, 2);
  GemmProblem p = on_host(4, 4, 1);
  p.place_a = p.place_b = p.place_c = MemoryId{1};
  p.lda = int64_t{1} << 33;
  PlanDraft draft{topology, p};
  const MemoryId gpu = topology.gpus()[0];
  const View spare = draft.tile(gpu, 4, 1);
  const OpId before = draft.axpby(draft.compute_queue(gpu), draft.a(), spare, {});
  draft.gemm(draft.compute_queue(gpu, 1), draft.a(), draft.b(), draft.c(), {}, {before});
  for (int i = 0; i < 50; ++i)
    draft.axpby(draft.compute_queue(gpu, 1), draft.a(), spare, {});
  HostExecutor executor{topology};
  std::vector<double> a(4, 1.0), b(4, 1.0), c(16, 0.0);
  executor.set_matrices({a.data(), b.data(), c.data()});
  expect_refused(executor, draft.plan,
                 {"operation 1 (gemm, queue 1: compute on device0)", "8589934592"});

  const Plan good = tiled_plan(topology, on_host(40, 40, 40), 16);
  const GemmData data{good.gemm(), 21};
  executor.set_matrices(data.matrices());
  executor.execute(good);
  EXPECT_TRUE(data.check().passed()) << data.check().summary();
}

}  // namespace
}  // namespace tilerail
