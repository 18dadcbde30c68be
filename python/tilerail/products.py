"""Products of arrays on threads of this computer, or on the GPUs that hold them."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from . import _core
from .errors import InputError

Array = Any  # NumPy, CuPy, PyTorch, JAX: anything with DLPack


def _new_c(a: Array, b: Array) -> tuple[Array, Callable[[Array], Array]]:
    """An array of m x n elements of A's type on A's device, and what makes it an array of A's library."""
    shape = (a.shape[0], b.shape[1])
    library = type(a).__module__.split(".")[0]
    if library == "torch":
        return a.new_empty(shape), _same
    if library in ("jax", "jaxlib"):  # whose own arrays cannot be written to
        import jax
        return import_module("cupy" if _is_on_gpu(a) else "numpy").empty(shape, dtype=a.dtype), jax.dlpack.from_dlpack
    return import_module(library).empty(shape, dtype=a.dtype), _same


def _same(array: Array) -> Array:
    return array


def _is_on_gpu(array: Array) -> bool:
    cuda = 2  # of DLPack
    return getattr(array, "__dlpack_device__", lambda: (0, 0))()[0] == cuda


def _checked(name: str, array: Array) -> Array:
    if len(getattr(array, "shape", ())) != 2:
        raise InputError(f"{name}: an array of two dimensions is expected", name, expected="an array of two dimensions")
    return array


def multiply(a: Array, b: Array, c: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
             threads: int | None = None) -> Array:
    """C = alpha A B + beta C, for 2-D arrays of one type: float64, float32, float16 or bfloat16.

    ``c``: an array that is overwritten, which must overlap no input; without it a new one is returned. Arrays are not
    copied: rows or columns must be without gaps (slices and transposes are). Arrays on the host are multiplied by
    ``threads`` (default: all cores); if an array is on a GPU, the GPUs of this computer multiply, and the call returns
    after the result is stored. Raises InputError, and HardwareError if this build has no CUDA part.
    """
    _checked("A", a), _checked("B", b)
    if c is None and beta != 0:
        raise InputError("beta: without C, 0 is expected", "beta", str(beta), expected="0 without C")
    c, finished = _new_c(a, b) if c is None else (_checked("C", c), _same)
    if any(_is_on_gpu(array) for array in (a, b, c)):
        _core.load_gpu_part()
    _core.multiply(a, b, c, float(alpha), float(beta), len(os.sched_getaffinity(0)) if threads is None else threads)
    return finished(c)


class Gemm:
    """A product that is specified once and executed many times: ``product = Gemm(a, b)``, ``product.execute()``."""

    def __init__(self, a: Array, b: Array, c: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
                 threads: int | None = None):
        self.a, self.b, self.c = _checked("A", a), _checked("B", b), None if c is None else _checked("C", c)
        self.alpha, self.beta, self.threads = alpha, beta, threads

    def execute(self) -> Array:
        """Runs the product and returns C, a new array if none was given. The first call plans; later ones do not."""
        return multiply(self.a, self.b, self.c, alpha=self.alpha, beta=self.beta, threads=self.threads)

    def reset_operands(self, a: Array | None = None, b: Array | None = None, c: Array | None = None, *,
                       alpha: float | None = None, beta: float | None = None) -> None:
        """Other arrays, of the same shapes and types, or other scalars, for later calls."""
        for name, new in (("a", a), ("b", b), ("c", c)):
            old = getattr(self, name)
            if new is None:
                continue
            if old is not None and (tuple(new.shape) != tuple(old.shape) or new.dtype != old.dtype):
                raise InputError(f"{name.upper()}: {tuple(new.shape)} of {new.dtype} differs; expected "
                                 f"{tuple(old.shape)} of {old.dtype}", name.upper(), str(tuple(new.shape)),
                                 expected=f"{tuple(old.shape)} of {old.dtype}")
            setattr(self, name, new)
        self.alpha = self.alpha if alpha is None else alpha
        self.beta = self.beta if beta is None else beta
