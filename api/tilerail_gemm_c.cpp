// Products of the C interface.
#include <array>
#include <functional>
#include <string>

#include "api/c_calls.hpp"
#include "api/session.hpp"
#include "tilerail/tilerail.h"

using tilerail::Context;
using tilerail::DType;
using tilerail::GemmArguments;

namespace {

std::string text_of(const tilerail::PlanInfo& plan) {
  constexpr std::array evaluators{"", "estimate: ", "simulator: ", ""};
  return plan.why.empty() ? "nothing to compute" : evaluators[size_t(plan.by)] + plan.why;
}

void multiply(tilerail_handle_t handle, Context& context, const GemmArguments& arguments,
              void* stream, bool wait) {
  tilerail::PlanInfo plan;
  gemm(context, arguments, {.stream = stream, .wait = wait, .plan = &plan});
  tilerail::api::set_origin(handle, text_of(plan));
}

tilerail_status_t multiply(tilerail_handle_t handle,
                           const GemmArguments& arguments) noexcept {
  return tilerail::api::guarded_call(handle, [&](Context& context) {
    multiply(handle, context, arguments, nullptr, true);
  });
}

/// The same with the type as a run-time argument.
tilerail_status_t multiply(tilerail_handle_t handle, tilerail_dtype_t dtype,
                           GemmArguments arguments, void* stream, bool wait) noexcept {
  const auto checked = [&](Context& context) {
    arguments.dtype = tilerail::api::checked_dtype(dtype);
    if (arguments.dtype != DType::f64)  // all other types have f32 scalars
      for (double* const scalar : {&arguments.alpha, &arguments.beta})
        *scalar = float(*scalar);
    multiply(handle, context, arguments, stream, wait);
  };
  return tilerail::api::guarded_call(
      handle, std::cref(checked));  // copying the function could need memory that is not
                                    // available
}

}  // namespace

extern "C" {

// NOLINTBEGIN(bugprone-macro-parentheses): types and declarations
#define TILERAIL_GEMM(name, dtype, scalar, element)                                     \
  tilerail_status_t name(tilerail_handle_t handle, char transa, char transb, int64_t m, \
                         int64_t n, int64_t k, scalar alpha, const element* A,          \
                         int64_t lda, const element* B, int64_t ldb, scalar beta,       \
                         element* C, int64_t ldc) {                                     \
    return multiply(                                                                    \
        handle, {dtype, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}); \
  }

#define TILERAIL_GEMM_OF_TYPE(name, wait)                                               \
  tilerail_status_t name(tilerail_handle_t handle, tilerail_dtype_t dtype, char transa, \
                         char transb, int64_t m, int64_t n, int64_t k, double alpha,    \
                         const void* A, int64_t lda, const void* B, int64_t ldb,        \
                         double beta, void* C, int64_t ldc, void* stream) {             \
    return multiply(handle, dtype,                                                      \
                    {{}, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, \
                    stream, wait);                                                      \
  }
// NOLINTEND(bugprone-macro-parentheses)

TILERAIL_GEMM(tilerail_dgemm, DType::f64, double, double)
TILERAIL_GEMM(tilerail_sgemm, DType::f32, float, float)
TILERAIL_GEMM(tilerail_hgemm, DType::f16, float, void)
TILERAIL_GEMM(tilerail_bfgemm, DType::bf16, float, void)
TILERAIL_GEMM_OF_TYPE(tilerail_gemm_ex, true)
TILERAIL_GEMM_OF_TYPE(tilerail_gemm_async, false)

}  // extern "C"
