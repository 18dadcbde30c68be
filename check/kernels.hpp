#pragma once

#include <cstddef>
#include <cstdint>

#include "model/problem.hpp"

namespace tilerail::host {

/// A column-major rows x cols block in memory; ld in elements.
struct Block {
  std::byte* data = nullptr;
  int64_t rows = 0, cols = 0, ld = 1;
};

/// y = x for blocks of one shape that do not overlap: one memcpy if both are packed, else
/// one per column.
void copy(const Block& x, const Block& y, int64_t element_bytes);

/// y = alpha * x + beta * y for blocks of one shape. alpha == 0 never reads x, beta == 0
/// never reads y. In f64 if y is, else in f32. Throws InputError for tf32.
void axpby(const Block& x, const Block& y, double alpha, double beta, DType of_x,
           DType of_y);

}  // namespace tilerail::host
