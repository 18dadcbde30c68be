"""``tilerail.gemm``: products of arrays on threads of this computer, or on the GPUs that hold them."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, overload

import numpy

from . import _core
from .errors import InputError
from .problems import Problem, gemm_problem
from .texts import Value, check_names, count_of, number_of, shown

Array = Any  # NumPy, CuPy, PyTorch, JAX: anything with DLPack or __cuda_array_interface__

_CUDA = 2  # of DLPack


def _is_on_gpu(array: Array) -> bool:
    if hasattr(array, "__dlpack_device__"):
        return array.__dlpack_device__()[0] == _CUDA
    return hasattr(array, "__cuda_array_interface__")


def _is_of_jax(array: Array) -> bool:
    return type(array).__module__.split(".")[0] in ("jax", "jaxlib")


def _matrix(name: str, array: Array, written: bool = False) -> Array:
    """The array, of a subclass of NumPy's arrays as a plain one. Raises InputError for other than two dimensions."""
    if isinstance(array, numpy.ma.MaskedArray):
        raise InputError(name, None, "has a mask", "an array without one")
    if written and _is_of_jax(array):
        raise InputError(name, None, "is an array of JAX, which cannot be written to", "another array, or none")
    shape = getattr(array, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not hasattr(array, "dtype"):
        raise InputError(name, shown(array) if shape is None else str(shape), expected="an array of two dimensions")
    if not getattr(array.dtype, "isnative", True):
        raise InputError(name, str(array.dtype), "is its type", "the byte order of this computer")
    return numpy.asarray(array) if isinstance(array, numpy.ndarray) else array


def _new_c(a: Array, b: Array) -> Array:
    """An array of m x n elements of A's type on A's device; for JAX, whose arrays cannot be written to, of another
    library."""
    shape = (a.shape[0], b.shape[1])
    if hasattr(a, "new_empty"):  # of PyTorch
        return a.new_empty(shape)
    library, device = _numpy_or_cupy(a)
    with device:
        return library.empty(shape, a.dtype)


def _numpy_or_cupy(a: Array) -> tuple[ModuleType, AbstractContextManager]:
    """The library that makes an array next to this one, and the device to do that on."""
    if not _is_on_gpu(a):
        return numpy, nullcontext()
    try:
        import cupy
    except ImportError:
        raise InputError("C", None, "is missing, and CuPy is not installed to make it", "an array") from None
    return cupy, cupy.cuda.Device(a.__dlpack_device__()[1] if hasattr(a, "__dlpack_device__") else None)


def _like(a: Array, c: Array) -> Array:
    """The same memory as an array of A's library."""
    if not _is_of_jax(a):
        return c
    import jax

    return jax.dlpack.from_dlpack(c)


def _handle(stream: Any) -> int:
    """The cudaStream_t of an integer or of an object of CUDA Python, CuPy or PyTorch; 0: none."""
    if hasattr(stream, "__cuda_stream__"):
        found = stream.__cuda_stream__
        stream = (found() if callable(found) else found)[1]
    for name in ("ptr", "cuda_stream"):
        stream = getattr(stream, name, stream)
    return 0 if stream is None else count_of(stream, "stream", 0, 2**64 - 1)


def _threads(threads: int | None) -> int:
    return len(os.sched_getaffinity(0)) if threads is None else count_of(threads, "threads", 1, 1024)


def multiply(a: Array, b: Array, c: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
             threads: int | None = None, stream: Any = None) -> Array:
    """C = alpha A B + beta C, for arrays of m x k, k x n and m x n elements of one type.

    The types are float64, float32, float16 and bfloat16. ``c``: an array that is overwritten, which must overlap no
    input; without it a new one is returned. Arrays are not copied: rows or columns must be without gaps (slices and
    transposes are). Arrays on the host are multiplied by ``threads`` (default: all cores); if an array is on a GPU, the
    GPUs of this computer multiply. ``stream``: the CUDA stream whose earlier work comes first, as an integer or an
    object of CUDA Python, CuPy or PyTorch; default: the default streams. The call returns after C is stored. Raises
    InputError, HardwareError if this build has no CUDA part, ExecutionError.
    """
    a, b = _matrix("A", a), _matrix("B", b)
    scalars = number_of(alpha, "alpha"), number_of(beta, "beta")
    _check_scalars(c, scalars[1])
    target = _target(a, b, c)
    _core.multiply(a, b, target, *scalars, _threads(threads), _handle(stream))
    return _like(a, target) if c is None else c


def _target(a: Array, b: Array, c: Array | None) -> Array:
    """The output array. Opens the GPUs if an array is on one."""
    target = _matrix("C", _new_c(a, b) if c is None else c, written=True)
    if any(_is_on_gpu(array) for array in (a, b, target)):
        _core.load_gpu_part()
    return target


def _check_scalars(c: Array | None, beta: float) -> None:
    if c is None and beta != 0:
        raise InputError("beta", shown(beta), "has no C to be multiplied with", "0 without C")


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


class Gemm:
    """A product that is specified once, planned once and executed many times, as in nvmath-python:

        with tilerail.Gemm(a, b) as product:
            product.plan()
            c = product.execute()

    The arguments are those of ``tilerail.gemm`` for arrays.
    """

    def __init__(self, a: Array, b: Array, c: Array | None = None, *, alpha: float = 1.0, beta: float = 0.0,
                 threads: int | None = None, stream: Any = None):
        self.a, self.b = _matrix("A", a), _matrix("B", b)
        self.c = c if c is None else _matrix("C", c, written=True)
        self.alpha, self.beta = number_of(alpha, "alpha"), number_of(beta, "beta")
        self.threads, self.stream = threads, stream

    def plan(self) -> None:
        """Plans for threads, or opens the GPUs, before the first execution. Raises the errors of ``execute``."""
        a, b = _matrix("A", self.a), _matrix("B", self.b)
        _check_scalars(self.c, self.beta)
        _core.prepare(a, b, _target(a, b, self.c), self.alpha, self.beta, _threads(self.threads))

    def execute(self) -> Array:
        """Runs the product and returns C, a new array if none was given. Raises the errors of ``tilerail.gemm``."""
        return multiply(self.a, self.b, self.c, alpha=self.alpha, beta=self.beta, threads=self.threads,
                        stream=self.stream)

    def reset_operands(self, a: Array | None = None, b: Array | None = None, c: Array | None = None, *,
                       alpha: float | None = None, beta: float | None = None) -> None:
        """Other arrays, of the same shapes and types, or other scalars, for later calls. Raises InputError."""
        arrays = {name: _alike(name.upper(), new, getattr(self, name))
                  for name, new in (("a", a), ("b", b), ("c", c)) if new is not None}
        scalars = {name: number_of(new, name) for name, new in (("alpha", alpha), ("beta", beta)) if new is not None}
        vars(self).update(arrays | scalars)

    def free(self) -> None:
        """Forgets the arrays. ``execute`` needs others first."""
        self.a = self.b = self.c = None

    def __enter__(self) -> Gemm:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


def _alike(name: str, new: Array, old: Array | None) -> Array:
    new = _matrix(name, new, written=name == "C")
    if old is not None and (tuple(new.shape) != tuple(old.shape) or new.dtype != old.dtype):
        raise InputError(name, f"{tuple(new.shape)} of {new.dtype}", "differs", f"{tuple(old.shape)} of {old.dtype}")
    return new
