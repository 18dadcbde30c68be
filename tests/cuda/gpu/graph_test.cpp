// Plans of one GPU as CUDA graphs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "backends/cuda/run/cuda_executor.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/busy_stream.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"

namespace tilerail {
namespace {

using test::CudaGemmCase;
using test::square;

TEST_F(Gpu, APlanOfOneGpuIsAGraphIfItsRunsAreEqual) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  GemmProblem problem = square(900);
  problem.place_a = problem.place_b = problem.place_c = topology.gpus()[0];
  const auto bound =
      executor.prepare(plan_gemm(problem, topology, devices(1), in_tiles(300)));
  CudaGemmCase data{problem, executor, 1}, other{problem, executor, 2};
  const auto as_graph = [&](CudaGemmCase& matrices,
                            const std::optional<AllocationIds>& lasting =
                                AllocationIds{}) {
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
  EXPECT_FALSE(as_graph(other, std::nullopt)) << "they may be gone";
  EXPECT_TRUE(as_graph(other));
  EXPECT_FALSE(as_graph(other, AllocationIds{1})) << "other memory, of the same address";
  EXPECT_TRUE(as_graph(other, AllocationIds{1}));
}

// New allocations often get the addresses of freed ones: the matrix there is another one.
TEST_F(Gpu, GraphsRunOnMatricesAtReusedAddresses) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  GemmProblem problem = square(900);
  problem.place_a = problem.place_b = problem.place_c = topology.gpus()[0];
  const auto bound =
      executor.prepare(plan_gemm(problem, topology, devices(1), in_tiles(300)));
  for (uint64_t seed = 1; seed < 6; ++seed) {
    CudaGemmCase data{problem, executor, seed};
    executor.run(*bound, data.matrices(), {}, AllocationIds{});
    EXPECT_EQ(data.mismatch(4), "") << seed;
  }
}

// Tiles of both plans are in one arena, which grows for the second plan.
TEST_F(Gpu, AGraphIsMadeAnewWhenTilesHaveMoved) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const GemmProblem small = square(900), large = square(2500);
  const auto bound =
      executor.prepare(plan_gemm(small, topology, devices(1), in_tiles(300)));
  CudaGemmCase data{small, executor, 1}, other{large, executor, 2};
  const auto runs = [&](int count) {
    for (int i = 0; i < count; ++i) {
      data.reset_c();
      executor.run(*bound, data.matrices(), {}, AllocationIds{});
      EXPECT_EQ(data.mismatch(4), "");
    }
  };
  runs(3);
  executor.run(*executor.prepare(plan_gemm(large, topology, devices(1), in_tiles(600))),
               other.matrices());
  EXPECT_EQ(other.mismatch(6), "");
  runs(3);
}

// Matrices on the host and on all GPUs, so that GPUs wait for copies and kernels of other
// GPUs.
TEST_F(Gpu, APlanOfSeveralGpusIsOneGraphToo) {
  if (gpus_ < 2) GTEST_SKIP() << "one CUDA device here";
  const Topology topology = machine();
  CudaOptions options;
  options.poison = true;
  CudaExecutor executor{topology, options};
  for (const char* policy : {"baseline", "gemmex", "tilerail", "paralia"}) {
    GemmProblem problem = square(1500);
    problem.place_a = topology.gpus()[0], problem.place_b = topology.gpus()[1],
    problem.place_c = topology.hosts()[0];
    Policy wanted = any_preset(policy);
    wanted.choices.tile = 300, wanted.device_choice = DeviceChoice::all;
    const Plan plan = plan_gemm(problem, topology, devices(2), wanted);
    const auto bound = executor.prepare(plan);
    CudaGemmCase data{problem, executor, 1};
    for (int run = 0; run < 5; ++run) {
      data.reset_c();
      EXPECT_EQ(executor.run(*bound, data.matrices(), {}, AllocationIds{}).as_graph,
                run > 0)
          << policy;
      EXPECT_EQ(data.mismatch(6), "") << policy << ", run " << run;
    }
    data.reset_c();
    CudaRunTimes times;
    const Timeline timeline = executor.run_traced(*bound, data.matrices(), &times);
    EXPECT_EQ(timeline.ops.size(), plan.ops.size());
    EXPECT_EQ(times.as_graph, executor.tracer() == "CUPTI");
    EXPECT_EQ(data.mismatch(6), "") << policy << ", traced";
  }
}

// Each product adds to the result of its predecessor.
TEST_F(Gpu, SubmittedRunsAreGraphsToo) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  GemmProblem problem = square(900);
  problem.place_a = problem.place_b = problem.place_c = topology.gpus()[0];
  const auto bound = executor.prepare(
      plan_gemm(problem, topology, devices(gpus_ > 1 ? 2 : 1), in_tiles(300)));
  CudaGemmCase data{problem, executor, 1};
  const cuda::StreamOnDevice caller{executor.ordinal(topology.gpus()[0]),
                                    cudaStreamLegacy};
  for (int run = 0; run < 4; ++run) {
    data.reset_c();
    const CudaRunTimes times =
        executor.submit(*bound, data.matrices(), std::span{&caller, 1}, AllocationIds{});
    EXPECT_EQ(times.as_graph, run > 0);
    executor.wait();
    EXPECT_EQ(data.mismatch(4), "") << run;
  }
}

// A launch continues when its graph is destroyed: with its plan, or for a graph with
// other values.
TEST_F(Gpu, AGraphThatIsDestroyedDuringARunEndsNormally) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  GemmProblem problem = square(900, 1, 0);
  problem.place_a = problem.place_b = problem.place_c = topology.gpus()[0];
  const Plan plan =
      plan_gemm(problem, topology, devices(gpus_ > 1 ? 2 : 1), in_tiles(300));
  for (int round = 0; round < 6; ++round) {
    auto bound = executor.prepare(plan);
    CudaGemmCase data{problem, executor, uint64_t(round)};
    const cuda::DeviceScope scope{executor.ordinal(topology.gpus()[0])};
    test::BusyStream stream;
    const cuda::StreamOnDevice caller{executor.ordinal(topology.gpus()[0]), stream};
    const auto submit = [&](const AllocationIds& ids) {
      return executor.submit(*bound, data.matrices(), std::span{&caller, 1}, ids)
          .as_graph;
    };
    submit({});
    EXPECT_TRUE(submit({}));
    executor.wait();
    stream.occupy();
    EXPECT_TRUE(submit({}));
    EXPECT_TRUE(stream.busy()) << "the launch has ended before it is destroyed";
    stream.release_soon();
    round % 2 == 0 ? bound.reset() : static_cast<void>(submit({1}));
    executor.wait();
    EXPECT_EQ(data.mismatch(4), "") << "round " << round;
  }
}

TEST_F(Gpu, APlanWithoutTheGraphOptionIsNeverAGraph) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  Policy policy = in_tiles(300);
  policy.choices.graph = false;
  const GemmProblem problem = square(900);
  const auto bound = executor.prepare(plan_gemm(problem, topology, devices(1), policy));
  CudaGemmCase data{problem, executor, 1};
  for (int run = 0; run < 3; ++run)
    EXPECT_FALSE(executor.run(*bound, data.matrices(), {}, AllocationIds{}).as_graph);
}

}  // namespace
}  // namespace tilerail
