#pragma once

#include <span>

#include "check/kernels.hpp"

namespace tilerail::host {

/// Runs one of potrf, trsm, syrk, geqrt, ormqr, tsqrt and tsmqr, by its number in this
/// order, in f64 or f32 with the LAPACK library. Operands and meanings:
/// plan/op_kinds.hpp. Throws InputError if a size exceeds 32 bits, or if the matrix of
/// potrf is not positive definite.
void run_tile_kernel(size_t kernel, std::span<const Block> operands, DType dtype);

}  // namespace tilerail::host
