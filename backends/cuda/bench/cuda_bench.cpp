#include "backends/cuda/bench/cuda_bench.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "backends/cuda/bench/matrix_pools.hpp"
#include "backends/cuda/measure/power_watch.hpp"
#include "backends/host/run/run_op.hpp"
#include "check/blas.hpp"
#include "model/base/contains.hpp"

namespace tilerail {
namespace {

class CudaEnergyCount final : public EnergyCount {
 public:
  CudaEnergyCount(const cuda::PowerMeter& power, std::vector<int> devices)
      : watch_{power, std::move(devices)} {}
  double now() const override { return watch_.now(); }
  std::optional<CountedEnergy> stop(std::span<const double> ends) override {
    return cuda::energy_of_calls(watch_.stop(), ends);
  }

 private:
  cuda::PowerWatch watch_;
};

CallTimes times_of(const CudaRunTimes& times) { return {times.wall, times.issue_per_op}; }

}  // namespace

CudaBench::CudaBench(const Topology& topology)
    : executor_{topology, {.ordinals = {}, .on_host = host::run_op_in}} {}

std::unique_ptr<TestMatrices> CudaBench::test_matrices(std::span<const Plan* const> plans,
                                                       const TestMatrixOptions& options) {
  int64_t tiles = 0;
  std::vector<MemoryId> gpus;
  for (const Plan* plan : plans)
    for (const MemoryId gpu : plan->devices) {
      if (executor_.topology().is_host(gpu)) continue;
      tiles = std::max(tiles, plan->peak_bytes[gpu.index()]);
      if (!contains(gpus, gpu)) gpus.push_back(gpu);
    }
  executor_.reserve(gpus, tiles, 1);
  return std::make_unique<cuda::MatrixPools>(executor_, plans, gpus, options.pages);
}

/// Checks of results change the number of threads.
void CudaBench::use_threads(const Plan& plan) const {
  const auto cores = std::ranges::count_if(plan.devices, [&](MemoryId device) {
    return executor_.topology().is_host(device);
  });
  if (cores > 0)
    host::use_blas_threads(host::threads_beside(plan.devices.size() - size_t(cores)));
}

Timeline CudaBench::execute(const Plan& plan) {
  use_threads(plan);
  return executor_.execute(plan);
}

void CudaBench::bind(const Plan& plan, const Matrices& matrices) {
  plan_ = &plan;
  bound_ = executor_.prepare(plan);
  matrices_ = matrices;
}

CallTimes CudaBench::call() {
  use_threads(*plan_);
  return times_of(executor_.run(*bound_, matrices_, {}, AllocationIds{}));
}

TracedCall CudaBench::traced_call() {
  use_threads(*plan_);
  CudaRunTimes times;
  Timeline timeline = executor_.run_traced(*bound_, matrices_, &times);
  return {std::move(timeline), times_of(times), executor_.tracer(), times.clock_skew};
}

std::unique_ptr<EnergyCount> CudaBench::count_energy(std::span<const MemoryId> devices) {
  std::vector<int> ordinals;
  for (const MemoryId device : devices) {
    if (executor_.topology().is_host(device)) return nullptr;  // no counter for cores
    ordinals.push_back(executor_.ordinal(device));
  }
  return std::make_unique<CudaEnergyCount>(power_, std::move(ordinals));
}

}  // namespace tilerail
