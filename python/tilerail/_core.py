"""The native module. Its GPU part is loaded by the first use of a GPU, so that the package works without CUDA."""

import ctypes
import importlib.util
import os
import sys
from functools import lru_cache
from pathlib import Path

from .errors import HardwareError

_flags = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_LAZY)  # its calls of cuBLAS are resolved when they are made
try:
    from ._native import *  # noqa: F403
    from ._native import __version__, cublas
finally:
    sys.setdlopenflags(_flags)


def _cublas_files() -> list[str]:
    """As the loader finds it, then of the packages nvidia-cublas, then of a CUDA toolkit."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [] if spec else [])]
    found = [str(file) for folder in folders for file in sorted(folder.glob(f"*/lib/{cublas}"))]
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    return [cublas, *found, *(str(toolkit / lib / cublas) for lib in ("lib64", "lib"))]


@lru_cache
def load_gpu_part() -> None:
    """Raises HardwareError if this build has no CUDA part, or if cuBLAS is missing."""
    if cublas is None:
        raise HardwareError("this build of the package has no CUDA part; build it where nvcc is installed")
    for file in _cublas_files():
        try:
            ctypes.CDLL(file, ctypes.RTLD_GLOBAL)
            return
        except OSError:
            continue
    raise HardwareError(f"{cublas} is missing; install CUDA or the package nvidia-cublas")
