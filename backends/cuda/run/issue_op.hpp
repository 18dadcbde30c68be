#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "plan/plan.hpp"

namespace tilerail::cuda {

/// Where an operation is issued to.
struct Target {
  cudaStream_t stream = nullptr;
  void* handle = nullptr;       // cublasHandle_t of that stream, for kernels
  std::byte* scalar = nullptr;  // GemmCall::scalar, for kernels
};

/// Hands one operation to its device, which is current. `buffers`: where each buffer of
/// the plan starts. Throws CudaError.
void issue_op(const Plan& plan, const Op& op, std::span<std::byte* const> buffers,
              const Target& target);

}  // namespace tilerail::cuda
