#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// A matrix that a chain multiplies, `rows` x `cols` as it is stored.
struct ChainFactor {
  std::int64_t rows = 0, cols = 0, ld = 0;  // ld 0: the smallest legal one
  Trans trans = Trans::no;
  MemoryId place;
  std::optional<std::size_t> same_as = {};  // an earlier factor that is the same matrix, which takes no more memory

  std::int64_t op_rows() const { return trans == Trans::no ? rows : cols; }
  std::int64_t op_cols() const { return trans == Trans::no ? cols : rows; }
  auto operator<=>(const ChainFactor&) const = default;
};

/// R = alpha op(A) op(B) op(C) ... + beta R, column-major. docs/model.md#chains-of-products
struct ChainProblem {
  std::vector<ChainFactor> factors;
  DType dtype = DType::f64;
  MemoryId place;       // of R
  std::int64_t ld = 0;  // of R; 0: the smallest legal one
  double alpha = 1, beta = 0;

  std::int64_t rows() const { return factors.front().op_rows(); }
  std::int64_t cols() const { return factors.back().op_cols(); }
  auto operator<=>(const ChainProblem&) const = default;
};

/// A letter for each factor.
inline constexpr std::size_t least_factors = 2, most_factors = 12;

/// The chain with its leading dimensions filled in. Throws InputError naming the factor: too few or too many, extents
/// that do not fit each other, and what `checked` refuses of a product.
ChainProblem checked(ChainProblem problem);

/// Of the factors [first, last].
struct ChainSpan {
  std::size_t first = 0, last = 0;
  bool is_factor() const { return first == last; }
  auto operator<=>(const ChainSpan&) const = default;
};

/// One product: of the factors [first, split] with those of [split + 1, last].
struct ChainProduct {
  std::size_t first = 0, split = 0, last = 0;

  ChainSpan whole() const { return {first, last}; }
  ChainSpan left() const { return {first, split}; }
  ChainSpan right() const { return {split + 1, last}; }
  auto operator<=>(const ChainProduct&) const = default;
};

/// "factor 2 (B)".
std::string factor_text(std::size_t factor);

/// The product as a problem, its operands and its result in these memories. An intermediate is written without being
/// read, in columns that start where vector kernels like it; the last product has the scalars.
GemmProblem problem_of(const ChainProblem& chain, const ChainProduct& product, MemoryId left, MemoryId right,
                       MemoryId result);

/// The leading dimension of an intermediate, and its bytes.
std::int64_t intermediate_ld(const ChainProblem& chain, const ChainSpan& span);
std::int64_t intermediate_bytes(const ChainProblem& chain, const ChainSpan& span);

}  // namespace tilerail
