#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/kernels.hpp"

namespace tilerail::cuda {
namespace {

cublasOperation_t operation(Trans trans) { return trans == Trans::no ? CUBLAS_OP_N : CUBLAS_OP_T; }

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

}  // namespace

void gemm(cublasHandle_t handle, const GemmCall& call) {
  const Types types = types_of(call.dtype);
  const double alpha64 = call.alpha, beta64 = call.beta;
  const auto alpha32 = static_cast<float>(call.alpha), beta32 = static_cast<float>(call.beta);
  const bool wide = call.dtype == DType::f64;
  const void* alpha = wide ? static_cast<const void*>(&alpha64) : &alpha32;
  const void* beta = wide ? static_cast<const void*>(&beta64) : &beta32;
  check(cublasGemmEx_64(handle, operation(call.trans_a), operation(call.trans_b), call.y.rows, call.y.cols, call.k,
                        alpha, call.a.data, types.data, call.a.ld, call.b.data, types.data, call.b.ld, beta,
                        call.y.data, types.data, call.y.ld, types.compute, CUBLAS_GEMM_DEFAULT),
        "multiplying");
}

}  // namespace tilerail::cuda
