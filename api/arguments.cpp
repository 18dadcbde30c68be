#include "api/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tilerail::api {
namespace {

constexpr std::array names{"",  "trans_a", "trans_b", "m",   "n",    "k", "alpha",
                           "A", "lda",     "B",       "ldb", "beta", "C", "ldc"};

Defect defect(int position, const std::string& rest) {
  return {position,
          fmt::format("argument {} ({}){}", position, names[size_t(position)], rest)};
}

std::optional<Defect> bad_trans(int position, char trans) {
  if (std::string{"NnTtCc"}.find(trans) != std::string::npos && trans != '\0') return {};
  const bool printable = trans >= ' ' && trans <= '~';
  const std::string shown =
      printable ? fmt::format("'{}'", trans) : fmt::format("character {}", int{trans});
  return defect(position, " = " + shown + ": expected 'N', 'T' or 'C'");
}

std::optional<Defect> bad_extent(int position, int64_t value) {
  if (value >= 0 && value <= most_extent) return {};
  return defect(position, fmt::format(" = {}: expected 0 to 2^40", value));
}

std::optional<Defect> bad_pointer(int position, const void* data, DType dtype) {
  if (data == nullptr) return defect(position, " is null: expected a matrix");
  if (reinterpret_cast<uintptr_t>(data) % uintptr_t(element_size(dtype)) == 0) return {};
  return defect(position, fmt::format(" is not aligned: expected a multiple of {} bytes",
                                      element_size(dtype)));
}

std::optional<Defect> bad_leading_dimension(int position, int64_t ld, int64_t rows,
                                            int64_t cols, DType dtype) {
  const int64_t least = std::max<int64_t>(1, rows);
  const std::string shown = fmt::format(" = {}", ld);
  if (ld < least)
    return defect(position,
                  fmt::format("{}: expected at least {}, the stored rows", shown, least));
  if (ld > most_extent) return defect(position, shown + ": expected at most 2^40");
  if (cols > 0 && ld > most_matrix_bytes / element_size(dtype) / cols)
    return defect(
        position,
        fmt::format("{} times {} columns: expected at most 2^60 bytes", shown, cols));
  return {};
}

Trans trans_of(char trans) {
  return trans == 'N' || trans == 'n' ? Trans::no : Trans::yes;
}

GemmProblem with_extents(const GemmArguments& x) {
  GemmProblem p;
  p.m = x.m, p.n = x.n, p.k = x.k;
  p.dtype = x.dtype;
  p.trans_a = trans_of(x.trans_a), p.trans_b = trans_of(x.trans_b);
  p.alpha = x.alpha, p.beta = x.beta;
  p.lda = x.lda, p.ldb = x.ldb, p.ldc = x.ldc;
  return p;
}

}  // namespace

std::optional<Defect> first_defect(const GemmArguments& x) {
  if (auto bad = bad_trans(Position::trans_a, x.trans_a)) return bad;
  if (auto bad = bad_trans(Position::trans_b, x.trans_b)) return bad;
  if (auto bad = bad_extent(Position::m, x.m)) return bad;
  if (auto bad = bad_extent(Position::n, x.n)) return bad;
  if (auto bad = bad_extent(Position::k, x.k)) return bad;
  const GemmProblem p = with_extents(x);
  const bool writes = x.m > 0 && x.n > 0, reads = writes && !scales_only(x);
  if (reads)
    if (auto bad = bad_pointer(Position::a, x.a, x.dtype)) return bad;
  if (auto bad =
          bad_leading_dimension(Position::lda, x.lda, p.rows_a(), p.cols_a(), x.dtype))
    return bad;
  if (reads)
    if (auto bad = bad_pointer(Position::b, x.b, x.dtype)) return bad;
  if (auto bad =
          bad_leading_dimension(Position::ldb, x.ldb, p.rows_b(), p.cols_b(), x.dtype))
    return bad;
  if (writes)
    if (auto bad = bad_pointer(Position::c, x.c, x.dtype)) return bad;
  return bad_leading_dimension(Position::ldc, x.ldc, x.m, x.n, x.dtype);
}

GemmProblem problem_of(const GemmArguments& arguments) {
  GemmProblem p = with_extents(arguments);
  if (!scales_only(arguments)) return p;
  p.k = 0;
  p.alpha = 0;
  p.trans_a = p.trans_b = Trans::no;
  p.lda = std::max<int64_t>(1, p.m);
  p.ldb = 1;
  return p;
}

}  // namespace tilerail::api
