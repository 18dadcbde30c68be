#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "plan/plan.hpp"

namespace tilerail::cuda {

/// The stream, handle and scalar for an operation.
struct Target {
  cudaStream_t stream = nullptr;
  void* handle = nullptr;       // cublasHandle_t of that stream, for kernels
  std::byte* scalar = nullptr;  // GemmCall::scalar, for kernels
};

/// Issues one operation to its device, which must be current. `buffers`: start of each
/// buffer of the plan. Throws CudaError.
void issue_op(const Plan& plan, const Op& op, std::span<std::byte* const> buffers,
              const Target& target);

}  // namespace tilerail::cuda
