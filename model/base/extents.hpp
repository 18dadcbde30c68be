#pragma once

#include <cstdint>

namespace tilerail {

/// The most rows, columns and leading dimension of a matrix or a tile.
inline constexpr std::int64_t most_extent = std::int64_t{1} << 40;
/// The most bytes of one matrix, so that byte offsets never overflow.
inline constexpr std::int64_t most_matrix_bytes = std::int64_t{1} << 60;

/// How many parts of size `b` cover `a`.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace tilerail
