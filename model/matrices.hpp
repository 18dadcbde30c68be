#pragma once

namespace tilerail {

/// Where the matrices of a problem lie: each whole, column-major, with the problem's type and leading dimensions. The
/// backend decides which memory a pointer may name. The host backend takes ordinary memory of this process for every
/// place; CUDA takes memory of the device (cudaMalloc, or a stream-ordered pool) for a GPU, and pinned, registered or
/// pageable memory of this process for the host.
struct Matrices {
  void *a = nullptr, *b = nullptr, *c = nullptr;
};

}  // namespace tilerail
