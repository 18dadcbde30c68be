#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/cuda_executor.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/test_seed.hpp"

namespace tilerail {
namespace {

using test::CudaGemmCase;
using test::square;

/// GPUs with more memory than exists: the free memory must then be queried from the
/// device.
Topology roomy_machine() {
  Topology::Description description = machine().description();
  for (Memory& memory : description.memories) memory.capacity = Bytes{1e12};
  return Topology{description};
}

/// Places each matrix on the host or on one of the GPUs.
void place(GemmProblem& p, std::mt19937_64& random, const Topology& topology, int gpus) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>{low, high}(random);
  };
  for (Layout* at : {&p.place_a, &p.place_b, &p.place_c})
    *at = pick(0, 1) ? topology.hosts()[0] : *topology.find_gpu(pick(0, gpus - 1));
}

/// The first mismatch of several runs: a plan of one GPU is a graph from the second run
/// on.
std::string first_mismatch(CudaExecutor& executor, const Plan& plan, CudaGemmCase& data,
                           int64_t steps) {
  const auto bound = executor.prepare(plan);
  for (int run = 0; run < (plan.graph ? 3 : 1); ++run) {
    if (run > 0) data.reset_c();
    executor.run(*bound, data.matrices(), {}, AllocationIds{});
    if (const std::string wrong = data.mismatch(steps); !wrong.empty())
      return "run " + std::to_string(run) + ": " + wrong;
  }
  return "";
}

TEST_F(Gpu, RandomProblemsAreRightOnEveryPolicyPlacementAndDtype) {
  const Topology topology = machine();
  CudaOptions options;
  options.poison = true;
  CudaExecutor executor{topology, options};
  std::mt19937_64 random{test::test_seed()};
  for (int i = 0; i < 250; ++i) {
    const auto seed = random();
    std::mt19937_64 own{seed};
    GemmProblem problem = test::random_problem(own, 700, 1);
    place(problem, own, topology, gpus_);
    const int count = std::uniform_int_distribution<int>{1, gpus_}(own);
    Policy policy = any_preset(std::array{"baseline", "gemmex", "tilerail"}[own() % 3]);
    policy.choices.tile = 64 + int64_t(own() % 200);
    policy.device_choice = DeviceChoice::all;
    const Plan plan = plan_gemm(problem, topology, devices(count), policy);
    CudaGemmCase data{problem, executor, own()};
    const std::string wrong =
        first_mismatch(executor, plan, data, (problem.k + plan.tile - 1) / plan.tile + 1);
    ASSERT_EQ(wrong, "") << "seed " << seed << ": " << problem.m << " x " << problem.n
                         << " x " << problem.k << " " << to_string(problem.dtype) << " "
                         << to_string(problem.trans_a) << to_string(problem.trans_b)
                         << " alpha " << problem.alpha << " beta " << problem.beta << ", "
                         << count << " GPUs, " << name_of(policy) << " T=" << plan.tile;
  }
}

/// gemv, dot and axpy of random sizes, with m and k of the GEMM `p`.
GemmProblem on_vectors(const GemmProblem& p, Routine routine) {
  GemmProblem vectors = routine == Routine::gemv  ? gemv_problem(p.m, p.k, p.trans_a)
                        : routine == Routine::dot ? dot_problem(p.k)
                                                  : axpy_problem(p.m);
  vectors.dtype = p.dtype, vectors.alpha = p.alpha;
  if (routine != Routine::dot) vectors.beta = p.beta;
  return checked(vectors);
}

TEST_F(Gpu, RoutinesOnVectorsAreRightOnEveryPolicyPlacementAndDtype) {
  const Topology topology = machine();
  CudaOptions options;
  options.poison = true;
  CudaExecutor executor{topology, options};
  std::mt19937_64 random{test::test_seed()};
  for (int i = 0; i < 250; ++i) {
    const auto seed = random();
    std::mt19937_64 own{seed};
    const Routine routine =
        std::array{Routine::gemv, Routine::dot, Routine::axpy}[own() % 3];
    GemmProblem problem = on_vectors(test::random_problem(own, 2000, 1), routine);
    place(problem, own, topology, gpus_);
    problem = checked(problem);
    const int count = std::uniform_int_distribution<int>{1, gpus_}(own);
    Policy policy = any_preset(std::array{"baseline", "gemmex", "tilerail"}[own() % 3]);
    policy.choices.tile = 64 + int64_t(own() % 1000);
    policy.device_choice = DeviceChoice::all;
    const Plan plan = plan_gemm(problem, topology, devices(count), policy);
    CudaGemmCase data{problem, executor, own()};
    const std::string wrong = first_mismatch(
        executor, plan, data, (problem.k + plan.tile - 1) / plan.tile + 1 + count);
    ASSERT_EQ(wrong, "") << "seed " << seed << ": " << to_string(routine) << " "
                         << problem.m << " x " << problem.k << " "
                         << to_string(problem.dtype) << " " << to_string(problem.trans_a)
                         << " alpha " << problem.alpha << " beta " << problem.beta << ", "
                         << count << " GPUs, " << name_of(policy) << " T=" << plan.tile;
  }
}

