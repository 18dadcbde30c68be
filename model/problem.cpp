#include "model/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

constexpr std::array<std::string_view, 2> trans_names{"N", "T"};
constexpr std::array<std::string_view, 4> routine_names{"gemm", "gemv", "dot", "axpy"};

template <class Enum>
Enum named(std::string_view text, std::string_view subject,
           std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end())
    throw InputError{subject, text, "is unknown",
                     fmt::format("one of: {}", fmt::join(names, ", "))};
  return static_cast<Enum>(found - names.begin());
}

void check_size(const char* field, int64_t value) {
  if (value < 0 || value > most_extent)
    throw out_of_range(field, std::to_string(value), "0 to 2^40");
}

void check_scalar(const char* field, double value) {
  if (!std::isfinite(value))
    throw InputError{field, fmt::to_string(value), "", "a finite number"};
}

/// The leading dimension of a `rows` x `cols` matrix: `given`, or the minimum if `given`
/// is zero.
int64_t checked_ld(const char* field, int64_t given, int64_t rows, int64_t cols,
                   DType dtype) {
  const int64_t least = std::max<int64_t>(1, rows);
  const int64_t ld = given == 0 ? least : given;
  if (ld < least || ld > most_extent)
    throw out_of_range(field, std::to_string(ld),
                       fmt::format("{} (the stored rows) to 2^40", least));
  if (cols > 0 && ld > most_matrix_bytes / element_size(dtype) / cols)
    throw InputError{field, std::to_string(ld),
                     fmt::format("is too large for {} columns", cols),
                     "a matrix of at most 2^60 bytes"};
  return ld;
}

void require(bool holds, const GemmProblem& p, const char* expected) {
  if (holds) return;
  throw InputError{
      to_string(p.routine),
      fmt::format("m = {}, n = {}, k = {}, trans = {}{}, beta = {}", p.m, p.n, p.k,
                  to_string(p.trans_a), to_string(p.trans_b), p.beta),
      "is invalid", expected};
}

void check_routine(const GemmProblem& p) {
  const bool b_as_is = p.trans_b == Trans::no;
  switch (p.routine) {
    case Routine::gemm:
      return;
    case Routine::gemv:
      return require(p.n == 1 && b_as_is, p, "n = 1 and a vector that is not transposed");
    case Routine::dot:
      return require(
          p.m == 1 && p.n == 1 && p.trans_a == Trans::yes && b_as_is && p.beta == 0, p,
          "m = n = 1, trans = TN and beta = 0");
    case Routine::axpy:
      return require(p.n == 1 && p.k == 1 && p.trans_a == Trans::no && b_as_is, p,
                     "n = k = 1 and trans = NN");
  }
}

}  // namespace

std::string_view to_string(DType type) { return dtype_names[size_t(type)]; }
std::string_view to_string(Trans trans) { return trans_names[size_t(trans)]; }
std::string_view to_string(Routine routine) { return routine_names[size_t(routine)]; }

DType dtype_from_string(std::string_view text) {
  return named<DType>(text, "dtype", dtype_names);
}
Trans trans_from_string(std::string_view text, std::string_view subject) {
  return named<Trans>(text, subject, trans_names);
}
Routine routine_from_string(std::string_view text) {
  return named<Routine>(text, "routine", routine_names);
}

GemmProblem checked(GemmProblem p) {
  check_size("m", p.m);
  check_size("n", p.n);
  check_size("k", p.k);
  check_scalar("alpha", p.alpha);
  check_scalar("beta", p.beta);
  for (double* scalar : {&p.alpha, &p.beta})
    if (*scalar == 0) *scalar = 0;  // -0 becomes 0, so that plans have equal hashes
  check_routine(p);
  if (!p.has_b()) p.place_b = p.place_a;
  p.lda = checked_ld("lda", p.lda, p.rows_a(), p.cols_a(), p.dtype);
  p.ldb = checked_ld("ldb", p.ldb, p.rows_b(), p.cols_b(), p.dtype);
  p.ldc = checked_ld("ldc", p.ldc, p.m, p.n, p.dtype);
  return p;
}

FactorProblem checked(FactorProblem p) {
  check_size("m", p.m);
  check_size("n", p.n);
  if (p.kind == FactorProblem::Kind::potrf && p.m != p.n)
    throw InputError{"n", std::to_string(p.n), "", fmt::format("{}, as m", p.m)};
  if (p.dtype != DType::f64 && p.dtype != DType::f32)
    throw InputError{"dtype", to_string(p.dtype), "cannot be factored", "f64 or f32"};
  p.ld = checked_ld("ld", p.ld, p.m, p.n, p.dtype);
  return p;
}

Flops FactorProblem::flops() const {
  const auto s = double(std::min(m, n)), l = double(std::max(m, n));
  return Flops{kind == Kind::potrf ? s * s * s / 3 : 2 * s * s * (l - s / 3)};
}

GemmProblem work_of(GemmProblem p) {
  if (p.scales_only()) p.k = 0, p.place_a = p.place_b = p.place_c;
  return p;
}

GemmProblem gemv_problem(int64_t rows, int64_t cols, Trans trans) {
  GemmProblem p;
  p.routine = Routine::gemv;
  p.m = trans == Trans::no ? rows : cols, p.n = 1, p.k = trans == Trans::no ? cols : rows;
  p.trans_a = trans;
  return p;
}

GemmProblem dot_problem(int64_t n) {
  GemmProblem p;
  p.routine = Routine::dot;
  p.m = p.n = 1, p.k = n;
  p.trans_a = Trans::yes;
  p.beta = 0;
  return p;
}

GemmProblem axpy_problem(int64_t n) {
  GemmProblem p;
  p.routine = Routine::axpy;
  p.m = n, p.n = p.k = 1;
  return p;
}

}  // namespace tilerail
