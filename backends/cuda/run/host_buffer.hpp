#pragma once

#include <cstddef>
#include <span>

#include "model/machine/host_pages.hpp"

namespace tilerail::cuda {

/// Page-locked host memory that every device can copy from and to. `spread` pages are
/// small and lie over all memory controllers: the kernel interleaves them if it shows
/// several NUMA nodes, otherwise all cores touch them first, in turns. `plain` pages are
/// as allocated by one call of the runtime. The placement of pages changes the bandwidth
/// of copies by half (docs/model.md#host-buffers). Spread buffers are aligned to 2 MiB.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Throws InputError if the machine cannot lock this much memory.
  HostBuffer(size_t bytes, HostPages pages);
  ~HostBuffer();
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte *allocated_ = nullptr, *data_ = nullptr;
  size_t bytes_ = 0;
  HostPages pages_ = HostPages::spread;
};

/// Total rate at which these devices read from a user's page-locked buffer, in bytes per
/// second, measured in about 30 ms: it shows which kind of pages the buffer has. Throws
/// CudaError.
double host_buffer_rate(const std::byte* data, size_t bytes,
                        std::span<const int> devices);

}  // namespace tilerail::cuda
