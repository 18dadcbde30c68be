#pragma once

#include <cstdint>
#include <string>

#include "model/problem.hpp"

namespace tilerail::host {

/// Operands of one GEMM in memory, column-major; leading dimensions in elements.
struct GemmCall {
  DType dtype = DType::f64;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  int64_t lda = 1, ldb = 1, ldc = 1;
};

/// C = alpha * op(A) * op(B) + beta * C by the BLAS library; beta == 0 overwrites C
/// without reading it, alpha == 0 never reads A or B. Rounds the scalars to the dtype.
/// Throws InputError when the dtype is not f64 or f32, or a size does not fit 32 bits.
void gemm(const GemmCall& call);

/// The same by the library's routine for the shape: its dot product for one element, its
/// matrix-vector product for one column, else its GEMM.
void multiply(const GemmCall& call);

/// Throws InputError unless the dtype is one that this backend can compute with (f64,
/// f32).
void require_executable(DType dtype);

/// Each later BLAS call runs on the thread that calls it. OpenBLAS waits forever for
/// threads that it could not start. Does nothing if the library has no such setting.
void use_one_blas_thread();

/// Name and build of the BLAS library, as far as it tells.
std::string blas_name();

}  // namespace tilerail::host
