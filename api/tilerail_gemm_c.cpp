// Products of the C interface.
#include <functional>
#include <string>

#include "api/c_calls.hpp"
#include "api/session.hpp"
#include "tilerail/tilerail.h"

using tilerail::Context;
using tilerail::DType;
using tilerail::api::GemmArguments;

namespace {

std::string text_of(const tilerail::PlanInfo& plan) {
  using By = tilerail::PlanInfo::By;
  const char* const judge = plan.by == By::estimate ? "estimate: " : plan.by == By::simulator ? "simulator: " : "";
  return plan.why.empty() ? std::string{"there was nothing to do"} : judge + plan.why;
}

void multiply(tilerail_handle_t handle, Context& context, const GemmArguments& arguments, void* stream, bool wait) {
  tilerail::PlanInfo plan;
  context.session().gemm(arguments, {stream, wait, nullptr, &plan});
  tilerail::api::tell_origin(handle, text_of(plan));
}

tilerail_status_t multiply(tilerail_handle_t handle, const GemmArguments& arguments) noexcept {
  return tilerail::api::guarded_call(handle,
                                     [&](Context& context) { multiply(handle, context, arguments, nullptr, true); });
}

/// The same with a type that is told apart when it is called.
tilerail_status_t multiply(tilerail_handle_t handle, tilerail_dtype_t dtype, GemmArguments arguments, void* stream,
                           bool wait) noexcept {
  const auto checked = [&](Context& context) {
    arguments.dtype = tilerail::api::checked_dtype(dtype);
    if (arguments.dtype != DType::f64)  // all others compute with f32 scalars
      for (double* const scalar : {&arguments.alpha, &arguments.beta}) *scalar = static_cast<float>(*scalar);
    multiply(handle, context, arguments, stream, wait);
  };
  return tilerail::api::guarded_call(handle, std::cref(checked));  // a copy could take memory that is not there
}

}  // namespace

extern "C" {

tilerail_status_t tilerail_dgemm(tilerail_handle_t handle, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                 double alpha, const double* A, int64_t lda, const double* B, int64_t ldb, double beta,
                                 double* C, int64_t ldc) {
  return multiply(handle, {DType::f64, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
}

tilerail_status_t tilerail_sgemm(tilerail_handle_t handle, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                 float alpha, const float* A, int64_t lda, const float* B, int64_t ldb, float beta,
                                 float* C, int64_t ldc) {
  return multiply(handle, {DType::f32, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
}

tilerail_status_t tilerail_hgemm(tilerail_handle_t handle, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                 float alpha, const void* A, int64_t lda, const void* B, int64_t ldb, float beta,
                                 void* C, int64_t ldc) {
  return multiply(handle, {DType::f16, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
}

tilerail_status_t tilerail_bfgemm(tilerail_handle_t handle, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                  float alpha, const void* A, int64_t lda, const void* B, int64_t ldb, float beta,
                                  void* C, int64_t ldc) {
  return multiply(handle, {DType::bf16, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
}

tilerail_status_t tilerail_gemm_ex(tilerail_handle_t handle, tilerail_dtype_t dtype, char transa, char transb,
                                   int64_t m, int64_t n, int64_t k, double alpha, const void* A, int64_t lda,
                                   const void* B, int64_t ldb, double beta, void* C, int64_t ldc, void* stream) {
  return multiply(handle, dtype, {{}, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, stream, true);
}

tilerail_status_t tilerail_gemm_async(tilerail_handle_t handle, tilerail_dtype_t dtype, char transa, char transb,
                                      int64_t m, int64_t n, int64_t k, double alpha, const void* A, int64_t lda,
                                      const void* B, int64_t ldb, double beta, void* C, int64_t ldc, void* stream) {
  return multiply(handle, dtype, {{}, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, stream, false);
}

}  // extern "C"
