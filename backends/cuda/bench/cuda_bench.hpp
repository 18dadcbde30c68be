#pragma once

#include <memory>

#include "backends/cuda/measure/power_meter.hpp"
#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/real_executor.hpp"

namespace tilerail {

/// The CUDA executor with matrices in its memories and energy counters, to measure plans.
/// CUDA failures are thrown as cuda::CudaError.
class CudaBench final : public RealExecutor {
 public:
  /// Throws HardwareError without CUDA devices.
  explicit CudaBench(const Topology& topology);

  Timeline execute(const Plan& plan) override;

  /// Opens the devices of all plans, with arenas for the largest plan.
  std::unique_ptr<TestMatrices> test_matrices(std::span<const Plan* const> plans,
                                              const TestMatrixOptions& options) override;
  void bind(const Plan& plan, const Matrices& matrices) override;
  CallTimes call() override;
  TracedCall traced_call() override;
  bool has_overheads() const override { return true; }
  std::unique_ptr<EnergyCount> count_energy(std::span<const MemoryId> devices) override;

 private:
  void use_threads(const Plan& plan) const;

  CudaExecutor executor_;
  std::shared_ptr<CudaPlan> bound_;
  const Plan* plan_ = nullptr;  // the bound one
  Matrices matrices_;
  cuda::PowerMeter power_;
};

}  // namespace tilerail
