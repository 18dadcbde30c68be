#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "model/kernels/gemm_parts.hpp"

namespace tilerail::cuda {
namespace {

cublasOperation_t operation(Trans trans) {
  return trans == Trans::no ? CUBLAS_OP_N : CUBLAS_OP_T;
}

struct Types {
  cudaDataType_t data;
  cublasComputeType_t compute;
};

Types types_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::f32:
      return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::tf32:
      return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case DType::f16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::bf16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  }
  return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
}

void multiply(cublasHandle_t handle, const GemmCall& call) {
  const Types types = types_of(call.dtype);
  const double alpha64 = call.alpha, beta64 = call.beta;
  const auto alpha32 = float(call.alpha), beta32 = float(call.beta);
  const bool wide = call.dtype == DType::f64;
  const void* alpha = wide ? static_cast<const void*>(&alpha64) : &alpha32;
  const void* beta = wide ? static_cast<const void*>(&beta64) : &beta32;
  check(cublasGemmEx_64(handle, operation(call.trans_a), operation(call.trans_b),
                        call.y.rows, call.y.cols, call.k, alpha, call.a.data, types.data,
                        call.a.ld, call.b.data, types.data, call.b.ld, beta, call.y.data,
                        types_of(call.of_y).data, call.y.ld, types.compute,
                        CUBLAS_GEMM_DEFAULT),
        "multiplying");
}

bool whole_words(const Block& block, int64_t element) {
  return reinterpret_cast<uintptr_t>(block.data) % loaded_word == 0 &&
         block.ld * element % loaded_word == 0;
}

/// The part of an operand from this row and column of op(operand) on.
Block within(const Block& block, Trans trans, int64_t row, int64_t col, int64_t element) {
  const int64_t first = trans == Trans::no ? row + col * block.ld : col + row * block.ld;
  return {block.data + first * element, block.rows, block.cols, block.ld};
}

}  // namespace

void gemm(cublasHandle_t handle, const GemmCall& call) {
  const int64_t element = element_size(call.dtype), of_y = element_size(call.of_y);
  if (call.y.cols == 1 && element >= element_size(DType::f32))
    return call.y.rows == 1 && call.scalar ? dot(handle, call) : gemv(handle, call);
  if (!whole_words(call.a, element) || !whole_words(call.b, element) ||
      !whole_words(call.y, of_y))
    return multiply(handle, call);
  for (const GemmPart& part : gemm_parts(call.dtype, call.trans_a, call.trans_b,
                                         call.y.rows, call.y.cols, call.k)) {
    GemmCall one = call;
    one.a = within(call.a, call.trans_a, part.m0, part.k0, element);
    one.b = within(call.b, call.trans_b, part.k0, part.n0, element);
    one.y = within(call.y, Trans::no, part.m0, part.n0, of_y);
    one.y.rows = part.m, one.y.cols = part.n, one.k = part.k;
    if (part.k0 > 0) one.beta = 1;
    multiply(handle, one);
  }
}

}  // namespace tilerail::cuda
