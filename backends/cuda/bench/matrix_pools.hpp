#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/real_executor.hpp"

namespace tilerail::cuda {

/// Matrices in blocks of memory, one block per memory, that are allocated and filled once
/// and reused for all plans. Results are compared row by row (check/row_check.hpp).
/// Throws CudaError if CUDA fails.
class MatrixPools final : public TestMatrices {
 public:
  /// Allocates for the largest plan. `readers`: the GPUs whose read rate from host memory
  /// is reported. `executor` must live as long. Pages of matrices that are interleaved
  /// over all hosts are spread, regardless of `pages`. Throws PlanError if a memory is
  /// too small, or if `pages` requires blocks on several hosts.
  MatrixPools(const CudaExecutor& executor, std::span<const Plan* const> plans,
              std::span<const MemoryId> readers, HostPages pages);
  ~MatrixPools() override;

  Matrices of(const Plan& plan, uint64_t seed) override;
  void reset_c() override;
  CheckResult check() override;
  std::string host_memory() const override;

 private:
  class Pool;

  HostPages pages_of(MemoryId memory) const;

  const CudaExecutor& executor_;
  HostPages pages_;
  std::vector<int> readers_;
  std::map<MemoryId, std::unique_ptr<Pool>> pools_;
  const Plan* plan_ = nullptr;
  Matrices matrices_;
  uint64_t seed_ = 0;
  std::vector<std::byte> c_before_;  // empty if C is not read
};

}  // namespace tilerail::cuda
