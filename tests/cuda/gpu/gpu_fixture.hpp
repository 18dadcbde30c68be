#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "backends/cuda/bench/matrix_pools.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "model/machine/topology.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/policy.hpp"
#include "tests/support/carried_machines.hpp"

namespace tilerail {

inline Topology machine() { return load_topology(test::shipped_file("hgx-h200")); }

/// Tests that are skipped on machines without a GPU.
class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    gpus_ = cuda::device_count();
    if (gpus_ == 0) GTEST_SKIP() << "no CUDA device here";
  }
  std::vector<MemoryId> devices(int count) const {
    const Topology topology = machine();
    return {topology.gpus().begin(), topology.gpus().begin() + count};
  }
  int gpus_ = 0;
};

inline Policy in_tiles(int64_t tile) {
  Policy policy = any_preset("tilerail");
  policy.choices.tile = tile;
  policy.device_choice = DeviceChoice::all;
  return policy;
}

/// Checks one run of the plan on random matrices.
inline CheckResult checked_run(CudaExecutor& executor, const Plan& plan) {
  const std::vector<const Plan*> plans{&plan};
  cuda::MatrixPools pools{executor, plans, plan.devices, HostPages::plain};
  const Matrices matrices = pools.of(plan, 1);
  const auto bound = executor.prepare(plan);
  pools.reset_c();
  executor.run(*bound, matrices, {}, AllocationIds{});
  return pools.check();
}

}  // namespace tilerail
