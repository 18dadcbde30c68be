// Kernels on the cores of the host, called from CUDA streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/host/run/run_op.hpp"
#include "check/blas.hpp"
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

/// The shipped machine; the cores of its host compute with the rates of its GPUs.
Topology machine_with_cores() {
  Topology::Description description = machine().description();
  Memory &host = description.memories[machine().hosts()[0].index()],
         &gpu = description.memories[machine().gpus()[0].index()];
  host.processor = gpu.processor;
  host.processor->device = -1;
  host.processor->engines.total = 1;
  return Topology{description};
}

CudaOptions with_cores(HostFunction on_host) {
  CudaOptions options;
  options.on_host = std::move(on_host);
  return options;
}

/// Plans on the cores and the first GPUs give every processor a share of C.
class GpuCores : public Gpu {
 protected:
  Plan plan_on_all(const GemmProblem& problem, const char* preset, int64_t tile) const {
    Policy policy = any_preset(preset);
    policy.choices.tile = tile, policy.device_choice = DeviceChoice::all;
    policy.effort = Effort::fixed;
    std::vector<MemoryId> processors = devices(gpus_);
    processors.push_back(topology_.hosts()[0]);
    return plan_gemm(problem, topology_, processors, policy);
  }

  int64_t kernels_of_cores(const Plan& plan) const {
    return std::ranges::count_if(plan.ops, [&](const Op& op) {
      return op.kind == OpKind::gemm && plan.queue(op.queue).dst == topology_.hosts()[0];
    });
  }

  const Topology topology_ = machine_with_cores();
};

TEST_F(GpuCores, ShareRandomProblemsWithGpus) {
  host::use_blas_threads(2);
  CudaOptions options = with_cores(host::run_op_in);
  options.poison = true;
  CudaExecutor executor{topology_, options};
  std::mt19937_64 random{test::test_seed()};
  int64_t kernels = 0;
  for (int i = 0; i < 60; ++i) {
    const auto seed = random();
    std::mt19937_64 own{seed};
    GemmProblem problem = test::random_problem(own, 500, 1);
    if (problem.dtype == DType::tf32) problem.dtype = DType::f32;  // cores have no tf32
    for (Layout* at : {&problem.place_a, &problem.place_b, &problem.place_c})
      *at = own() % 2 ? topology_.hosts()[0] : topology_.gpus()[own() % size_t(gpus_)];
    const char* preset = std::array{"baseline", "gemmex", "tilerail"}[own() % 3];
    const Plan plan = plan_on_all(problem, preset, 64 + int64_t(own() % 100));
    kernels += kernels_of_cores(plan);
    CudaGemmCase data{problem, executor, own()};
    const auto bound = executor.prepare(plan);
    for (int run = 0; run < 2; ++run) {
      data.reset_c();
      executor.run(*bound, data.matrices(), {}, AllocationIds{});
      ASSERT_EQ(data.mismatch((problem.k + plan.tile - 1) / plan.tile + 1), "")
          << "seed " << seed << ", run " << run << ": " << problem.m << " x " << problem.n
          << " x " << problem.k << " " << to_string(problem.dtype) << ", " << preset
          << " T=" << plan.tile;
    }
  }
  EXPECT_GT(kernels, 60);
}

TEST_F(GpuCores, ATimelineNamesTheirKernels) {
  for (const CudaTrace trace : {CudaTrace::cupti, CudaTrace::events}) {
    CudaOptions options = with_cores(host::run_op_in);
    options.trace = trace;
    CudaExecutor executor{topology_, options};
    const GemmProblem problem = test::square(512);
    const Plan plan = plan_on_all(problem, "gemmex", 128);
    ASSERT_GT(kernels_of_cores(plan), 0);
    CudaGemmCase data{problem, executor, 5};
    const auto bound = executor.prepare(plan);
    CudaRunTimes times;
    Timeline timeline;
    try {
      timeline = executor.run_traced(*bound, data.matrices(), &times);
    } catch (const HardwareError& error) {
      std::printf("%s\n", error.what());
      continue;
    }
    EXPECT_EQ(data.mismatch(5), "");
    ASSERT_EQ(timeline.ops.size(), plan.ops.size());
    for (size_t i = 0; i < plan.ops.size(); ++i)
      if (plan.ops[i].kind == OpKind::gemm) {
        EXPECT_GT(timeline.ops[i].end, timeline.ops[i].start)
            << "operation " << i << ", traced by " << executor.tracer();
      }
  }
}

TEST_F(GpuCores, AKernelThatThrowsIsNamedAndTheExecutorStaysUsable) {
  std::atomic<bool> broken{true};
  CudaExecutor executor{topology_, with_cores([&](const Plan& plan, const Op& op,
                                                  std::span<std::byte* const> buffers) {
                          if (broken) throw std::runtime_error{"no core is left"};
                          host::run_op_in(plan, op, buffers);
                        })};
  const GemmProblem problem = test::square(512);
  const Plan plan = plan_on_all(problem, "gemmex", 128);
  CudaGemmCase data{problem, executor, 5};
  const auto bound = executor.prepare(plan);
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  EXPECT_THAT([&] { executor.run(*bound, data.matrices()); },
              ::testing::ThrowsMessage<cuda::CudaError>(
                  AllOf(HasSubstr("gemm"), HasSubstr("no core is left"))));
  broken = false;
  data.reset_c();
  executor.run(*bound, data.matrices());
  EXPECT_EQ(data.mismatch(5), "");
}

TEST_F(GpuCores, AreRefusedWithoutAFunction) {
  CudaExecutor executor{topology_};
  const Plan plan = plan_on_all(test::square(512), "gemmex", 128);
  expect_input_error([&] { executor.prepare(plan); }, {"computes on cores"});
}

}  // namespace
}  // namespace tilerail
