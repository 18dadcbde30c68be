#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/ids.hpp"
#include "model/units.hpp"

namespace tilerail {

/// Element types. tf32 is f32 in memory, multiplied with the mantissas of TF32; the halves accumulate in f32.
enum class DType : std::uint8_t { f64, f32, f16, bf16, tf32 };
enum class Trans : std::uint8_t { no, yes };

constexpr std::int64_t element_size(DType type) {
  return type == DType::f64 ? 8 : type == DType::f32 || type == DType::tf32 ? 4 : 2;  // bytes
}

std::string_view to_string(DType type);
std::string_view to_string(Trans trans);  // "N" or "T"

/// Throws InputError naming `what` and the accepted values.
DType dtype_from_string(std::string_view text, std::string_view what);
Trans trans_from_string(std::string_view text, std::string_view what);

/// C = alpha * op(A) * op(B) + beta * C, column-major, each matrix whole in one memory.
///   op(A) is m x k, op(B) is k x n, C is m x n.
/// Stored shapes: A is m x k (k x m when transposed), B is k x n (n x k when transposed).
/// Leading dimensions are in elements and at least max(1, stored rows).
struct GemmProblem {
  std::int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::f64;
  Trans trans_a = Trans::no, trans_b = Trans::no;
  double alpha = 1.0, beta = 1.0;
  MemoryId place_a, place_b, place_c;
  std::int64_t lda = 0, ldb = 0, ldc = 0;  // 0: the smallest legal one

  std::int64_t rows_a() const { return trans_a == Trans::no ? m : k; }
  std::int64_t cols_a() const { return trans_a == Trans::no ? k : m; }
  std::int64_t rows_b() const { return trans_b == Trans::no ? k : n; }
  std::int64_t cols_b() const { return trans_b == Trans::no ? n : k; }
  Flops flops() const { return Flops{2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)}; }
};

/// The problem with its leading dimensions filled in. Throws InputError naming the field that is out of range:
/// negative sizes, sizes above 2^40, leading dimensions below the stored rows, scalars that are not finite.
GemmProblem checked(GemmProblem problem);

}  // namespace tilerail
