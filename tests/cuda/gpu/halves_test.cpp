// Products of halves: their sums are in single precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
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

/// Many kernels add to each tile of C, on one GPU and on all, from the host and in place.
TEST_F(Gpu, SumsOfManyKernelsAreRoundedOnce) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  for (const DType dtype : {DType::f16, DType::bf16})
    for (const double beta : {0.0, 0.5})
      for (const MemoryId home : {topology.hosts()[0], topology.gpus()[0]})
        for (const int count : {1, gpus_}) {
          GemmProblem p;
          p.m = 640, p.n = 512, p.k = 8192, p.dtype = dtype, p.beta = beta;
          p.place_c = home;
          p = checked(p);
          Policy policy = in_tiles(256);
          if (count > 1) apply_override(policy, "grid=square(layers=all)");
          const Plan plan = plan_gemm(p, topology, devices(count), policy);
          test::CudaGemmCase data{p, executor, test::test_seed()};
          const auto bound = executor.prepare(plan);
          executor.run(*bound, data.matrices(), {}, AllocationIds{});
          EXPECT_LE(data.relative_error(), 1.05)
              << to_string(dtype) << ", beta " << beta << ", C in " << home.value << ", "
              << count << " GPUs";
          EXPECT_EQ(data.mismatch(1), "");
        }
}

}  // namespace
}  // namespace tilerail
