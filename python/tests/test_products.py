"""Products of arrays on threads of this computer."""

import itertools
import multiprocessing
import os
import threading
import time
import unittest

import numpy

import tilerail as tr
from support import PackageTest

TOLERANCE = {numpy.float64: 1e-12, numpy.float32: 2e-4, numpy.float16: 0.2}


class ProductTest(PackageTest):
    def setUp(self):
        self.random = numpy.random.default_rng(5)

    def array(self, shape, dtype=numpy.float64, order="C"):
        return numpy.asarray(self.random.uniform(-1, 1, shape).astype(dtype), order=order)

    def assert_near(self, found, expected, name=""):
        numpy.testing.assert_allclose(found, expected, atol=1e-12, err_msg=name)

    def test_all_types_and_orders(self):
        for dtype, orders in itertools.product(TOLERANCE, itertools.product("CF", repeat=3)):
            a, b, c = (self.array(shape, dtype, order) for shape, order in zip(((70, 45), (45, 33), (70, 33)), orders))
            expected = 0.5 * a.astype(float) @ b.astype(float) - 2 * c.astype(float)
            self.assertIs(tr.gemm(a, b, c, alpha=0.5, beta=-2), c)
            self.assertLess(numpy.abs(c - expected).max(), TOLERANCE[dtype], (dtype, orders))

    def test_slices_vectors_and_transposes(self):
        whole = self.array((90, 80))
        views = {"slices": (whole[10:40, 5:30], whole[20:45, 30:70]), "transposes": (whole.T[3:20], whole[:, :9]),
                 "one row": (whole[:1], whole[:80, :7]), "one column": (whole, whole[:80, 3:4]),
                 "one element": (whole[:1], whole[:80, :1]), "depth 1": (whole[:, :1], whole[:1])}
        for name, (a, b) in views.items():
            self.assert_near(tr.gemm(a, b), a @ b, name)
        c = numpy.full((50, 60), numpy.nan)
        tr.gemm(whole[:30, :20], whole[:20, :25], c[10:40, 20:45])
        self.assert_near(c[10:40, 20:45], whole[:30, :20] @ whole[:20, :25])
        self.assertEqual(numpy.isnan(c).sum(), c.size - 30 * 25, "written outside of C")

    def test_parts_of_one_matrix(self):
        for order in "CF":
            x = self.array((90, 80), order=order)
            a, b, c = x[:50, :20], x[:20, 20:45], x[:50, 45:70]
            expected = a @ b
            tr.gemm(a, b, c)
            self.assert_near(c, expected)
            for overlapping in (x[:50, 44:69], x[:50, 19:44], x[10:60, 5:30]):
                self.refused(lambda: tr.gemm(a, b, overlapping))

    def test_empty_arrays(self):
        self.assertEqual(tr.gemm(self.array((0, 4)), self.array((4, 3))).shape, (0, 3))
        numpy.testing.assert_array_equal(tr.gemm(self.array((2, 0)), self.array((0, 3))), numpy.zeros((2, 3)))

    def test_threads_can_multiply_simultaneously(self):
        pairs = [(self.array((n, 60)), self.array((60, 40))) for n in (30, 30, 50, 70)]
        results = [None] * len(pairs)

        def work(i):
            for _ in range(20):
                results[i] = tr.gemm(*pairs[i], threads=2)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(pairs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for (a, b), c in zip(pairs, results):
            self.assert_near(c, a @ b)

    def test_forked_processes_can_multiply_and_simulate(self):
        a = self.array((40, 40))
        expected = tr.gemm(a, a)
        for of in (lambda: numpy.testing.assert_array_equal(tr.gemm(a, a), expected),
                   lambda: tr.simulate(tr.gemm(512), "two-gpu"),
                   lambda: tr.sweep(tr.gemm(512), "two-gpu", effort="fast", vary={"tile": [128, 256]})):
            child = multiprocessing.get_context("fork").Process(target=of)
            child.start()
            self.addCleanup(child.kill)
            child.join(60)
            self.assertEqual(child.exitcode, 0)

    def test_arrays_that_are_not_aligned_to_their_elements_are_refused(self):
        odd = numpy.zeros(8 * 8 * 8 + 1, numpy.uint8)[1:].view(float).reshape(8, 8)
        self.refused(lambda: tr.gemm(odd, numpy.ones((8, 1))), "A: is not aligned to its elements")
        self.refused(lambda: tr.gemm(numpy.ones((1, 8)), odd), "B: is not aligned")
        numpy.testing.assert_array_equal(tr.gemm(odd.copy(), numpy.ones((8, 1))), numpy.zeros((8, 1)))

    def test_threads_of_earlier_calls_end(self):
        def threads_after(counts):
            for count in counts:
                tr.gemm(numpy.eye(8), numpy.eye(8), threads=count)
            return len(os.listdir("/proc/self/task"))

        one, many, end = threads_after([1]), threads_after(range(2, 12)), time.monotonic() + 30
        while many > one + 10 and time.monotonic() < end:  # /proc can still list ended threads
            many = len(os.listdir("/proc/self/task"))
        self.assertLessEqual(many, one + 10)

    def test_a_product_is_executed_many_times(self):
        a, b, other = self.array((40, 50)), self.array((50, 60)), self.array((40, 50))
        product = tr.Gemm(a, b)
        first = product.execute()
        product.reset_operands(a=other, alpha=2)
        self.assert_near(product.execute(), 2 * other @ b)
        self.assert_near(first, a @ b)
        self.refused(lambda: product.reset_operands(a=self.array((41, 50))), "A: .* differs")

    def test_plans_can_be_made_before_arrays_have_values(self):
        a, b, c = numpy.empty((40, 50)), numpy.empty((50, 60)), numpy.full((40, 60), 7.0)
        with tr.Gemm(a, b, c, beta=1) as product:
            product.plan()
            self.assertTrue((c == 7).all())
            a[:], b[:] = self.array(a.shape), self.array(b.shape)
            self.assertIs(product.execute(), c)
            self.assert_near(c, a @ b + 7)
        self.refused(product.execute)

    def test_subclasses_and_read_only_inputs_are_arrays(self):
        class Named(numpy.ndarray):
            pass

        a, b, c = self.array((4, 5)).view(Named), self.array((5, 6)), numpy.zeros((4, 6)).view(Named)
        b.flags.writeable = False
        self.assertIs(tr.gemm(a, b, c), c)
        for found in (c, tr.gemm(a, b)):
            self.assert_near(found, numpy.asarray(a) @ b)

    def test_a_scalar_of_one_call_is_not_another_ones(self):
        a, b = self.array((30, 20)), self.array((20, 10))
        for alpha in (1, 3, 0, -2):
            self.assert_near(tr.gemm(a, b, alpha=alpha), alpha * (a @ b))

    def test_other_arrays_are_refused(self):
        a, b, read_only = self.array((4, 5)), self.array((5, 6)), numpy.zeros((4, 6))
        read_only.flags.writeable = False
        wrong = {"rows": (a, self.array((6, 6))), "types": (a, b.astype(numpy.float32)),
                 "integers": (a.astype(int), b.astype(int)), "vectors": (a, b[0]), "gaps": (a[:, ::2], b[:3]),
                 "reversed": (a[:, ::-1], b), "shape of C": (a, b, numpy.zeros((6, 4))),
                 "C is A": (self.array((5, 5)),) * 3}
        for name, arrays in wrong.items():
            with self.subTest(name):
                self.refused(lambda: tr.gemm(*arrays))
        for arrays in ((a.astype(">f8"), b), (a, b, numpy.zeros((4, 6), ">f8"))):
            self.refused(lambda: tr.gemm(*arrays), "[AC]: '>f8' is its type; expected the byte order")
        self.refused(lambda: tr.gemm(a, b, read_only), "C: .* is not an array that can be written to")
        self.refused(lambda: tr.gemm(a, b, beta=1), subject="beta")
        self.refused(lambda: tr.gemm(a, b, threads=0), subject="threads")


if __name__ == "__main__":
    unittest.main()
