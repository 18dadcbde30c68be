#pragma once

#include <cstddef>
#include <span>

#include "model/matrices.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The address of a buffer's first element, in every executor: the start of the arena of
/// the buffer's own memory, or of its matrix there, plus the offset. `arenas`: by
/// MemoryId, null for a memory without tiles; only tiles read it. Null for a matrix
/// without an address.
std::byte* start_of(const Buffer& buffer, std::span<std::byte* const> arenas,
                    const Matrices& matrices);

}  // namespace tilerail
