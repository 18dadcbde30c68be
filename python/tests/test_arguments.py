"""Wrong arguments: every public function takes them or raises InputError, and nothing else."""

import inspect
import itertools
import os
import pickle
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import pandas
from matplotlib import pyplot

import tilerail as tr
from support import NVIDIA_SMI, PackageTest

HUGE = 10**5000  # whose repr is an error
WRONG = (None, True, -1, 0, 3.5, float("nan"), 2**70, HUGE, "", "text", "\udcff", "a\nb", b"bytes", [], [None], {},
         {3: 4}, object(), numpy.zeros((2, 2), int), numpy.ma.zeros((4, 4)), pandas.DataFrame({"a": [1]}))


class EveryArgumentTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)  # some wrong paths are names of files there
        self.plan = self.result.plan
        self.made = {"problem": tr.gemm(64), "machine": self.machine, "effort": "fast"}

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

    def refuse_all(self, function):
        for number, wrong in enumerate(WRONG):
            with self.subTest(number=number), self.assertRaises(tr.InputError):
                function(wrong)

    def test_of_machines(self):
        (self.folder / "smi.txt").write_text(NVIDIA_SMI)
        self.check(tr.machine, name="two-gpu")
        self.check(tr.machine.new, gpus=2, kernels="h200", name="two", sockets=1, islands=1, per_uplink=1, pcie=5,
                   nvlink=450, host_memory=100)
        self.check(tr.machine.import_, kernels="h200", nvidia_smi="smi.txt", name="two", pcie=5, nvlink=25, c2c=300,
                   host_memory=100, socket_link=50)
        self.check(tr.machine.from_toml, text=self.machine.to_toml(), name="place")
        self.check(self.machine.set, key="gpus", value=1)
        self.check(self.machine.without, link="link:gpu0<->gpu1")
        self.check(self.machine.save, path="machine.toml")

    def test_of_problems(self):
        self.check(tr.gemm, m=64, n=64, k=64, dtype="f32", transa="N", transb="T", alpha=1, beta=0, place="h:h:h",
                   lda=64, ldb=64, ldc=64)
        self.check(tr.gemv, m=64, n=64, dtype="f64", transa="N", alpha=1, beta=0, place=["h", "h", "h"])
        self.check(tr.dot, n=64, dtype="f64", place="h:h")
        self.check(tr.axpy, n=64, dtype="f64", alpha=1, place="h:h")

    def test_of_plans_and_results(self):
        made = self.made | {"policy": "tilerail", "tile": 32, "devices": "all", "options": {"routing": "initial"}}
        self.check(tr.plan, plan_cache="", **made)
        self.check(tr.simulate, simulator="fluid", **made)
        self.check(self.plan.save, path="plan.json")
        self.check(tr.load_plan, path="plan.json", machine=self.machine)
        self.check(self.result.save, path="timeline.csv")
        self.check(tr.compare, predicted=self.result, measured=self.result)
        self.check(tr.run, problem=self.plan, backend="host", iterations=1, warmup=0, seed=1, check=False,
                   energy_seconds=0)

    def test_of_studies(self):
        with ThreadPoolExecutor(1) as executor:
            self.check(tr.sweep, vary={"tile": [32, 64]}, executor=executor, chunk=1, **self.made)
        for key in ("tile", ("transa", "transb")):
            self.refuse_all(lambda values: tr.sweep(vary={key: values}, **self.made))
        self.check(tr.whatif, only=["link:gpu0->gpu1"], each=True, threads=1, **self.made)

    def test_of_calibrations(self):
        for name in ("backend", "devices", "workers", "name"):
            self.refuse_all(lambda wrong: tr.calibrate(seconds=-1, **{name: wrong}))

    def test_of_arrays(self):
        a, b, c = (numpy.ones((4, 4)) for _ in range(3))
        self.check(tr.gemm, m=a, n=b, k=c, alpha=1, beta=1, threads=1, stream=None)
        self.check(tr.Gemm, a=a, b=b, c=c, alpha=1, beta=1)
        self.check(tr.Gemm(a, b, c).reset_operands, a=a, b=b, c=c, alpha=1, beta=1)

    def test_of_figures(self):
        ax = pyplot.figure().add_subplot()
        self.addCleanup(pyplot.close, "all")
        self.result.save("timeline.csv")
        self.check(tr.plot.read_timeline, path="timeline.csv")
        self.check(tr.plot.gantt, timeline=self.result, ax=ax, span=1e-3, title="title")
        self.check(tr.plot.compare, predicted=self.result, measured="timeline.csv", axes=(ax, ax))
        self.check(tr.plot.sweep, table=tr.sweep(vary={"tile": [32, 64]}, **self.made), ax=ax)
        self.check(tr.plot.tornado, table=tr.whatif(only=["link:gpu0->gpu1"], **self.made), ax=ax)
        self.check(tr.plot.machine, machine=self.machine, ax=ax, use=self.result)
        self.check(tr.plot.layout, machine=self.machine)

    def test_no_function_is_left_out(self):
        tested = inspect.getsource(type(self))
        functions = {f"tr.{name}" for name in tr.__all__ if inspect.isfunction(getattr(tr, name))}
        functions |= {f"tr.plot.{name}" for name, value in inspect.getmembers(tr.plot, inspect.isfunction)
                      if value.__module__ == "tilerail.plot" and not name.startswith("_")}
        self.assertEqual({name for name in functions if f"self.check({name}," not in tested}, {"tr.calibrate"})