TEST_F(Gpu, ALongDotProductRunsAgainWithTheSameResult) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const GemmProblem problem = checked(dot_problem(5'000'001));
  const auto bound =
      executor.prepare(plan_gemm(problem, topology, devices(gpus_), in_tiles(700'000)));
  CudaGemmCase data{problem, executor, 7};
  for (int run = 0; run < 3; ++run) {
    executor.run(*bound, data.matrices());
    EXPECT_EQ(data.mismatch(9 + gpus_), "");
  }
}

/// Sizes that are cut into whole words and rests (GemmParts), in every combination of
/// transposes.
TEST_F(Gpu, LargeProductsOfOddSizesAreRight) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  for (const DType dtype : {DType::f64, DType::tf32, DType::f16, DType::bf16})
    for (const Trans trans_a : {Trans::no, Trans::yes})
      for (const Trans trans_b : {Trans::no, Trans::yes}) {
        GemmProblem problem = square(0, -1, 0.375);
        problem.m = element_size(dtype) == 2 ? 1029 : 2053, problem.n = problem.m + 2,
        problem.k = problem.m + 4;
        problem.dtype = dtype, problem.trans_a = trans_a, problem.trans_b = trans_b;
        problem.lda = problem.ldb = problem.ldc = 0;
        problem = checked(problem);
        const Plan plan = plan_gemm(problem, topology, devices(1), in_tiles(4096));
        CudaGemmCase data{problem, executor, 3};
        executor.run(*executor.prepare(plan), data.matrices());
        EXPECT_EQ(data.mismatch(2), "")
            << to_string(dtype) << " " << to_string(trans_a) << to_string(trans_b);
      }
}

TEST_F(Gpu, ABoundPlanRunsAgainOnOtherMatrices) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const GemmProblem problem = square(900);
  const Policy policy = in_tiles(300);
  const auto bound =
      executor.prepare(plan_gemm(problem, topology, devices(gpus_), policy));
  for (uint64_t seed : {1u, 2u, 3u}) {
    CudaGemmCase data{problem, executor, seed};
    executor.run(*bound, data.matrices());
    EXPECT_EQ(data.mismatch(4), "");
  }
}

class GpuTrace : public Gpu, public ::testing::WithParamInterface<CudaTrace> {};

TEST_P(GpuTrace, TimelinesKeepTheExecutionRule) {
  const Topology topology = machine();
  CudaOptions options;
  options.trace = GetParam();
  CudaExecutor executor{topology, options};
  const GemmProblem problem = square(4096);
  const Policy policy = in_tiles(1024);
  const Plan plan = plan_gemm(problem, topology, devices(gpus_), policy);
  CudaGemmCase data{problem, executor, 5};
  const auto bound = executor.prepare(plan);
  executor.run(*bound, data.matrices());
  CudaRunTimes times;
  Timeline timeline;
  try {
    timeline = executor.run_traced(*bound, data.matrices(), &times);
  } catch (const HardwareError& error) {
    GTEST_SKIP() << error.what();
  }
  ASSERT_EQ(timeline.ops.size(), plan.ops.size());
  // Timed events have a resolution of about half a microsecond, CUPTI's clocks of devices
  // agree about as well.
  const double slack = 2e-6 + times.clock_skew;
  std::vector<double> queue_end(plan.queues.size(), 0);
  double least = 1;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpTime t = timeline.ops[i];
    EXPECT_LE(t.start, t.end + slack);
    double ready = queue_end[plan.ops[i].queue.index()];
    for (const OpId dep : plan.deps_of(OpId{i}))
      ready = std::max(ready, timeline.ops[dep.index()].end);
    EXPECT_GE(t.start, ready - slack) << "operation " << i;
    least = std::min(least, t.start - ready);
    queue_end[plan.ops[i].queue.index()] = t.end;
  }
  EXPECT_GT(timeline.makespan().value, 0);
  EXPECT_LE(timeline.makespan().value, times.wall + slack);
  std::printf(
      "traced by %s: makespan %.3f ms, wall %.3f ms, skew %.1f us, least gap %.2f us\n",
      executor.tracer().c_str(), timeline.makespan().value * 1e3, times.wall * 1e3,
      times.clock_skew * 1e6, least * 1e6);
}

