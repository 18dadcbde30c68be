#include "check/blas.hpp"

#include <fmt/format.h>

#include <cblas.h>

#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "check/kernels.hpp"
#include "model/base/error.hpp"

// Weak: null if the library is not OpenBLAS.
extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int threads);
__attribute__((weak)) char* openblas_get_config(void);
}

namespace tilerail::host {
namespace {

constexpr CBLAS_TRANSPOSE to_cblas(Trans trans) {
  return trans == Trans::no ? CblasNoTrans : CblasTrans;
}

void dot(double alpha, const double* x, int incx, const double* y, int incy, int n,
         double beta, double* r) {
  const double product = alpha * cblas_ddot(n, x, incx, y, incy);
  *r = beta == 0 ? product : product + beta * *r;
}

void dot(float alpha, const float* x, int incx, const float* y, int incy, int n,
         float beta, float* r) {
  const float product = alpha * cblas_sdot(n, x, incx, y, incy);
  *r = beta == 0 ? product : product + beta * *r;
}

/// y += alpha op(A) x.
void gemv(CBLAS_TRANSPOSE trans, int m, int n, double alpha, const double* a, int lda,
          const double* x, int incx, double* y) {
  cblas_dgemv(CblasColMajor, trans, m, n, alpha, a, lda, x, incx, 1, y, 1);
}

void gemv(CBLAS_TRANSPOSE trans, int m, int n, float alpha, const float* a, int lda,
          const float* x, int incx, float* y) {
  cblas_sgemv(CblasColMajor, trans, m, n, alpha, a, lda, x, incx, 1, y, 1);
}

Block block(const void* data, int64_t rows, int64_t cols, int64_t ld) {
  return {static_cast<std::byte*>(const_cast<void*>(data)), rows, cols, ld};
}

/// A GEMM with one column. The call must multiply something and have dtype T.
template <class T>
void multiply_vector(const GemmCall& call) {
  const auto *a = static_cast<const T*>(call.a), *x = static_cast<const T*>(call.b);
  auto* y = static_cast<T*>(call.c);
  const auto alpha = static_cast<T>(call.alpha), beta = static_cast<T>(call.beta);
  const int m = to_blas_int(call.m, "m"), k = to_blas_int(call.k, "k");
  const int lda = to_blas_int(call.lda, "leading dimension of a");
  const int incx =
      call.trans_b == Trans::no ? 1 : to_blas_int(call.ldb, "leading dimension of b");
  const bool stored = call.trans_a == Trans::no;
  if (m == 1) return dot(alpha, a, stored ? lda : 1, x, incx, k, beta, y);
  // Not with the library: some libraries add 0 times the old values.
  axpby({}, block(y, call.m, 1, call.ldc), 0, call.beta, call.dtype, call.dtype);
  gemv(to_cblas(call.trans_a), stored ? m : k, stored ? k : m, alpha, a, lda, x, incx, y);
}

std::vector<float> widened(const Block& x, DType dtype) {
  std::vector<float> wide(size_t(x.rows * x.cols));
  axpby(x, block(wide.data(), x.rows, x.cols, x.rows), 1, 0, dtype, DType::f32);
  return wide;
}

/// In f32, rounded once.
void multiply_halves(const GemmCall& call) {
  const auto& [dtype, trans_a, trans_b, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc,
               of_c] = call;
  Block x = block(a, m, k, lda), y = block(b, k, n, ldb);
  if (trans_a == Trans::yes) std::swap(x.rows, x.cols);
  if (trans_b == Trans::yes) std::swap(y.rows, y.cols);
  const auto wide_x = widened(x, dtype), wide_y = widened(y, dtype);
  std::vector<float> sum(size_t(m * n));
  gemm({DType::f32, trans_a, trans_b, m, n, k, alpha, 0, wide_x.data(), wide_y.data(),
        sum.data(), x.rows, y.rows, m});
  axpby(block(sum.data(), m, n, m), block(c, m, n, ldc), 1, beta, DType::f32, of_c);
}

}  // namespace

int to_blas_int(int64_t value, const char* what) {
  if (value > std::numeric_limits<int>::max()) {
    throw InputError{what, std::to_string(value), "is too large for the BLAS library",
                     "at most 2147483647"};
  }
  return int(value);
}

void require_executable(DType dtype) {
  if (dtype == DType::tf32)
    throw InputError{"dtype", to_string(dtype), "cannot be executed on the host backend",
                     "f64, f32, f16 or bf16"};
}

void gemm(const GemmCall& call) {
  require_executable(call.dtype);
  if (call.m == 0 || call.n == 0) return;
  if (call.alpha == 0 ||
      call.k == 0) {  // OpenBLAS 0.3.21 multiplies small A and B even if alpha == 0
    axpby({}, block(call.c, call.m, call.n, call.ldc), 0, call.beta, call.dtype,
          call.of_c);
    return;
  }
  if (element_size(call.dtype) == 2) return multiply_halves(call);
  const int m = to_blas_int(call.m, "m"), n = to_blas_int(call.n, "n"),
            k = to_blas_int(call.k, "k");
  const int lda = to_blas_int(call.lda, "leading dimension of a");
  const int ldb = to_blas_int(call.ldb, "leading dimension of b");
  const int ldc = to_blas_int(call.ldc, "leading dimension of c");
  const auto ta = to_cblas(call.trans_a), tb = to_cblas(call.trans_b);
  if (call.dtype == DType::f64) {
    cblas_dgemm(CblasColMajor, ta, tb, m, n, k, call.alpha,
                static_cast<const double*>(call.a), lda,
                static_cast<const double*>(call.b), ldb, call.beta,
                static_cast<double*>(call.c), ldc);
  } else {
    cblas_sgemm(CblasColMajor, ta, tb, m, n, k, float(call.alpha),
                static_cast<const float*>(call.a), lda, static_cast<const float*>(call.b),
                ldb, float(call.beta), static_cast<float*>(call.c), ldc);
  }
}

void multiply(const GemmCall& call) {
  if (call.n != 1 || call.m == 0 || call.k == 0 || call.alpha == 0) return gemm(call);
  call.dtype == DType::f64   ? multiply_vector<double>(call)
  : call.dtype == DType::f32 ? multiply_vector<float>(call)
                             : gemm(call);
}

void use_blas_threads(int count) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
}

std::string blas_name() {
  if (openblas_get_config == nullptr) return "a BLAS library without a name";
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... SapphireRapids MAX_THREADS=64": name,
  // version and core type count.
  std::istringstream config{openblas_get_config()};
  std::string name, version, word, core;
  config >> name >> version;
  while (config >> word) {
    if (word.find('=') == std::string::npos) core = word;
  }
  return fmt::format("{} {} ({})", name, version, core);
}

}  // namespace tilerail::host
