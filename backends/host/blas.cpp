#include "backends/host/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <thread>

#include "backends/host/kernels.hpp"
#include "model/error.hpp"

// Weak: null when the library is another BLAS than OpenBLAS.
extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int threads);
__attribute__((weak)) int openblas_get_num_threads(void);
__attribute__((weak)) char* openblas_get_config(void);
}

namespace tilerail::host {
namespace {

int to_blas_int(std::int64_t value, const char* what) {
  if (value > std::numeric_limits<int>::max()) {
    throw InputError{std::string{what} + " " + std::to_string(value) +
                     " is too large for the BLAS library; expected at most 2147483647"};
  }
  return static_cast<int>(value);
}

constexpr CBLAS_TRANSPOSE to_cblas(Trans trans) { return trans == Trans::no ? CblasNoTrans : CblasTrans; }

}  // namespace

void require_executable(DType dtype) {
  if (dtype != DType::f64 && dtype != DType::f32) {
    throw InputError{"dtype " + std::string{to_string(dtype)} +
                     " cannot be executed on the host backend; expected f64 or f32"};
  }
}

void gemm(const GemmCall& call) {
  require_executable(call.dtype);
  if (call.m == 0 || call.n == 0) return;
  if (call.alpha == 0 || call.k == 0) {  // OpenBLAS 0.3.21 multiplies small A and B by alpha == 0 all the same
    axpby({}, {static_cast<std::byte*>(call.c), call.m, call.n, call.ldc}, 0, call.beta, call.dtype);
    return;
  }
  const int m = to_blas_int(call.m, "m"), n = to_blas_int(call.n, "n"), k = to_blas_int(call.k, "k");
  const int lda = to_blas_int(call.lda, "leading dimension of a");
  const int ldb = to_blas_int(call.ldb, "leading dimension of b");
  const int ldc = to_blas_int(call.ldc, "leading dimension of c");
  const auto ta = to_cblas(call.trans_a), tb = to_cblas(call.trans_b);
  if (call.dtype == DType::f64) {
    cblas_dgemm(CblasColMajor, ta, tb, m, n, k, call.alpha, static_cast<const double*>(call.a), lda,
                static_cast<const double*>(call.b), ldb, call.beta, static_cast<double*>(call.c), ldc);
  } else {
    cblas_sgemm(CblasColMajor, ta, tb, m, n, k, static_cast<float>(call.alpha), static_cast<const float*>(call.a), lda,
                static_cast<const float*>(call.b), ldb, static_cast<float>(call.beta), static_cast<float*>(call.c),
                ldc);
  }
}

void set_blas_threads(int threads) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
}

int blas_threads() { return openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1; }

ParallelBlas::ParallelBlas() : before_{blas_threads()} {
  set_blas_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

ParallelBlas::~ParallelBlas() { set_blas_threads(before_); }

std::string blas_name() {
  if (openblas_get_config == nullptr) return "a BLAS library without a name";
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... SapphireRapids MAX_THREADS=64": name, version and core type count.
  std::istringstream config{openblas_get_config()};
  std::string name, version, word, core;
  config >> name >> version;
  while (config >> word) {
    if (word.find('=') == std::string::npos) core = word;
  }
  return name + " " + version + " (" + core + ")";
}

}  // namespace tilerail::host
