#pragma once

#include <cstdint>
#include <string>

#include "model/problem.hpp"

namespace tilerail::host {

/// A size as the library takes it. Throws InputError if it exceeds 32 bits.
int to_blas_int(int64_t value, const char* what);

/// Operands of one GEMM in memory, column-major; leading dimensions in elements.
struct GemmCall {
  DType dtype = DType::f64;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  int64_t lda = 1, ldb = 1, ldc = 1;
  DType of_c = dtype;  // or f32, if A and B are halves
};

/// C = alpha * op(A) * op(B) + beta * C with the BLAS library; beta == 0 overwrites C
/// without reading it, alpha == 0 never reads A or B. Rounds the scalars to f64 or f32.
/// Halves are multiplied in f32 and rounded once. Throws InputError for tf32, or if a
/// size exceeds 32 bits.
void gemm(const GemmCall& call);

/// The same with the library's routine for the shape: dot product for one element,
/// matrix-vector product for one column, else GEMM.
void multiply(const GemmCall& call);

/// Throws InputError unless this backend supports the dtype (all but tf32).
void require_executable(DType dtype);

/// Runs each later BLAS call of the process on so many threads; 1: on its calling thread.
/// OpenBLAS waits forever for threads that failed to start. Does nothing if the library
/// has no such setting.
void use_blas_threads(int count);

/// Name and build of the BLAS library, if it provides them.
std::string blas_name();

}  // namespace tilerail::host
