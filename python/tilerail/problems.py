"""Problems: products of matrices and vectors, by sizes and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import InputError
from .texts import Value, text_of, texts_of


@dataclass(frozen=True)
class Problem:
    """A routine and its sizes, as ``gemm``, ``gemv``, ``dot`` or ``axpy`` make it."""

    texts: dict[str, str] = field(hash=False)  #: by option of the command

    def __str__(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.texts.items())


Place = str | Sequence[str | int]


def _place(place: Place | None) -> str | None:
    if place is None or isinstance(place, str):
        return place
    return ":".join(text_of(part, "place") for part in place)


def gemm_problem(m: Value, n: Value | None = None, k: Value | None = None, *, dtype: str = "f64", transa: str = "N",
                 transb: str = "N", alpha: Value = 1, beta: Value = 1, place: Place | None = None,
                 lda: int | None = None, ldb: int | None = None, ldc: int | None = None) -> Problem:
    """C = alpha op(A) op(B) + beta C, with C of m x n elements; sizes can be texts such as "16K"."""
    if (n is None) != (k is None):
        raise InputError("gemm: one or three sizes are expected", "gemm", expected="one or three sizes")
    sizes = (m,) if n is None else (m, n, k)
    return Problem(texts_of(gemm=",".join(text_of(size, "gemm") for size in sizes), dtype=dtype, transa=transa,
                            transb=transb, alpha=alpha, beta=beta, place=_place(place), lda=lda, ldb=ldb, ldc=ldc))


def gemv(m: Value, n: Value, *, dtype: str = "f64", transa: str = "N", alpha: Value = 1, beta: Value | None = None,
         place: Place | None = None) -> Problem:
    """y = alpha op(A) x + beta y; A as stored has m x n elements. ``place``: of A, x and y."""
    return Problem(texts_of(gemv=f"{text_of(m, 'gemv')},{text_of(n, 'gemv')}", dtype=dtype, transa=transa,
                            alpha=alpha, beta=beta, place=_place(place)))


def dot(n: Value, *, dtype: str = "f64", place: Place | None = None) -> Problem:
    """x . y of n elements, to the host. ``place``: of x and y."""
    return Problem(texts_of(dot=n, dtype=dtype, place=_place(place)))


def axpy(n: Value, *, dtype: str = "f64", alpha: Value = 1, place: Place | None = None) -> Problem:
    """y = alpha x + y of n elements. ``place``: of x and y."""
    return Problem(texts_of(axpy=n, dtype=dtype, alpha=alpha, place=_place(place)))
