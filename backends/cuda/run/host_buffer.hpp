#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/machine/host_pages.hpp"

namespace tilerail::cuda {

/// Page-locked host memory that every device may copy from and to. `spread` pages are
/// small and lie over all memory controllers: the kernel interleaves them where it shows
/// several NUMA nodes, else all cores touch them first, in turns. `plain` pages are as
/// one call of the runtime gives them. Where pages lie changes the bandwidth of copies by
/// half (docs/model.md#host-buffers). Spread buffers start at borders of 2 MiB.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Throws InputError when the machine has not so much memory to lock.
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

/// Bytes a second that all these devices together read from a page-locked buffer of the
/// user's, measured in about 30 ms: this rate tells which kind of pages the buffer has.
/// Throws CudaError.
double host_buffer_rate(const std::byte* data, size_t bytes,
                        std::span<const int> devices);

}  // namespace tilerail::cuda
