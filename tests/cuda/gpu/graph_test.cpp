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

// What is allocated last is often where what was freed was before: that is another matrix.
TEST_F(Gpu, GraphsRunOnMatricesOfTheGpuThatOthersHaveBeenFreedFor) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  GemmProblem problem = square(900);
  problem.place_a = problem.place_b = problem.place_c = topology.gpus()[0];
  const auto bound = executor.prepare(plan_gemm(problem, topology, devices(1), in_tiles(300)));
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    CudaGemmCase data{problem, executor, seed};
    executor.run(*bound, data.matrices(), {}, true);
    EXPECT_EQ(data.mismatch(4), "") << seed;
  }
}

// Tiles of both plans are in one arena, which grows for the second.
TEST_F(Gpu, AGraphIsMadeAnewWhenTilesHaveMoved) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const GemmProblem small = square(900), large = square(2500);
  const auto bound = executor.prepare(plan_gemm(small, topology, devices(1), in_tiles(300)));
  CudaGemmCase data{small, executor, 1}, other{large, executor, 2};
  const auto runs = [&](int count) {
    for (int i = 0; i < count; ++i) {
      data.reset_c();
      executor.run(*bound, data.matrices(), {}, true);
      EXPECT_EQ(data.mismatch(4), "");
    }
  };
  runs(3);
  executor.run(*executor.prepare(plan_gemm(large, topology, devices(1), in_tiles(600))), other.matrices());
  EXPECT_EQ(other.mismatch(6), "");
  runs(3);
}

TEST_F(Gpu, APlanThatIsToBeNoGraphIsNone) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  Policy policy = in_tiles(300);
  policy.graph = false;
  const GemmProblem problem = square(900);
  const auto bound = executor.prepare(plan_gemm(problem, topology, devices(1), policy));
  CudaGemmCase data{problem, executor, 1};
  for (int run = 0; run < 3; ++run) EXPECT_FALSE(executor.run(*bound, data.matrices(), {}, true).as_graph);
}

}  // namespace
}  // namespace tilerail
