#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "model/base/extents.hpp"
#include "model/base/ids.hpp"
#include "model/base/units.hpp"
#include "model/layout.hpp"

namespace tilerail {

/// Element types. tf32 is stored as f32 and multiplied with TF32 mantissas; f16 and bf16
/// accumulate in f32.
enum class DType : uint8_t { f64, f32, f16, bf16, tf32 };
inline constexpr std::array dtypes{DType::f64, DType::f32, DType::f16, DType::bf16,
                                   DType::tf32};
inline constexpr std::array<std::string_view, 5> dtype_names{"f64", "f32", "f16", "bf16",
                                                             "tf32"};
enum class Trans : uint8_t { no, yes };
enum class Routine : uint8_t { gemm, gemv, dot, axpy };

constexpr int64_t element_size(DType type) {
  return type == DType::f64                          ? 8
         : type == DType::f32 || type == DType::tf32 ? 4
                                                     : 2;  // bytes
}

/// The type of sums of products before they are rounded to `type`.
constexpr DType sum_type(DType type) {
  return element_size(type) == 2 ? DType::f32 : type;
}

std::string_view to_string(DType type);
std::string_view to_string(Trans trans);  // "N" or "T"
std::string_view to_string(Routine routine);

/// Throw InputError with the allowed values.
DType dtype_from_string(std::string_view text);
Trans trans_from_string(std::string_view text, std::string_view subject = "trans");
Routine routine_from_string(std::string_view text);

/// C = alpha * op(A) * op(B) + beta * C, column-major.
///   op(A) is m x k, op(B) is k x n, C is m x n.
/// Stored shapes: A is m x k (k x m if transposed), B is k x n (n x k if transposed).
/// Leading dimensions are in elements and at least max(1, stored rows).
///
/// Vector routines are special cases. A vector is a matrix with one column:
///   gemv  y = alpha op(A) x + beta y  n = 1: x is B, y is C
///   dot   r = alpha x . y             m = n = 1, beta = 0: x^T is A, y is B, r is C
///   axpy  y = alpha x + beta y        n = k = 1: x is A, y is C; B is the number 1
struct GemmProblem {
  int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::f64;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  double alpha = 1.0, beta = 1.0;
  Layout place_a, place_b, place_c;
  int64_t lda = 0, ldb = 0, ldc = 0;  // 0: the minimum
  Routine routine = Routine::gemm;

  int64_t rows_a() const { return trans_a == Trans::no ? m : k; }
  int64_t cols_a() const { return trans_a == Trans::no ? k : m; }
  int64_t rows_b() const { return !has_b() ? 0 : trans_b == Trans::no ? k : n; }
  int64_t cols_b() const { return !has_b() ? 0 : trans_b == Trans::no ? n : k; }
  bool has_b() const { return routine != Routine::axpy; }
  /// Whether all operands are vectors, which are cut along one dimension only.
  bool of_vectors() const { return routine == Routine::dot || routine == Routine::axpy; }
  /// Whether A and B are unused: C = beta C.
  bool scales_only() const { return alpha == 0 || k == 0; }
  /// Whether the problem has multiplications.
  bool has_product() const { return m > 0 && n > 0 && !scales_only(); }
  /// Whether C is rounded from sums in another type.
  bool rounds() const { return sum_type(dtype) != dtype; }
  Flops flops() const { return Flops{2.0 * double(m) * double(n) * double(k)}; }
};

/// A factorisation in place of an m x n matrix, column-major, in f64 or f32.
///   potrf  A = L L^T, m = n: the lower triangle is read, and L written there
///   geqrf  A = Q R: R replaces the upper triangle; the block reflectors of Q replace the
///          rest of each tile and T, which has the shape and the layout of A
struct FactorProblem {
  enum class Kind : uint8_t { potrf, geqrf };
  static constexpr std::array<std::string_view, 2> names{"potrf", "geqrf"};
  Kind kind = Kind::potrf;
  int64_t m = 0, n = 0;
  DType dtype = DType::f64;
  Layout place = {};
  int64_t ld = 0;  // of A; 0: the minimum

  /// The leading terms: n^3 / 3, or 2 s^2 (l - s / 3) for short side s and long side l.
  Flops flops() const;
};

using Problem = std::variant<GemmProblem, FactorProblem>;

/// The problem with complete leading dimensions. Throws InputError with the invalid
/// field: negative sizes, sizes above 2^40, leading dimensions below the stored rows,
/// non-finite scalars, and fields that the routine does not support.
GemmProblem checked(GemmProblem problem);
FactorProblem checked(FactorProblem problem);

/// The same work without unused operands: C = beta C gets k = 0, and A and B the place of
/// C.
GemmProblem work_of(GemmProblem problem);

/// Vector routines from their own sizes, with defaults for everything else. A is stored
/// as `rows` x `cols`.
GemmProblem gemv_problem(int64_t rows, int64_t cols, Trans trans);
GemmProblem dot_problem(int64_t n);
GemmProblem axpy_problem(int64_t n);

}  // namespace tilerail
