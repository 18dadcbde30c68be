"""Products of arrays on GPUs, of each library that is there; skipped without a GPU."""

import importlib
import unittest

import numpy

import tilerail as tr
from tilerail import _core


def random_of(library):
    """A function that makes a random matrix on the GPU with this library. Raises SkipTest without library or GPU."""
    try:
        module = importlib.import_module(library)
    except ImportError as error:
        raise unittest.SkipTest(f"no GPU array here: {error}") from None
    if not (module.default_backend() == "gpu" if library == "jax" else module.cuda.is_available()):
        raise unittest.SkipTest(f"no GPU for {library} here")
    if library == "torch":
        return lambda m, n: module.randn(m, n, device="cuda")
    if library == "cupy":
        return lambda m, n: module.random.standard_normal((m, n))
    return lambda m, n: module.numpy.asarray(numpy.random.default_rng(m).normal(size=(m, n)).astype("f"))


def on_host(array):
    return numpy.asarray(array.cpu() if hasattr(array, "cpu") else array.get() if hasattr(array, "get") else array)


class OnlyCudaInterface:
    """An array as Numba has it, without DLPack."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, tuple(array.shape), array.dtype

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


@unittest.skipIf(_core.cublas is None, "this build has no CUDA part")
class GpuArrayTest(unittest.TestCase):
    def check(self, c, a, b):
        self.assertLess(numpy.abs(on_host(c) - on_host(a).astype(float) @ on_host(b).astype(float)).max(), 1e-3)

    def test_arrays_of_each_library(self):
        for library in ("cupy", "torch", "jax"):
            with self.subTest(library):
                random = random_of(library)
                a, b = random(700, 300), random(300, 500)
                c = tr.gemm(a, b)
                self.assertIs(type(c), type(a))
                self.assertEqual(c.__dlpack_device__(), a.__dlpack_device__())
                self.check(c, a, b)
                with tr.Gemm(a, b) as specified:
                    specified.plan()
                    self.check(specified.execute(), a, b)

    def test_the_cuda_array_interface(self):
        random = random_of("torch")
        a, b, c = random(70, 30), random(30, 50), random(70, 50)
        tr.gemm(*map(OnlyCudaInterface, (a, b, c)))
        self.check(c, a, b)
        tr.gemm(*map(OnlyCudaInterface, (b.T, a.T, c.T)))
        self.check(c, a, b)

    def test_a_stream_orders_the_product_after_its_work(self):
        random = random_of("torch")
        import torch
        a, b, c = random(2000, 2000), random(2000, 2000), random(2000, 2000)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        for given in (stream, stream.cuda_stream):
            with torch.cuda.stream(stream):
                torch.cuda._sleep(200_000_000)
                a += 1
            tr.gemm(a, b, c, stream=given)
            self.assertLess((c - a @ b).abs().max().item(), 0.1)


if __name__ == "__main__":
    unittest.main()
