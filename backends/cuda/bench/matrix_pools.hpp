#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/real_executor.hpp"

namespace tilerail::cuda {

/// Matrices in blocks of memory, one a memory, that are allocated and filled once and
/// hold plan after plan. Results are compared row by row (check/row_check.hpp). Throws
/// CudaError where CUDA fails.
class MatrixPools final : public TestMatrices {
 public:
  /// Allocates for the largest plan. `readers`: the GPUs whose rate from host memory is
  /// told. `executor` must live as long. Pages of matrices that are interleaved over all
  /// hosts are spread, whatever `pages` says. Throws PlanError when a memory has not
  /// enough, and where pages are to be in blocks on several hosts.
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
  std::vector<std::byte> c_before_;  // empty where C is not read
};

}  // namespace tilerail::cuda
