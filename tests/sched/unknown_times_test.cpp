// Machines with times of a product for some of their GPUs only.

#include <gtest/gtest.h>

#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

/// two-gpu, with a second GPU without times for f16.
Topology half_on_the_first_only() {
  Topology::Description d = shipped("two-gpu").description();
  KernelTimes without = d.kernels[d.memories[gpu1.index()].processor->kernels];
  without.name = "no-half";
  std::erase_if(without.gemm,
                [](const GemmCurve& curve) { return curve.dtype == DType::f16; });
  d.memories[gpu1.index()].processor->kernels = d.kernels.size();
  d.kernels.push_back(without);
  return Topology{std::move(d)};
}

GemmProblem half_cube() {
  GemmProblem p = cube(1024);
  p.dtype = DType::f16;
  return p;
}

TEST(UnknownTimes, RefuseAPlanOnEveryGpuWithAnyPreset) {
  const Topology machine = half_on_the_first_only();
  for (const std::string& name : any_preset_names()) {
    expect_input_error(
        [&] {
          plan_gemm(half_cube(), machine, machine.gpus(), policy(name, {"devices=all"}));
        },
        {"devices: 'gpu1'", "no GEMM times for f16 NN", "'gpu0' has"});
  }
}

TEST(UnknownTimes, RefuseATypeWithoutTimesOnEveryGpu) {
  const Topology machine = half_on_the_first_only();
  GemmProblem p = half_cube();
  p.dtype = DType::tf32;
  const std::string words =
      "dtype: 'tf32' has no GEMM times for NN on machine 'two-gpu'; expected one of: ";
  for (const std::string& name : any_preset_names()) {
    expect_input_error([&] { plan_gemm(p, machine, machine.gpus(), policy(name)); },
                       {words + "f64, f32, f16, bf16"});
    expect_input_error([&] { plan_gemm(p, machine, {{gpu1}}, policy(name)); },
                       {words + "f64, f32, bf16"});
  }
}

TEST(UnknownTimes, LeaveTheGpuOutIfThePolicySelectsGpus) {
  const Topology machine = half_on_the_first_only();
  for (const std::string& name : any_preset_names()) {
    for (const char* picks : {"devices=search", "devices=best"}) {
      const Plan plan =
          plan_gemm(half_cube(), machine, machine.gpus(), policy(name, {picks}));
      EXPECT_EQ(plan.devices, std::vector{gpu0}) << name << ", " << picks;
    }
  }
}

TEST(UnknownTimes, DoNotMatterToOtherTypesAndToVectorSums) {
  const Topology machine = half_on_the_first_only();
  EXPECT_EQ(plan_gemm(cube(1024), machine, machine.gpus(), policy("paralia")).devices,
            machine.gpus());
  GemmProblem sum = axpy_problem(1 << 20);
  sum.dtype = DType::f16;
  EXPECT_EQ(plan_gemm(sum, machine, machine.gpus(), policy("paralia")).devices,
            machine.gpus());
}

}  // namespace
}  // namespace tilerail::testing
