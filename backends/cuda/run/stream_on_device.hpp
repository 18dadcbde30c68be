#pragma once

#include <cuda_runtime_api.h>

namespace tilerail::cuda {

/// A stream and the device that it belongs to: all devices have a legacy default stream
/// of the same name.
struct StreamOnDevice {
  int device = 0;
  cudaStream_t stream = nullptr;
};

}  // namespace tilerail::cuda
