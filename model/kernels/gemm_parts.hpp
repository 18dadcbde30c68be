#pragma once

#include <boost/container/static_vector.hpp>

#include "model/problem.hpp"

namespace tilerail {

/// Bytes that kernels of tensor cores load at once where starts, leading dimensions and
/// lengths of columns are multiples of it: a word.
inline constexpr int64_t loaded_word = 16;

/// Alignments of this many bytes and more are taken as equal.
inline constexpr int64_t most_alignment = 64;

/// The largest power of two that divides the lengths of all columns of a GEMM's operands,
/// in bytes; most_alignment where they are whole words, or no tensor core computes the
/// type.
int64_t column_alignment(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n,
                         int64_t k);

/// Part of a product: rows m0 to m0 + m and columns n0 to n0 + n of C, over k0 to k0 + k.
struct GemmPart {
  int64_t m0 = 0, m = 0, n0 = 0, n = 0, k0 = 0, k = 0;
  friend bool operator==(const GemmPart&, const GemmPart&) = default;
};

/// The parts in which a GPU runs a GEMM, in this order; those with k0 > 0 add to C. Where
/// columns of an operand are no whole words of 16 bytes, slower loads feed the tensor
/// cores. So the rest is cut off, if the product is large enough to pay for the thin
/// kernels of the rest. Starts and leading dimensions are taken to be whole words.
/// docs/model.md#alignment-and-parts
using GemmParts = boost::container::static_vector<GemmPart, 8>;
GemmParts gemm_parts(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n,
                     int64_t k);

}  // namespace tilerail
