#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/measure/gate.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

/// Later work in `stream` waits for the gate. Throws CudaError.
inline void hold_stream(const Gate& gate, cudaStream_t stream) {
  const Gate::Hold hold = gate.hold();
  const cudaError_t status = cudaLaunchHostFunc(stream, hold.function, hold.argument);
  if (status != cudaSuccess) Gate::drop(hold);
  check(status, "holding a stream");
}

}  // namespace tilerail::cuda
