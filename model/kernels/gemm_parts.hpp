#pragma once

#include <boost/container/static_vector.hpp>

#include "model/problem.hpp"

namespace tilerail {

/// Bytes per load of tensor-core kernels (a word), if starts, leading dimensions and
/// column lengths are multiples of it.
inline constexpr int64_t loaded_word = 16;

/// Larger alignments are equivalent to this many bytes.
inline constexpr int64_t most_alignment = 64;

/// The largest power of two that divides the lengths of all columns of a GEMM's operands,
/// in bytes; most_alignment if all are whole words or the type does not run on tensor
/// cores.
int64_t column_alignment(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n,
                         int64_t k);

/// Part of a product: rows m0 to m0 + m and columns n0 to n0 + n of C, over k0 to k0 + k.
struct GemmPart {
  int64_t m0 = 0, m = 0, n0 = 0, n = 0, k0 = 0, k = 0;
  friend bool operator==(const GemmPart&, const GemmPart&) = default;
};

/// The parts in which a GPU runs a GEMM, in this order; parts with k0 > 0 add to C.
/// Columns that are not whole words of 16 bytes need slower loads for the tensor cores.
/// The rest is therefore cut off if the product is large enough to pay for the thin
/// kernels. Starts and leading dimensions are assumed to be whole words.
/// docs/model.md#alignment-and-parts
using GemmParts = boost::container::static_vector<GemmPart, 8>;
GemmParts gemm_parts(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n,
                     int64_t k);

}  // namespace tilerail
