"""``tilerail.gemm``: a problem of these sizes, or the product of these arrays."""

from __future__ import annotations

from typing import Any, overload

from .problems import Problem, gemm_problem
from .products import Array, multiply
from .texts import Value, check_names


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
    function, of = (multiply, "arrays") if getattr(m, "shape", ()) else (gemm_problem, "sizes")
    check_names(options, function.__kwdefaults__, f"gemm with {of}")
    return function(m, n, k, **options)
