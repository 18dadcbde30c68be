#pragma once

#include <cstddef>
#include <span>

#include "model/matrices.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The address of a buffer's first element, for every executor: the start of the memory's
/// arena (tiles) or of the matrix, plus the offset. `arenas`: by MemoryId, null for a
/// memory without tiles. Null for a matrix without an address.
std::byte* start_of(const Buffer& buffer, std::span<std::byte* const> arenas,
                    const Matrices& matrices);

}  // namespace tilerail
