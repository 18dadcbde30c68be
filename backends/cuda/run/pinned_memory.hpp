#pragma once

#include "backends/cuda/run/host_arena.hpp"

namespace tilerail::cuda {

/// Page-locked memory that all devices can copy from and to. `allocate` throws CudaError.
HostAllocator pinned_memory();

}  // namespace tilerail::cuda
