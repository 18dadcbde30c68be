// A description of two hosts, executed on one: each host's tiles are in separate
// page-locked memory.
#include <gtest/gtest.h>

#include "backends/cuda/run/cuda_executor.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"
#include "tests/support/split_hosts.hpp"

namespace tilerail {
namespace {

using test::CudaGemmCase;

Plan staged_plan(const Topology& topology, int64_t size, const char* name) {
  GemmProblem p = test::square(size);
  p.place_a = topology.gpus()[0], p.place_b = topology.gpus()[2],
  p.place_c = topology.gpus()[1];
  Policy policy = any_preset(name);
  policy.choices.tile = 128, policy.effort = Effort::fast,
  policy.device_choice = DeviceChoice::all;
  apply_override(policy, "peer-copies=staged");
  return plan_gemm(p, topology, topology.gpus(), policy);
}

/// The GPUs of the first host are device 0, the GPUs of the second host device 1.
TEST_F(Gpu, TilesThatAreStagedOnTwoHostsGiveTheRightProduct) {
  if (gpus_ < 2) GTEST_SKIP() << "one CUDA device here";
  const Topology topology{small_machine::split_hosts(2)};
  CudaOptions options;
  options.poison = true, options.ordinals = {0, 0, 1, 1};
  CudaExecutor executor{topology, options};
  for (const char* name : {"cublasxt", "xkblas", "tilerail"}) {
    const Plan plan = staged_plan(topology, 700, name),
               larger = staged_plan(topology, 1100, name);
    for (const MemoryId host : topology.hosts())
      EXPECT_TRUE(std::string{name} != "cublasxt" || plan.peak_bytes[host.index()] > 0);
    const auto bound = executor.prepare(plan), second = executor.prepare(larger);
    CudaGemmCase data{plan.gemm(), executor, 1}, other{larger.gemm(), executor, 2};
    for (int run = 0; run < 3;
         ++run) {  // graphs from the second run on, and arenas that have grown
      data.reset_c(), other.reset_c();
      executor.run(*bound, data.matrices(), {}, AllocationIds{});
      executor.run(*second, other.matrices(), {}, AllocationIds{});
      EXPECT_EQ(data.mismatch(8), "") << name << ", run " << run;
      EXPECT_EQ(other.mismatch(12), "") << name << ", run " << run;
    }
  }
}

}  // namespace
}  // namespace tilerail
