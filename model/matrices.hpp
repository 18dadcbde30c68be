#pragma once

#include <algorithm>
#include <vector>

#include "model/base/ids.hpp"

namespace tilerail {

/// Addresses of the first three tensors of a problem (tensor.hpp), in order: each whole,
/// column-major, with the problem's type and leading dimensions. The backend determines
/// the allowed memory of a pointer. The host backend accepts ordinary memory of this
/// process for every place; CUDA accepts device memory (cudaMalloc, or a stream-ordered
/// pool) for a GPU, and pinned, registered or pageable memory of this process for the
/// host.
struct Matrices {
  void *a = nullptr, *b = nullptr, *c = nullptr;

  /// The replica of an input on one GPU; a or b is the default.
  struct Copy {
    MemoryId gpu;
    void* data = nullptr;
  };
  std::vector<Copy> copies_of_a = {}, copies_of_b = {};

  /// The address for the tensor of this number, by the memory of the block.
  void* of(TensorId tensor, MemoryId memory) const {
    if (tensor.value == 0) return found(copies_of_a, memory, a);
    return tensor.value == 1 ? found(copies_of_b, memory, b) : c;
  }

 private:
  static void* found(const std::vector<Copy>& copies, MemoryId memory, void* otherwise) {
    const auto copy = std::ranges::find(copies, memory, &Copy::gpu);
    return copy == copies.end() ? otherwise : copy->data;
  }
};

}  // namespace tilerail
