#include "check/kernels.hpp"

#include <cassert>
#include <cstring>

#include "check/blas.hpp"

namespace tilerail::host {
namespace {

template <class T>
void axpby_column(const T* x, T* y, int64_t rows, T alpha, T beta) {
  if (alpha == T{0} && beta == T{0}) {
    for (int64_t i = 0; i < rows; ++i) y[i] = T{0};
  } else if (alpha == T{0}) {
    for (int64_t i = 0; i < rows; ++i) y[i] = beta * y[i];
  } else if (beta == T{0}) {
    for (int64_t i = 0; i < rows; ++i) y[i] = alpha * x[i];
  } else {
    for (int64_t i = 0; i < rows; ++i) y[i] = alpha * x[i] + beta * y[i];
  }
}

template <class T>
void axpby_columns(const Block& x, const Block& y, T alpha, T beta) {
  for (int64_t j = 0; j < y.cols; ++j) {
    const T* column = reinterpret_cast<const T*>(x.data) +
                      (alpha == T{0} ? 0 : j * x.ld);  // x may be null if alpha == 0
    axpby_column(column, reinterpret_cast<T*>(y.data) + j * y.ld, y.rows, alpha, beta);
  }
}

}  // namespace

void copy(const Block& x, const Block& y, int64_t element_bytes) {
  assert(x.rows == y.rows && x.cols == y.cols);
  if (y.rows == 0 || y.cols == 0) return;
  const auto column_bytes = size_t(y.rows * element_bytes);
  if (x.ld == y.rows && y.ld == y.rows) {
    std::memcpy(y.data, x.data, column_bytes * size_t(y.cols));
    return;
  }
  for (int64_t j = 0; j < y.cols; ++j) {
    std::memcpy(y.data + j * y.ld * element_bytes, x.data + j * x.ld * element_bytes,
                column_bytes);
  }
}

void axpby(const Block& x, const Block& y, double alpha, double beta, DType dtype) {
  require_executable(dtype);
  if (dtype == DType::f64) {
    axpby_columns<double>(x, y, alpha, beta);
  } else {
    axpby_columns<float>(x, y, float(alpha), float(beta));
  }
}

}  // namespace tilerail::host
