#pragma once

#include <cuda_runtime_api.h>

namespace tilerail::cuda {

/// A stream and its device: the legacy default streams of all devices have the same name.
struct StreamOnDevice {
  int device = 0;
  cudaStream_t stream = nullptr;
};

}  // namespace tilerail::cuda
