// Products of halves: their sums are in single precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"
#include "tests/support/test_seed.hpp"

namespace tilerail {
namespace {

GemmProblem on_gpu(MemoryId gpu, int64_t m, int64_t n, int64_t k, DType dtype,
                   Trans trans_b) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k, p.dtype = dtype, p.trans_b = trans_b, p.alpha = -2;
  p.place_a = p.place_b = p.place_c = gpu;
  return checked(p);
}

CheckResult checked_run(CudaExecutor& executor, const GemmProblem& problem) {
  const Policy policy = in_tiles(std::max({problem.m, problem.n, problem.k}));
  const Plan plan = plan_gemm(problem, executor.topology(),
                              std::vector{problem.place_c.home()}, policy);
  return checked_run(executor, plan);
}

/// If C is small, cuBLAS splits k over multiprocessors, and by default adds the parts as
/// halves.
TEST_F(Gpu, PartsOfASumOfHalvesAreNotRounded) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const MemoryId gpu = topology.gpus()[0];
  std::mt19937_64 random{test::test_seed()};
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>{low, high}(random);
  };
  for (const DType dtype : {DType::f16, DType::bf16}) {
    std::vector<GemmProblem> problems{on_gpu(gpu, 2843, 375, 425, dtype, Trans::yes)};
    for (int i = 0; i < 40; ++i)
      problems.push_back(on_gpu(gpu, pick(100, 3000), pick(50, 600), pick(200, 3000),
                                dtype, pick(0, 1) ? Trans::yes : Trans::no));
    for (const GemmProblem& p : problems) {
      const CheckResult result = checked_run(executor, p);
      EXPECT_TRUE(result.passed)
          << p.m << "," << p.n << "," << p.k << ": " << result.summary;
    }
  }
}

}  // namespace
}  // namespace tilerail
