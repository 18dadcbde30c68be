"""Problems: products of matrices and vectors, by sizes and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .errors import InputError
from .texts import Value, list_of, text_of, texts_of


@dataclass(frozen=True)
class Problem:
    """A routine and its sizes, as ``gemm``, ``gemv``, ``dot`` or ``axpy`` make it."""

    texts: Mapping[str, str]  #: by option of the command

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", MappingProxyType(dict(self.texts)))

    def __reduce__(self):  # a proxy cannot be pickled
        return Problem, (dict(self.texts),)

    def __hash__(self) -> int:
        return hash(frozenset(self.texts.items()))

    def __str__(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.texts.items())


Place = str | Sequence[str | int]


def _place(place: Place | None) -> str | None:
    return None if place is None else ":".join(text_of(part, "place") for part in list_of(place))


def gemm_problem(m: Value, n: Value | None = None, k: Value | None = None, *, dtype: str = "f64", transa: str = "N",
                 transb: str = "N", alpha: Value = 1, beta: Value = 1, place: Place | None = None,
                 lda: int | None = None, ldb: int | None = None, ldc: int | None = None) -> Problem:
    """C = alpha op(A) op(B) + beta C, with C of m x n and op(A) of m x k elements.

    Sizes are numbers or texts such as "16K"; one size is a cube. ``dtype``: "f64", "f32", "tf32", "f16" or "bf16".
    ``transa``, ``transb``: "N" or "T". ``place``: the memories of A, B and C, such as "h:h:h" or ["gpu0", "h", "h"].
    ``lda``, ``ldb``, ``ldc``: leading dimensions, in elements. Raises InputError for other types; values are checked
    when the problem is planned.
    """
    if (n is None) != (k is None):
        raise InputError("gemm", None, "has two sizes", "one or three sizes")
    sizes = (m,) if n is None else (m, n, k)
    return Problem(texts_of(dict(
        gemm=",".join(text_of(size, "gemm") for size in sizes), dtype=dtype, transa=transa, transb=transb, alpha=alpha,
        beta=beta, place=_place(place), lda=lda, ldb=ldb, ldc=ldc)))


def gemv(m: Value, n: Value, *, dtype: str = "f64", transa: str = "N", alpha: Value = 1, beta: Value | None = None,
         place: Place | None = None) -> Problem:
    """y = alpha op(A) x + beta y; A as stored has m x n elements. ``place``: of A, x and y. Raises InputError."""
    return Problem(texts_of(dict(gemv=f"{text_of(m, 'gemv')},{text_of(n, 'gemv')}", dtype=dtype, transa=transa,
                                 alpha=alpha, beta=beta, place=_place(place))))


def dot(n: Value, *, dtype: str = "f64", place: Place | None = None) -> Problem:
    """x . y of n elements, to the host. ``place``: of x and y. Raises InputError."""
    return Problem(texts_of(dict(dot=text_of(n, "dot"), dtype=dtype, place=_place(place))))


def axpy(n: Value, *, dtype: str = "f64", alpha: Value = 1, place: Place | None = None) -> Problem:
    """y = alpha x + y of n elements. ``place``: of x and y. Raises InputError."""
    return Problem(texts_of(dict(axpy=text_of(n, "axpy"), dtype=dtype, alpha=alpha, place=_place(place))))
