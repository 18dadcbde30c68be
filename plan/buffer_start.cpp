#include "plan/buffer_start.hpp"

namespace tilerail {
namespace {

std::byte* base_of(const Buffer& buffer, std::span<std::byte* const> arenas, const Matrices& matrices) {
  switch (buffer.kind) {
    case Buffer::Kind::matrix_a:
      return static_cast<std::byte*>(matrices.a_in(buffer.memory));
    case Buffer::Kind::matrix_b:
      return static_cast<std::byte*>(matrices.b_in(buffer.memory));
    case Buffer::Kind::matrix_c:
      return static_cast<std::byte*>(matrices.c);
    case Buffer::Kind::tile:
      break;
  }
  return arenas[buffer.memory.index()];
}

}  // namespace

std::byte* start_of(const Buffer& buffer, std::span<std::byte* const> arenas, const Matrices& matrices) {
  std::byte* const base = base_of(buffer, arenas, matrices);
  return base == nullptr ? nullptr : base + buffer.offset;
}

}  // namespace tilerail
