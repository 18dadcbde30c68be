#pragma once

#include <cstdint>

namespace tilerail {

/// Maximum rows, columns and leading dimension of a matrix or a tile.
inline constexpr int64_t most_extent = int64_t{1} << 40;
/// Maximum bytes of one matrix, so that byte offsets never overflow.
inline constexpr int64_t most_matrix_bytes = int64_t{1} << 60;

/// The number of parts of size `b` that cover `a`.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace tilerail
