#include "check/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "check/blas.hpp"
#include "check/elements.hpp"
#include "check/rounding.hpp"
#include "model/base/threads.hpp"

namespace tilerail {
namespace {

/// Sum and maximum of the absolute values of each row of op(A), or of each column of
/// op(B).
struct LineNorms {
  std::vector<double> sum, max;
};

LineNorms line_norms(const RandomMatrix& matrix, bool by_rows) {
  const auto lines = size_t(by_rows ? matrix.rows() : matrix.cols());
  LineNorms norms{std::vector<double>(lines, 0.0), std::vector<double>(lines, 0.0)};
  for (int64_t j = 0; j < matrix.cols(); ++j) {
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      const auto line = size_t(by_rows ? i : j);
      const double size = std::abs(matrix.original(i, j));
      norms.sum[line] += size;
      norms.max[line] = std::max(norms.max[line], size);
    }
  }
  return norms;
}

}  // namespace

std::string GemmCheck::summary() const {
  if (!(residual <= tolerance))
    return fmt::format(
        "C({}, {}) is {:.17g}, expected {:.17g}: residual {:.3g}, tolerance {:.3g}", row,
        col, computed, expected, residual, tolerance);
  if (!padding_untouched) return "rows beyond a matrix's own were written";
  if (!inputs_untouched) return "A or B was changed";
  return fmt::format("residual {:.3g}, tolerance {:.3g}", residual, tolerance);
}

GemmData::GemmData(const GemmProblem& problem, uint64_t seed)
    : problem_{problem},
      seed_{seed},
      a_{problem.rows_a(), problem.cols_a(), problem.lda, problem.dtype, 3 * seed},
      b_{problem.rows_b(), problem.cols_b(), problem.ldb, problem.dtype, 3 * seed + 1},
      c_{problem.m, problem.n, problem.ldc, problem.dtype, 3 * seed + 2} {
  reset_c();
}

void GemmData::reset_c() {
  if (problem_.beta == 0) {
    c_.fill_poison();
  } else {
    c_.fill();
  }
}

RandomMatrix GemmData::reference() const {
  const GemmProblem& p = problem_;
  RandomMatrix result{p.m, p.n, std::max<int64_t>(1, p.m), p.dtype,
                      3 * seed_ + 2};  // C_in, packed
  double one = 1;                      // or bytes of another type
  with_element(p.dtype, [&](auto zero) {
    const auto of_type = static_cast<decltype(zero)>(1);
    std::memcpy(&one, &of_type, sizeof of_type);
  });
  const auto* const b = static_cast<const std::byte*>(p.has_b() ? b_.data() : &one);
  const int64_t element = element_size(p.dtype),
                column_of_b = p.trans_b == Trans::no ? p.ldb : 1;
  const auto columns = [&](int64_t begin, int64_t end) {
    host::gemm({p.dtype, p.trans_a, p.trans_b, p.m, end - begin, p.k, p.alpha, p.beta,
                a_.data(), b + begin * column_of_b * element,
                static_cast<std::byte*>(result.data()) + begin * result.ld() * element,
                p.lda, p.ldb, result.ld()});
  };
  host::use_blas_threads(1);
  constexpr int64_t few = 64;  // columns: enough for fast kernels of any BLAS
  const int64_t parts = std::max<int64_t>(1, p.n / few);
  share_work(size_t(parts), usable_cores().size(), [&](size_t part) {
    const auto i = int64_t(part);
    columns(p.n * i / parts, p.n * (i + 1) / parts);
  });
  return result;
}

GemmCheck GemmData::check() const {
  GemmCheck result;
  const Precision precision{problem_};
  result.tolerance = 2 * (element_bound(problem_, precision.sums) + precision.stores);
  result.padding_untouched =
      a_.padding_untouched() && b_.padding_untouched() && c_.padding_untouched();
  result.inputs_untouched = a_.elements_untouched() && b_.elements_untouched();
  const RandomMatrix expected = reference();
  const double unit = unit_of(problem_);
  const LineNorms rows = line_norms(a_, problem_.trans_a == Trans::no);
  const LineNorms cols = problem_.has_b() ? line_norms(b_, problem_.trans_b == Trans::yes)
                                          : LineNorms{{1.0}, {1.0}};
  for (int64_t j = 0; j < problem_.n; ++j) {
    for (int64_t i = 0; i < problem_.m; ++i) {
      const auto row = size_t(i), col = size_t(j);
      const double product =
          std::min(rows.sum[row] * cols.max[col], rows.max[row] * cols.sum[col]);
      const double scale = std::abs(problem_.alpha) / unit * product +
                           std::abs(problem_.beta) / unit * std::abs(c_.original(i, j));
      const double residual =
          residual_of(c_.at(i, j) / unit, expected.at(i, j) / unit, scale);
      if (residual <= result.residual) continue;
      result.residual = residual;
      result.row = i, result.col = j;
      result.computed = c_.at(i, j), result.expected = expected.at(i, j);
    }
  }
  return result;
}

}  // namespace tilerail
