#pragma once

namespace tilerail {

/// Where the matrices of a problem lie: each whole, column-major, of its dtype, with its leading dimensions. Which
/// memory a pointer may name is its backend's matter: the host backend takes ordinary memory of this process for every
/// place; CUDA takes memory of the device (cudaMalloc, or a stream-ordered pool) for a GPU, and pinned, registered or
/// pageable memory of this process for the host.
struct Matrices {
  void *a = nullptr, *b = nullptr, *c = nullptr;
};

}  // namespace tilerail
