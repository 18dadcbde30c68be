#include "model/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

void check_size(const char* field, std::int64_t value) {
  if (value < 0 || value > most_extent)
    throw InputError{fmt::format("{} = {} is out of range; expected 0 to 2^40", field, value)};
}

void check_scalar(const char* field, double value) {
  if (!std::isfinite(value))
    throw InputError{fmt::format("{} = {} is not finite; expected a finite number", field, value)};
}

/// The leading dimension of a `rows` x `cols` matrix: `given`, or the smallest legal one when that is zero.
std::int64_t checked_ld(const char* field, std::int64_t given, std::int64_t rows, std::int64_t cols, DType dtype) {
  const std::int64_t least = std::max<std::int64_t>(1, rows);
  const std::int64_t ld = given == 0 ? least : given;
  if (ld < least || ld > most_extent)
    throw InputError{fmt::format("{} = {} is out of range; expected {} (the stored rows) to 2^40", field, ld, least)};
  if (cols > 0 && ld > most_matrix_bytes / element_size(dtype) / cols)
    throw InputError{
        fmt::format("{} = {} times {} columns is too large; expected a matrix of at most 2^60 bytes", field, ld, cols)};
  return ld;
}

void require(bool holds, const GemmProblem& p, const char* expected) {
  if (holds) return;
  throw InputError{fmt::format("{} of m = {}, n = {}, k = {}, trans = {}{}, beta = {}; expected {}",
                               to_string(p.routine), p.m, p.n, p.k, to_string(p.trans_a), to_string(p.trans_b), p.beta,
                               expected)};
}

void check_routine(const GemmProblem& p) {
  const bool b_as_is = p.trans_b == Trans::no;
  switch (p.routine) {
    case Routine::gemm:
      return;
    case Routine::gemv:
      return require(p.n == 1 && b_as_is, p, "n = 1 and a vector that is not transposed");
    case Routine::dot:
      return require(p.m == 1 && p.n == 1 && p.trans_a == Trans::yes && b_as_is && p.beta == 0, p,
                     "m = n = 1, trans = TN and beta = 0");
    case Routine::axpy:
      return require(p.n == 1 && p.k == 1 && p.trans_a == Trans::no && b_as_is, p, "n = k = 1 and trans = NN");
  }
}

}  // namespace

std::string_view to_string(DType type) {
  switch (type) {
    case DType::f64:
      return "f64";
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::tf32:
      return "tf32";
  }
  return "?";
}

std::string_view to_string(Trans trans) { return trans == Trans::no ? "N" : "T"; }

std::string_view to_string(Routine routine) {
  switch (routine) {
    case Routine::gemm:
      return "gemm";
    case Routine::gemv:
      return "gemv";
    case Routine::dot:
      return "dot";
    case Routine::axpy:
      return "axpy";
  }
  return "?";
}

DType dtype_from_string(std::string_view text, std::string_view what) {
  for (const DType type : dtypes)
    if (text == to_string(type)) return type;
  throw InputError{fmt::format("{} '{}' is unknown; expected f64, f32, f16, bf16 or tf32", what, text)};
}

Trans trans_from_string(std::string_view text, std::string_view what) {
  for (Trans trans : {Trans::no, Trans::yes})
    if (text == to_string(trans)) return trans;
  throw InputError{fmt::format("{} '{}' is unknown; expected N or T", what, text)};
}

Routine routine_from_string(std::string_view text, std::string_view what) {
  for (const Routine routine : {Routine::gemm, Routine::gemv, Routine::dot, Routine::axpy})
    if (text == to_string(routine)) return routine;
  throw InputError{fmt::format("{} '{}' is unknown; expected gemm, gemv, dot or axpy", what, text)};
}

GemmProblem checked(GemmProblem p) {
  check_size("m", p.m);
  check_size("n", p.n);
  check_size("k", p.k);
  check_scalar("alpha", p.alpha);
  check_scalar("beta", p.beta);
  for (double* scalar : {&p.alpha, &p.beta})
    if (*scalar == 0) *scalar = 0;  // -0 is 0, and its plan has the hash of 0
  check_routine(p);
  if (!p.has_b()) p.place_b = p.place_a;
  p.lda = checked_ld("lda", p.lda, p.rows_a(), p.cols_a(), p.dtype);
  p.ldb = checked_ld("ldb", p.ldb, p.rows_b(), p.cols_b(), p.dtype);
  p.ldc = checked_ld("ldc", p.ldc, p.m, p.n, p.dtype);
  return p;
}

GemmProblem work_of(GemmProblem p) {
  if (p.scales_only()) p.k = 0, p.place_a = p.place_b = p.place_c;
  return p;
}

GemmProblem gemv_problem(std::int64_t rows, std::int64_t cols, Trans trans) {
  GemmProblem p;
  p.routine = Routine::gemv;
  p.m = trans == Trans::no ? rows : cols, p.n = 1, p.k = trans == Trans::no ? cols : rows;
  p.trans_a = trans;
  return p;
}

GemmProblem dot_problem(std::int64_t n) {
  GemmProblem p;
  p.routine = Routine::dot;
  p.m = p.n = 1, p.k = n;
  p.trans_a = Trans::yes;
  p.beta = 0;
  return p;
}

GemmProblem axpy_problem(std::int64_t n) {
  GemmProblem p;
  p.routine = Routine::axpy;
  p.m = n, p.n = p.k = 1;
  return p;
}

}  // namespace tilerail
