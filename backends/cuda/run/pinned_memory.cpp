#include "backends/cuda/run/pinned_memory.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

HostAllocator pinned_memory() {
  return {[](int64_t bytes) {
            void* memory = nullptr;
            check(cudaHostAlloc(&memory, size_t(bytes), cudaHostAllocPortable),
                  fmt::format("allocating {:.2f} GB on the host", 1e-9 * double(bytes)));
            return memory;
          },
          [](void* memory) { cudaFreeHost(memory); }};
}

}  // namespace tilerail::cuda