class NamedFaultTest(PackageTest):
    def test_fields_name_subject_and_value(self):
        problem, machine, plan = tr.gemm(1024), self.machine, self.result.plan
        for call, subject, value in (
                (lambda: tr.machine("nope"), "topology", "nope"),
                (lambda: tr.simulate(tr.gemm("16X"), machine), "gemm", "16X"),
                (lambda: tr.gemm(True), "gemm", "True"),
                (lambda: tr.gemm(1, 2), "gemm", None),
                (lambda: tr.gemm([[1.0]], [[1.0]]), "gemm", None),
                (lambda: tr.simulate(3, machine), "problem", "3"),
                (lambda: tr.simulate(problem), "machine", None),
                (lambda: tr.simulate(plan, policy="gemmex"), "plan", None),
                (lambda: tr.simulate(problem, machine, simulator="x"), "simulator", "x"),
                (lambda: tr.simulate(problem, machine, devices=[0, 7]), "devices", "7"),
                (lambda: tr.simulate(problem, machine, tile=-1), "tile", "-1"),
                (lambda: tr.simulate(problem, machine, options={"gemm": "2K"}), "options", "gemm"),
                (lambda: tr.plan(problem, machine, options={"gpus": 1}), "options", "gpus"),
                (lambda: tr.run(problem, machine, iterations=0), "iterations", "0"),
                (lambda: tr.run(problem, machine, warmup=-1), "warmup", "-1"),
                (lambda: tr.whatif(problem, machine, only="nothing"), "only", "nothing"),
                (lambda: tr.calibrate(backend="cuda", workers=2), "workers", "2"),
                (lambda: tr.machine.new(gpus=0, kernels="h200"), "gpus", "0"),
                (lambda: tr.machine.new(gpus=4, kernels="h200", per_uplink=3), "per_uplink", "3")):
            self.refused(call, subject=subject, value=value)
        for call, subject, value, fault in (
                (lambda: tr.calibrate(name="a\nb"), "name", "a\nb", "is not a name"),
                (lambda: tr.whatif(problem, machine, threads=2**40), "threads", str(2**40), "is out of range"),
                (lambda: tr.machine.import_(kernels="h200"), "file", None, "is missing"),
                (lambda: self.result.save("x.svg"), "path", "x.svg", "has an unknown extension")):
            self.refused(call, fault, subject=subject, value=value)
        for name in ("nvidia_smi", "nccl", "nvbandwidth", "p2p", "pcie"):
            self.refused(lambda: tr.machine.import_(kernels="h200", **{name: ""}), "is empty", subject=name, value="")

    def test_unknown_arguments_and_fields_name_similar_ones(self):
        problem, machine, array = tr.gemm(64), self.machine, numpy.ones((4, 4))
        for call, subject, value, expected in (
                (lambda: tr.gemm(64, dtyp="f32"), "argument", "dtyp", "dtype"),
                (lambda: tr.gemm(array, array, thread=1), "argument", "thread", "threads"),
                (lambda: tr.simulate(problem, machine, simulatr="sim"), "argument", "simulatr", "simulator"),
                (lambda: tr.run(problem, machine, device=0), "argument", "device", "devices"),
                (lambda: tr.plan(problem, machine, options={"routng": "eta"}), "options", "routng", "routing"),
                (lambda: tr.plan(problem, machine, options={"tile": 32}), "options", "tile", "an argument of its own"),
                (lambda: tr.simulate(problem, machine, order="eta"), "argument", "order", "options={'order': ...}")):
            self.refused(call, subject=subject, value=value, expected=expected)

    def test_an_array_without_dimensions_is_a_number(self):
        self.assertEqual(tr.plan(tr.gemm(64), self.machine, effort="fast", devices=numpy.array(1)).processors, ["gpu1"])

    def test_files_that_cannot_be_read_or_written_are_named(self):
        for path in (self.folder, self.folder / "none.toml"):
            self.refused(lambda: tr.load_plan(path, self.machine), str(path))
            self.refused(lambda: tr.machine(path), str(path))
        for path in (self.folder, self.folder / "none" / "m.toml"):
            self.refused(lambda: self.machine.save(path), str(path))

    def test_the_text_is_composed_of_the_fields(self):
        for fields, text in {("tile", "-1", "is out of range", "at least 1", "f:3"):
                             "f:3: tile: '-1' is out of range; expected at least 1",
                             ("tile", "x", "", "a number"): "tile: 'x' is not a number",
                             ("name", "a\nb\udcff", "is no name"): "name: 'a\\x0ab\\udcff' is no name"}.items():
            self.assertEqual(str(tr.InputError(*fields)), text)

    def test_missing_hardware_is_another_error(self):
        with self.assertRaises(tr.HardwareError):  # no computer has 300 GPUs
            machine = tr.machine.new(gpus=300, kernels="h200")
            tr.run(tr.gemm(1024), machine, backend="cuda", effort="fast", devices=[299])


if __name__ == "__main__":
    unittest.main()
