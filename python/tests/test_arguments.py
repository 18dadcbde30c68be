"""Wrong arguments: every public function takes them or raises InputError, and nothing else."""

import inspect
import itertools
import os
import pickle
import tempfile
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy
import pandas

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

import tilerail as tr  # noqa: E402

HUGE = 10**5000  # whose repr is an error
WRONG = (None, True, -1, 0, 3.5, float("nan"), 2**70, HUGE, "", "text", "\udcff", "a\nb", b"bytes", [], [None], {},
         {3: 4}, object(), numpy.zeros((2, 2), int), numpy.ma.zeros((4, 4)), pandas.DataFrame({"a": [1]}))


class EveryArgumentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.folder)  # some wrong paths are names of files there
        cls.problem, cls.machine = tr.gemm(64), tr.machine("two-gpu")
        cls.plan = tr.plan(cls.problem, cls.machine, effort="fast")
        cls.result = tr.simulate(cls.plan)
        cls.plan.save(cls.folder / "plan.json")
        cls.topology = cls.folder / "smi.txt"
        cls.topology.write_text("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                                "GPU0\t X \tPHB\t0-15\t2\t\tN/A\nGPU1\tPHB\t X \t0-15\t2\t\tN/A\n")

    def check(self, function, **right):
        """Replaces one argument after another by each wrong value."""
        function(**right)
        for name, (number, wrong) in itertools.product(right, enumerate(WRONG)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(**right | {name: wrong})
                except tr.InputError as error:
                    str(error).encode()
                    self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
                except Exception as error:
                    self.fail(f"{function}: {name} = WRONG[{number}]: {type(error).__name__}: {error}")

    def test_of_machines(self):
        self.check(tr.machine, name="two-gpu")
        self.check(tr.machine.new, gpus=2, kernels="h200", name="two", sockets=1, islands=1, per_uplink=1, pcie=5,
                   nvlink=450, host_memory=100)
        self.check(tr.machine.import_, kernels="h200", nvidia_smi=self.topology, name="two", pcie=5, nvlink=25, c2c=300,
                   host_memory=100, socket_link=50)
        self.check(tr.machine.from_toml, text=self.machine.to_toml(), name="place")
        self.check(self.machine.set, key="gpus", value=1)
        self.check(self.machine.without, link="link:gpu0<->gpu1")
        self.check(self.machine.save, path=self.folder / "machine.toml")

    def test_of_problems(self):
        self.check(tr.gemm, m=64, n=64, k=64, dtype="f32", transa="N", transb="T", alpha=1, beta=0, place="h:h:h", lda=64,
                   ldb=64, ldc=64)
        self.check(tr.gemv, m=64, n=64, dtype="f64", transa="N", alpha=1, beta=0, place=["h", "h", "h"])
        self.check(tr.dot, n=64, dtype="f64", place="h:h")
        self.check(tr.axpy, n=64, dtype="f64", alpha=1, place="h:h")

    def test_of_plans_and_results(self):
        made = {"problem": self.problem, "machine": self.machine, "policy": "tilerail", "effort": "fast", "tile": 32,
                "devices": "all", "options": {"routing": "initial"}}
        self.check(tr.plan, plan_cache="", **made)
        self.check(tr.simulate, simulator="fluid", **made)
        self.check(tr.load_plan, path=self.folder / "plan.json", machine=self.machine)
        self.check(self.plan.save, path=self.folder / "plan.json")
        self.check(self.result.save, path=self.folder / "timeline.csv")
        self.check(tr.compare, predicted=self.result, measured=self.result)
        self.check(tr.run, problem=self.plan, backend="host", iterations=1, warmup=0, seed=1, check=False,
                   energy_seconds=0)

    def test_of_studies(self):
        with ThreadPoolExecutor(1) as executor:
            self.check(tr.sweep, problem=self.problem, machine=self.machine, effort="fast", vary={"tile": [32, 64]},
                       executor=executor, chunk=1)
        for key in ("tile", ("transa", "transb")):
            for number, values in enumerate(WRONG):
                with self.subTest(key, number=number), self.assertRaises(tr.InputError):
                    tr.sweep(self.problem, self.machine, effort="fast", vary={key: values})
        self.check(tr.whatif, problem=self.problem, machine=self.machine, effort="fast", only=["link:gpu0->gpu1"],
                   each=True, threads=1)

    def test_of_calibrations(self):
        for name in ("backend", "devices", "workers", "name"):
            for number, wrong in enumerate(WRONG):
                with self.subTest(name, number=number), self.assertRaises(tr.InputError):
                    tr.calibrate(seconds=-1, **{name: wrong})

    def test_of_arrays(self):
        a, b, c = (numpy.ones((4, 4)) for _ in range(3))
        self.check(tr.gemm, m=a, n=b, k=c, alpha=1, beta=1, threads=1, stream=None)
        self.check(tr.Gemm, a=a, b=b, c=c, alpha=1, beta=1)
        self.check(tr.Gemm(a, b, c).reset_operands, a=a, b=b, c=c, alpha=1, beta=1)

    def test_of_figures(self):
        ax = pyplot.figure().add_subplot()
        self.addCleanup(pyplot.close, "all")
        self.result.save("timeline.csv")
        made = {"problem": self.problem, "machine": self.machine, "effort": "fast"}
        self.check(tr.plot.read_timeline, path="timeline.csv")
        self.check(tr.plot.gantt, timeline=self.result, ax=ax, span=1e-3, title="title")
        self.check(tr.plot.compare, predicted=self.result, measured="timeline.csv", axes=(ax, ax))
        self.check(tr.plot.sweep, table=tr.sweep(vary={"tile": [32, 64]}, **made), ax=ax)
        self.check(tr.plot.tornado, table=tr.whatif(only=["link:gpu0->gpu1"], **made), ax=ax)
        self.check(tr.plot.machine, machine=self.machine, ax=ax, use=self.result)
        self.check(tr.plot.layout, machine=self.machine)

    def test_no_function_is_left_out(self):
        tested = inspect.getsource(type(self))
        functions = {f"tr.{name}" for name in tr.__all__ if inspect.isfunction(getattr(tr, name))}
        functions |= {f"tr.plot.{name}" for name, value in inspect.getmembers(tr.plot, inspect.isfunction)
                      if value.__module__ == "tilerail.plot" and not name.startswith("_")}
        self.assertEqual({name for name in functions if f"self.check({name}," not in tested}, {"tr.calibrate"})


class NamedFaultTest(unittest.TestCase):
    def refused(self, call, subject, value, problem=""):
        with self.assertRaises(tr.InputError) as caught:
            call()
        error = caught.exception
        self.assertEqual((error.subject, error.value), (subject, value), str(error))
        self.assertIn(problem, error.problem)
        return error

    def test_fields_name_subject_and_value(self):
        problem, machine = tr.gemm(64), tr.machine("two-gpu")
        self.refused(lambda: tr.calibrate(name="a\nb"), "name", "a\nb", "is not a name")
        self.refused(lambda: tr.calibrate(backend="cuda", workers=2), "workers", "2")
        self.refused(lambda: tr.whatif(problem, machine, threads=2**40), "threads", str(2**40), "is out of range")
        self.refused(lambda: tr.whatif(problem, machine, only="nothing"), "only", "nothing")
        self.refused(lambda: tr.machine.new(gpus=4, kernels="h200", per_uplink=3), "per_uplink", "3")
        self.refused(lambda: tr.machine.import_(kernels="h200"), "file", None, "is missing")
        for name in ("nvidia_smi", "nccl", "nvbandwidth", "p2p", "pcie"):
            self.refused(lambda: tr.machine.import_(kernels="h200", **{name: ""}), name, "", "is empty")
        self.refused(lambda: tr.simulate(problem, machine).save("x.svg"), "path", "x.svg", "has an unknown extension")
        self.refused(lambda: tr.run(problem, machine, warmup=-1), "warmup", "-1")
        self.refused(lambda: tr.gemm([[1.0]], [[1.0]]), "gemm", None)

    def test_unknown_arguments_and_fields_name_similar_ones(self):
        problem, machine, array = tr.gemm(64), tr.machine("two-gpu"), numpy.ones((4, 4))
        for call, subject, value, expected in (
                (lambda: tr.gemm(64, dtyp="f32"), "argument", "dtyp", "dtype"),
                (lambda: tr.gemm(array, array, thread=1), "argument", "thread", "threads"),
                (lambda: tr.simulate(problem, machine, simulatr="sim"), "argument", "simulatr", "simulator"),
                (lambda: tr.run(problem, machine, device=0), "argument", "device", "devices"),
                (lambda: tr.plan(problem, machine, options={"routng": "eta"}), "options", "routng", "routing"),
                (lambda: tr.plan(problem, machine, options={"tile": 32}), "options", "tile", "an argument of its own"),
                (lambda: tr.simulate(problem, machine, order="eta"), "argument", "order", "options={'order': ...}")):
            self.assertEqual(self.refused(call, subject, value).expected, expected)
        self.refused(lambda: tr.plan(problem, machine, options={"gpus": 1}), "options", "gpus")

    def test_an_array_without_dimensions_is_a_number(self):
        self.assertEqual(tr.plan(tr.gemm(64), "two-gpu", effort="fast", devices=numpy.array(1)).processors, ["gpu1"])

    def test_pools_that_are_shut_down_are_refused(self):
        pool = ThreadPoolExecutor(1)
        pool.shutdown()
        with self.assertRaisesRegex(tr.InputError, "executor: .* takes no tasks"):
            tr.sweep(tr.gemm(64), "two-gpu", effort="fast", vary={"tile": [32]}, executor=pool)

    def test_files_that_cannot_be_read_or_written_are_named(self):
        machine = tr.machine("two-gpu")
        with tempfile.TemporaryDirectory() as folder:
            for call in (lambda: tr.load_plan(folder, machine), lambda: tr.load_plan(f"{folder}/none", machine),
                         lambda: machine.save(f"{folder}/none/m.toml"), lambda: machine.save(folder),
                         lambda: tr.machine(f"{folder}/none.toml"), lambda: tr.machine(folder)):
                with self.assertRaises(tr.InputError) as caught:
                    call()
                self.assertIn(folder, str(caught.exception))

    def test_the_text_is_composed_of_the_fields(self):
        for fields, text in {("tile", "-1", "is out of range", "at least 1", "f:3"):
                             "f:3: tile: '-1' is out of range; expected at least 1",
                             ("tile", "x", "", "a number"): "tile: 'x' is not a number",
                             ("name", "a\nb\udcff", "is no name"): "name: 'a\\x0ab\\udcff' is no name"}.items():
            self.assertEqual(str(tr.InputError(*fields)), text)


if __name__ == "__main__":
    unittest.main()
