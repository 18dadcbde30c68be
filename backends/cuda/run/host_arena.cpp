#include "backends/cuda/run/host_arena.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

HostArena::~HostArena() {
  if (data_) cudaFreeHost(data_);
}

void HostArena::reserve(std::int64_t bytes) {
  if (bytes <= bytes_) return;
  if (data_) check(cudaFreeHost(data_), "freeing the host's arena");
  data_ = nullptr;
  bytes_ = 0;
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
        fmt::format("allocating {:.2f} GB for tiles on the host", 1e-9 * static_cast<double>(bytes)));
  data_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  ++number_;
}

}  // namespace tilerail::cuda
