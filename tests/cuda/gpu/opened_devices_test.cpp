// The devices that a run opens. A context takes some hundred megabytes of a GPU.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backends/cuda/run/cuda_executor.hpp"
#include "sched/scheduler.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/cuda/gpu/gpu_fixture.hpp"

namespace tilerail {
namespace {

bool is_open(int device) {
  using GetState = CUresult (*)(CUdevice, unsigned*, int*);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  cuda::check(cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &function,
                                               7000, cudaEnableDefault, &found),
              "looking a function up");
#else
  cuda::check(cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &function,
                                      cudaEnableDefault, &found),
              "looking a function up");
#endif
  unsigned flags = 0;
  int active = 0;
  if (function == nullptr ||
      reinterpret_cast<GetState>(function)(device, &flags, &active) != CUDA_SUCCESS)
    _exit(2);
  return active != 0;
}

/// Ends with 1 if a run on device 1 alone, with copies by threads, opens device 0.
[[noreturn]] void run_on_the_second_device(const Topology& topology) {
  cuda::check(cudaSetDevice(1), "choosing a device");
  const MemoryId second = *topology.find_gpu(1);
  const GemmProblem problem = test::square(900);
  const std::vector<MemoryId> devices{second};
  CudaExecutor executor{topology};
  const auto bound =
      executor.prepare(plan_gemm(problem, topology, devices, in_tiles(300)));
  test::CudaGemmCase data{problem, executor, 1};
  const bool before = is_open(0);
  executor.run(*bound, data.matrices(), {true, true, true});
  if (!data.mismatch(4).empty()) _exit(4);
  _exit(is_open(0) && !before ? 1 : 0);
}

using OpenedDevices = Gpu;

/// In a separate process, because other tests open all devices.
TEST_F(OpenedDevices, ThreadsThatCopyDoNotOpenADeviceThatTakesNoPart) {
  if (gpus_ < 2) GTEST_SKIP() << "one CUDA device here";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Topology topology = machine();
  EXPECT_EXIT(run_on_the_second_device(topology), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tilerail
