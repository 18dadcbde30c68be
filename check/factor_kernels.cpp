#include "check/factor_kernels.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "check/blas.hpp"
#include "model/base/error.hpp"

namespace tilerail::host {

using Routine = void();  // of LAPACK 3.4 or later; its arguments follow from the call
// NOLINTBEGIN(readability-identifier-naming): the library's names
extern "C" Routine dpotrf_, dtrsm_, dsyrk_, dgeqrt_, dgemqrt_, dtpqrt_, dtpmqrt_, spotrf_,
    strsm_, ssyrk_, sgeqrt_, sgemqrt_, stpqrt_, stpmqrt_;
// NOLINTEND(readability-identifier-naming)

namespace {

constexpr size_t letter = 1;  // length of each option, after all other arguments
constexpr int rectangular = 0;

struct Operand {
  explicit Operand(const Block& b)
      : data{b.data},
        rows{to_blas_int(b.rows, "rows")},
        cols{to_blas_int(b.cols, "columns")},
        ld{to_blas_int(b.ld, "leading dimension")} {}
  void* data;
  int rows, cols, ld;
};
using Operands = std::span<const Operand>;

template <class... Arguments>
void call(DType dtype, Routine* of_f64, Routine* of_f32, Arguments... arguments) {
  Routine* const routine = dtype == DType::f64 ? of_f64 : of_f32;
  reinterpret_cast<void (*)(Arguments...)>(routine)(arguments...);
}

/// Memory for the products of a block of reflectors with y.
std::vector<double> workspace(const Operand& t, const Operand& y) {
  return std::vector<double>(size_t(t.rows) * size_t(y.cols));
}

/// A number in the type of the call.
struct Number {
  double f64;
  float f32 = float(f64);
  const void* of(DType dtype) const {
    return dtype == DType::f64 ? static_cast<const void*>(&f64) : &f32;
  }
};
constexpr Number one{1}, minus_one{-1};

void potrf(Operands x, DType dtype) {
  const Operand& y = x[0];
  int info = 0;
  call(dtype, dpotrf_, spotrf_, "L", &y.rows, y.data, &y.ld, &info, letter);
  if (info > 0)
    throw InputError{"tile",
                     {},
                     "is not positive definite",
                     fmt::format("a positive minor of order {}", info)};
}

void trsm(Operands x, DType dtype) {
  const Operand &a = x[0], &y = x[1];
  call(dtype, dtrsm_, strsm_, "R", "L", "T", "N", &y.rows, &y.cols, one.of(dtype), a.data,
       &a.ld, y.data, &y.ld, letter, letter, letter, letter);
}

void syrk(Operands x, DType dtype) {
  const Operand &a = x[0], &y = x[1];
  call(dtype, dsyrk_, ssyrk_, "L", "N", &y.rows, &a.cols, minus_one.of(dtype), a.data,
       &a.ld, one.of(dtype), y.data, &y.ld, letter, letter);
}

void geqrt(Operands x, DType dtype) {
  const Operand &t = x[0], &y = x[1];
  int info = 0;
  call(dtype, dgeqrt_, sgeqrt_, &y.rows, &y.cols, &t.rows, y.data, &y.ld, t.data, &t.ld,
       workspace(t, y).data(), &info);
}

void ormqr(Operands x, DType dtype) {
  const Operand &v = x[0], &t = x[1], &y = x[2];
  int info = 0;
  call(dtype, dgemqrt_, sgemqrt_, "L", "T", &y.rows, &y.cols, &t.cols, &t.rows, v.data,
       &v.ld, t.data, &t.ld, y.data, &y.ld, workspace(t, y).data(), &info, letter,
       letter);
}

void tsqrt(Operands x, DType dtype) {
  const Operand &t = x[0], &r = x[1], &y = x[2];
  int info = 0;
  call(dtype, dtpqrt_, stpqrt_, &y.rows, &y.cols, &rectangular, &t.rows, r.data, &r.ld,
       y.data, &y.ld, t.data, &t.ld, workspace(t, y).data(), &info);
}

void tsmqr(Operands x, DType dtype) {
  const Operand &v = x[0], &t = x[1], &r = x[2], &y = x[3];
  int info = 0;
  call(dtype, dtpmqrt_, stpmqrt_, "L", "T", &y.rows, &y.cols, &t.cols, &rectangular,
       &t.rows, v.data, &v.ld, t.data, &t.ld, r.data, &r.ld, y.data, &y.ld,
       workspace(t, y).data(), &info, letter, letter);
}

constexpr std::array kernels{potrf, trsm, syrk, geqrt, ormqr, tsqrt, tsmqr};

}  // namespace

void run_tile_kernel(size_t kernel, std::span<const Block> operands, DType dtype) {
  kernels.at(kernel)(std::vector<Operand>(operands.begin(), operands.end()), dtype);
}

}  // namespace tilerail::host
