#include "check/kernels.hpp"

#include <cassert>
#include <cstring>
#include <type_traits>

#include "check/blas.hpp"
#include "check/elements.hpp"

namespace tilerail::host {
namespace {

/// Computed in T.
template <class X, class Y, class T>
void axpby_column(const X* x, Y* y, int64_t rows, T alpha, T beta) {
  if (alpha == T{0} && beta == T{0}) {
    for (int64_t i = 0; i < rows; ++i) y[i] = Y{0};
  } else if (alpha == T{0}) {
    for (int64_t i = 0; i < rows; ++i) y[i] = Y(beta * T(y[i]));
  } else if (beta == T{0}) {
    for (int64_t i = 0; i < rows; ++i) y[i] = Y(alpha * T(x[i]));
  } else {
    for (int64_t i = 0; i < rows; ++i) y[i] = Y(alpha * T(x[i]) + beta * T(y[i]));
  }
}

template <class X, class Y>
void axpby_columns(const Block& x, const Block& y, double alpha, double beta) {
  using T = std::conditional_t<std::is_same_v<Y, double>, double, float>;
  for (int64_t j = 0; j < y.cols; ++j) {
    const X* column = reinterpret_cast<const X*>(x.data) +
                      (alpha == 0 ? 0 : j * x.ld);  // x may be null if alpha == 0
    axpby_column(column, reinterpret_cast<Y*>(y.data) + j * y.ld, y.rows, T(alpha),
                 T(beta));
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

void axpby(const Block& x, const Block& y, double alpha, double beta, DType of_x,
           DType of_y) {
  require_executable(of_y);
  with_element(of_x, [&](auto zero_x) {
    with_element(of_y, [&](auto zero_y) {
      axpby_columns<decltype(zero_x), decltype(zero_y)>(x, y, alpha, beta);
    });
  });
}

}  // namespace tilerail::host
