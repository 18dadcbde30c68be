"""Products of arrays on GPUs, of each library that is there; skipped without a GPU."""

import importlib
import unittest

import numpy

import tilerail as tr


def on_gpu(library):
    """The library, and what makes a random array on the GPU with it. Raises SkipTest."""
    try:
        module = importlib.import_module(library)
        if library == "cupy":
            module.cuda.runtime.getDeviceCount()
            return lambda m, n: module.random.standard_normal((m, n))
        if library == "torch":
            return lambda m, n: module.randn(m, n, device="cuda")
        device = module.devices("gpu")[0]
        return lambda m, n: module.device_put(numpy.random.default_rng(m).normal(size=(m, n)).astype("f"), device)
    except Exception as error:  # each library has errors of its own
        raise unittest.SkipTest(f"no GPU for {library} here: {error}") from None


def on_host(array):
    return numpy.asarray(array.cpu() if hasattr(array, "cpu") else array.get() if hasattr(array, "get") else array)


class GpuArrayTest(unittest.TestCase):
    def product(self, library):
        random = on_gpu(library)
        a, b = random(700, 300), random(300, 500)
        try:
            c = tr.gemm(a, b, alpha=2)
        except tr.HardwareError as error:
            self.skipTest(str(error))
        self.assertIs(type(c), type(a))
        expected = 2 * on_host(a).astype(float) @ on_host(b).astype(float)
        self.assertLess(numpy.abs(on_host(c) - expected).max(), 2e-3)

    def test_cupy(self):
        self.product("cupy")

    def test_torch(self):
        self.product("torch")

    def test_jax(self):
        self.product("jax")


if __name__ == "__main__":
    unittest.main()
