#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "model/problem.hpp"

namespace tilerail::cuda {

/// rows x cols elements of a column-major matrix in device or host memory.
struct Block {
  std::byte* data = nullptr;
  int64_t rows = 0, cols = 0, ld = 0;  // elements
};

/// y = a in stream order, between any memories of one address space: one transfer if both
/// are packed, else a 2-D copy. Throws CudaError.
void copy(const Block& a, const Block& y, int64_t element, cudaStream_t stream);

struct GemmCall {
  DType dtype;
  Trans trans_a, trans_b;
  int64_t k;
  double alpha, beta;
  Block a, b, y;
  std::byte* scalar =
      nullptr;  // device memory for one element, which calls on this stream can overwrite
  DType of_y = dtype;  // or f32, if a and b are halves
};

/// y = alpha op(a) op(b) + beta y on the handle's stream. In f64, f32 and tf32 `gemv`
/// computes a y of one column, and `dot` a y of one element if there is a scalar. All
/// other calls run in the parts of gemm_parts, and halves accumulate in f32 within a
/// part. Throws CudaError.
void gemm(cublasHandle_t handle, const GemmCall& call);

/// The same for a y of one column, and for a y of one element with a scalar; computed in
/// f64, or in f32 for all other types. Throws CudaError.
void gemv(cublasHandle_t handle, const GemmCall& call);
void dot(cublasHandle_t handle, const GemmCall& call);

/// y = a in stream order, both within the current device, by a kernel: for 2-D copies
/// within a device the runtime reaches 0.8 of 2.0 TB/s (one H200). Elements of `element`
/// bytes, at least 2. Throws CudaError.
void copy_within(const Block& a, const Block& y, int64_t element, cudaStream_t stream);

/// y = alpha x + beta y; alpha == 0 never reads x, beta == 0 never reads y. Halves are
/// computed in f32. `of_sum`: x is in f32, whatever the dtype of y. Throws CudaError.
void axpby(const Block& x, const Block& y, double alpha, double beta, DType dtype,
           cudaStream_t stream, bool of_sum = false);

/// Fills with uniform random numbers in [-1, 1) that depend only on the seed and on each
/// element's row and column; rows beyond `rows` do not change. Throws CudaError.
void fill_random(const Block& y, DType dtype, uint64_t seed, cudaStream_t stream);

}  // namespace tilerail::cuda
