#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"

namespace tilerail {

/// Random doubles in any memory, made by the current GPU piece by piece.
inline void fill_randomly(double* data, int64_t count, uint64_t seed) {
  constexpr int64_t piece = int64_t{1} << 25;
  void* staged = nullptr;
  cuda::check(cudaMalloc(&staged, size_t(std::min(piece, count)) * sizeof(double)),
              "allocating");
  for (int64_t at = 0; at < count; at += piece) {
    const int64_t size = std::min(piece, count - at);
    cuda::fill_random({static_cast<std::byte*>(staged), size, 1, size}, DType::f64,
                      seed + uint64_t(at), nullptr);
    cuda::check(
        cudaMemcpy(data + at, staged, size_t(size) * sizeof(double), cudaMemcpyDefault),
        "filling");
  }
  cudaFree(staged);
}

}  // namespace tilerail
