"""``tilerail.gemm``: a problem of these sizes, or the product of these arrays."""

from __future__ import annotations

from typing import Any, overload

from .errors import InputError
from .problems import Problem, gemm_problem
from .products import Array, multiply
from .texts import Value, shown

_OF_SIZES = {"dtype", "transa", "transb", "place", "lda", "ldb", "ldc"}
_OF_ARRAYS = {"threads", "stream"}


@overload
def gemm(m: Value, n: Value | None = None, k: Value | None = None, **options: Any) -> Problem: ...
@overload
def gemm(m: Array, n: Array, k: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
         threads: int | None = None, stream: Any = None) -> Array: ...


def gemm(m, n=None, k=None, **options):
    """``gemm(m, n, k)``: a problem, C = alpha op(A) op(B) + beta C with C of m x n elements, to plan and simulate.
    ``gemm(A, B)``, ``gemm(A, B, C)``: the product of these arrays.

    Sizes are numbers or texts ("16K"; one size is a cube), with the options of ``tilerail.problems.gemm_problem``:
    dtype, transa, transb, alpha, beta, place, lda, ldb, ldc. Arrays are described in ``tilerail.products.multiply``.
    Raises InputError.
    """
    of_arrays = bool(getattr(m, "shape", ()))
    for name in options.keys() & (_OF_SIZES if of_arrays else _OF_ARRAYS):
        raise InputError(name, shown(options[name]), f"has no meaning with {'arrays' if of_arrays else 'sizes'}")
    return (multiply if of_arrays else gemm_problem)(m, n, k, **options)
