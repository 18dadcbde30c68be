// Plans of one GPU as CUDA graphs.
#include <gtest/gtest.h>

#include "backends/cuda/run/cuda_executor.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"

namespace tilerail {
namespace {

using test::CudaGemmCase;
using test::square;

TEST_F(Gpu, APlanOfOneGpuIsAGraphWhereItsRunsAreAlike) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  GemmProblem problem = square(900);
  problem.place_a = problem.place_b = problem.place_c = topology.gpus()[0];
  const auto bound = executor.prepare(plan_gemm(problem, topology, devices(1), in_tiles(300)));
  CudaGemmCase data{problem, executor, 1}, other{problem, executor, 2};
  const auto as_graph = [&](CudaGemmCase& matrices, bool lasting = true) {
    matrices.reset_c();
    const bool graph = executor.run(*bound, matrices.matrices(), {}, lasting).as_graph;
    EXPECT_EQ(matrices.mismatch(4), "");
    return graph;
  };
  EXPECT_FALSE(as_graph(data)) << "the first run";
  EXPECT_TRUE(as_graph(data));
  EXPECT_TRUE(as_graph(data));
  EXPECT_FALSE(as_graph(other)) << "other matrices";
  EXPECT_TRUE(as_graph(other));
  EXPECT_FALSE(as_graph(other, false)) << "they may be gone";
  EXPECT_TRUE(as_graph(other));
}

TEST_F(Gpu, APlanThatIsToBeNoGraphIsNone) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  Policy policy = in_tiles(300);
  policy.graph = false;
  const GemmProblem problem = square(900);
  const auto bound = executor.prepare(plan_gemm(problem, topology, devices(1), policy));
  CudaGemmCase data{problem, executor, 1};
  for (int run = 0; run < 3; ++run) EXPECT_FALSE(executor.run(*bound, data.matrices()).as_graph);
}

}  // namespace
}  // namespace tilerail
