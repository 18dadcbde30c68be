#include "plan/buffer_start.hpp"

namespace tilerail {
namespace {

void* base_of(const Buffer& buffer, std::span<std::byte* const> arenas,
              const Matrices& matrices) {
  switch (buffer.kind) {
    case Buffer::Kind::matrix_a:
      return matrices.a_in(buffer.memory);
    case Buffer::Kind::matrix_b:
      return matrices.b_in(buffer.memory);
    case Buffer::Kind::matrix_c:
      return matrices.c;
    case Buffer::Kind::tile:
      break;
  }
  return arenas[buffer.memory.index()];
}

}  // namespace

std::byte* start_of(const Buffer& buffer, std::span<std::byte* const> arenas,
                    const Matrices& matrices) {
  void* const base = base_of(buffer, arenas, matrices);
  return base ? static_cast<std::byte*>(base) + buffer.offset : nullptr;
}

}  // namespace tilerail
