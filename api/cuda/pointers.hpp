#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/page_ranges.hpp"

namespace tilerail::cuda {

/// The state of a range of host memory in the driver.
enum class HostMemory {
  pageable,  // not registered at either end
  pinned,    // part of one allocation or registration, or managed memory: one copy can
             // span it
  mixed,     // registered in parts: a copy must not span it
};

/// The device of the memory, or -1 for the host (managed memory counts as host memory).
/// Throws CudaError.
int device_of(const void* data);

/// `range` must be on the host and not empty. Throws CudaError.
HostMemory host_memory(const api::AddressRange& range);

/// The driver's number of the allocation or registration, unique in this process; nothing
/// if the driver has none. Throws CudaError.
std::optional<uint64_t> allocation_of(const void* data);

/// Gives the devices with peer access to its owner access to the stream-ordered pool that
/// `data` was allocated from; does nothing for other memory. The pool keeps the access.
/// Throws CudaError.
void allow_pool_access(const void* data, std::span<const int> devices);

}  // namespace tilerail::cuda
