#include "plan/buffer_start.hpp"

namespace tilerail {

std::byte* start_of(const Buffer& buffer, std::span<std::byte* const> arenas,
                    const Matrices& matrices) {
  void* const base = buffer.in_arena ? arenas[buffer.memory.index()]
                                     : matrices.of(buffer.tensor, buffer.memory);
  return base ? static_cast<std::byte*>(base) + buffer.offset : nullptr;
}

}  // namespace tilerail
