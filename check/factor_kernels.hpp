#pragma once

#include "check/kernels.hpp"

namespace tilerail::host {

/// Kernels of factorisations in f64 or f32 with the LAPACK library. Their operands and
/// meanings: plan/op_kinds.hpp. All throw InputError if a size exceeds 32 bits.

/// Throws InputError if y is not positive definite.
void potrf(const Block& y, DType dtype);
void trsm(const Block& a, const Block& y, DType dtype);
void syrk(const Block& a, const Block& y, DType dtype);
void geqrt(const Block& t, const Block& y, DType dtype);
void ormqr(const Block& v, const Block& t, const Block& y, DType dtype);
void tsqrt(const Block& t, const Block& r, const Block& y, DType dtype);
void tsmqr(const Block& v, const Block& t, const Block& r, const Block& y, DType dtype);

}  // namespace tilerail::host
