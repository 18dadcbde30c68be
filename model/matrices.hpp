#pragma once

#include <algorithm>
#include <vector>

#include "model/base/ids.hpp"

namespace tilerail {

/// Addresses of the matrices of a problem: each whole, column-major, with the problem's
/// type and leading dimensions. The backend determines the allowed memory of a pointer.
/// The host backend accepts ordinary memory of this process for every place; CUDA accepts
/// device memory (cudaMalloc, or a stream-ordered pool) for a GPU, and pinned, registered
/// or pageable memory of this process for the host.
struct Matrices {
  void *a = nullptr, *b = nullptr, *c = nullptr;

  /// The replica of an input in `g*` on one GPU; a or b is the default.
  struct Copy {
    MemoryId gpu;
    void* data = nullptr;
  };
  std::vector<Copy> copies_of_a = {}, copies_of_b = {};

  void* a_in(MemoryId memory) const { return found(copies_of_a, memory, a); }
  void* b_in(MemoryId memory) const { return found(copies_of_b, memory, b); }

 private:
  static void* found(const std::vector<Copy>& copies, MemoryId memory, void* otherwise) {
    const auto copy = std::ranges::find(copies, memory, &Copy::gpu);
    return copy == copies.end() ? otherwise : copy->data;
  }
};

}  // namespace tilerail