INSTANTIATE_TEST_SUITE_P(Tracers, GpuTrace,
                         ::testing::Values(CudaTrace::cupti, CudaTrace::events));

TEST_F(Gpu, AMatrixInTheWrongMemoryIsRefusedAndTheExecutorStaysUsable) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const GemmProblem problem = square(256);
  const Policy policy = in_tiles(128);
  const auto bound = executor.prepare(plan_gemm(problem, topology, devices(1), policy));
  CudaGemmCase data{problem, executor, 7};
  Matrices wrong = data.matrices();
  void* device = nullptr;
  cuda::check(cudaMalloc(&device, 256 * 256 * 8), "allocating");
  wrong.a = device;
  EXPECT_THROW(executor.run(*bound, wrong), InputError);
  wrong.a = nullptr;
  EXPECT_THROW(executor.run(*bound, wrong), InputError);
  cudaFree(device);
  executor.run(*bound, data.matrices());
  EXPECT_EQ(data.mismatch(3), "");
}

TEST_F(Gpu, AnOperationThatFailsIsNamedAndTheExecutorStaysUsable) {
  const Topology topology = machine();
  CudaExecutor executor{topology};
  const GemmProblem problem = square(256);
  const Policy policy = in_tiles(128);
  Plan plan = plan_gemm(problem, topology, devices(gpus_), policy);
  const auto bound = executor.prepare(plan);
  CudaGemmCase data{problem, executor, 8}, small{problem, executor, 9};
  // The registered memory ends before the matrix: the driver refuses the copy that
  // reaches beyond it.
  void* part = nullptr;
  cuda::check(cudaMalloc(&part, 4096), "allocating");
  const GemmProblem on_gpu = [&] {
    GemmProblem p = problem;
    p.place_a = *topology.find_gpu(0);
    return checked(p);
  }();
  const auto on_gpu_plan =
      executor.prepare(plan_gemm(on_gpu, topology, devices(gpus_), policy));
  if (gpus_ > 1) {
    Matrices wrong = data.matrices();
    wrong.a = part;
    EXPECT_THAT(
        [&] { executor.run(*on_gpu_plan, wrong); },
        ::testing::ThrowsMessage<cuda::CudaError>(::testing::HasSubstr("operation ")));
  }
  cudaFree(part);
  executor.run(*bound, small.matrices());
  EXPECT_EQ(small.mismatch(3), "");
}

TEST_F(Gpu, APlanThatDoesNotFitReportsAMemoryFractionThatFits) {
  const Topology topology = roomy_machine();
  CudaExecutor executor{topology};
  const GemmProblem problem = square(2048);
  Plan plan = plan_gemm(problem, topology, devices(1), any_preset("tilerail"));
  size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "reading the free memory");
  plan.peak_bytes[devices(1)[0].index()] = int64_t(free) + (int64_t{1} << 30);
  expect_input_error([&] { executor.prepare(plan); }, {"a memory fraction of at most"});
}

TEST_F(Gpu, RunsKeepTheCallersDevice) {
  const Topology topology = machine();
  const int chosen = gpus_ - 1;
  cuda::check(cudaSetDevice(chosen), "choosing a device");
  CudaExecutor executor{topology};
  const GemmProblem problem = square(512);
  CudaGemmCase data{problem, executor, 11};
  executor.run(*executor.prepare(
                   plan_gemm(problem, topology, devices(gpus_), any_preset("tilerail"))),
               data.matrices());
  int current = -1;
  cuda::check(cudaGetDevice(&current), "reading the current device");
  EXPECT_EQ(current, chosen);
  cudaSetDevice(0);
}

}  // namespace
}  // namespace tilerail
