// The matrices of `run --check` and of calibration.
#include "backends/cuda/bench/matrix_pools.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tuple>
#include <utility>
#include <vector>

#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"

namespace tilerail {
namespace {

/// A on one GPU and C on another, with copies through host memory.
Plan staged_plan(const Topology& topology, MemoryId a, MemoryId c, double beta) {
  GemmProblem problem = test::square(900, 1, beta);
  problem.place_a = a, problem.place_c = c;
  Policy policy = in_tiles(300);
  apply_override(policy, "peer-copies=staged");
  return plan_gemm(problem, topology, std::vector{a, c}, policy);
}

/// Ends with 1 if a result is wrong.
[[noreturn]] void check_without_peer_access(const Topology& topology) {
  const MemoryId first = *topology.find_gpu(0), second = *topology.find_gpu(1);
  CudaExecutor executor{topology};
  for (const double beta : {0.0, 1.0})
    for (const auto& [a, c] : {std::pair{first, second}, std::pair{second, first}}) {
      if (!checked_run(executor, staged_plan(topology, a, c, beta)).passed) _exit(1);
    }
  _exit(0);
}

using MatrixPools = Gpu;

std::vector<double> first_numbers(const void* matrix) {
  std::vector<double> numbers(8);
  cuda::check(cudaMemcpy(numbers.data(), matrix, numbers.size() * sizeof(double),
                         cudaMemcpyDefault),
              "fetching");
  return numbers;
}

/// Equal matrices would hide which one an operation reads, and a dot product would be of
/// a vector with itself, whose error grows with its length. Each matrix fills its memory
/// to the last byte.
TEST_F(MatrixPools, MatricesInSeparateMemoriesDiffer) {
  const Topology topology = machine();
  const MemoryId first = *topology.find_gpu(0),
                 second = *topology.find_gpu(gpus_ > 1 ? 1 : 0);
  const MemoryId host = topology.hosts()[0];
  CudaExecutor executor{topology};
  for (const auto& [a, b, c] : {std::tuple{first, host, second}, {host, second, first}}) {
    GemmProblem problem = test::square(256);
    problem.place_a = a, problem.place_b = b, problem.place_c = c;
    const Plan plan = plan_gemm(problem, topology, std::vector{first}, in_tiles(256));
    const std::vector<const Plan*> plans{&plan};
    cuda::MatrixPools pools{executor, plans, plan.devices, HostPages::plain};
    const Matrices matrices = pools.of(plan, 1);
    const auto of_a = first_numbers(matrices.a), of_b = first_numbers(matrices.b),
               of_c = first_numbers(matrices.c);
    EXPECT_NE(of_a, of_b);
    EXPECT_NE(of_a, of_c);
    EXPECT_NE(of_b, of_c);
  }
}

/// In a separate process, because other tests open access between all devices.
TEST_F(MatrixPools, AreCheckedOnGpusThatHaveNoAccessToEachOther) {
  if (gpus_ < 2) GTEST_SKIP() << "one CUDA device here";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Topology topology = machine();
  EXPECT_EXIT(check_without_peer_access(topology), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tilerail
