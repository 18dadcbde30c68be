#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/page_ranges.hpp"

namespace tilerail::cuda {

/// How the driver knows a range of host memory.
enum class HostMemory {
  pageable,  // not at all, as far as its ends tell
  pinned,    // as part of one allocation or registration, or as managed memory: one copy
             // may span it
  mixed,     // in parts: a copy may not span it
};

/// The device that memory lies on, or -1 for the host (managed memory counts as the
/// host's). Throws CudaError.
int device_of(const void* data);

/// `range` lies on the host and is not empty. Throws CudaError.
HostMemory host_memory(const api::AddressRange& range);

/// A number of the allocation or registration that memory belongs to, which no later one
/// of this process has; nothing where the driver has none. Throws CudaError.
std::optional<uint64_t> allocation_of(const void* data);

/// Lets the devices that can reach its owner reach the stream-ordered pool that `data`
/// was allocated from; does nothing for other memory. The pool keeps the access. Throws
/// CudaError.
void allow_pool_access(const void* data, std::span<const int> devices);

}  // namespace tilerail::cuda
