"""The package: machines, plans, results, comparisons, types."""

import ast
import contextlib
import copy
import inspect
import os
import pickle
import re
import textwrap
import unittest
import unittest.mock
from pathlib import Path

import numpy
import pandas

import tilerail as tr
from support import NVIDIA_SMI, PackageTest

NUMBERS = ("bytes", "flops", "start_s", "end_s")  # columns of timelines
FLOPS = 2 * 4096 * 4096 * 2048


def again(value):
    return pickle.loads(pickle.dumps(value))


class MachineTest(PackageTest):
    def test_changes_give_another_machine(self):
        machine = tr.machine("hgx-h200-4")
        faster = machine.set("link:host<->gpu0.bandwidth", "x2")
        before, after = (m.links.set_index("name").bandwidth_bytes_per_s for m in (machine, faster))
        self.assertEqual(after["host->gpu0"], 2 * before["host->gpu0"])
        self.assertEqual(after["host->gpu1"], before["host->gpu1"])
        self.assertNotEqual(machine, faster)
        self.assertEqual(machine, tr.machine("hgx-h200-4"))

    def test_links_can_be_left_out(self):
        whole = tr.machine("clx-ai")
        self.assertEqual(set(whole.links.name) - set(whole.without("link:gpu0<->gpu1").links.name),
                         {"gpu0->gpu1", "gpu1->gpu0"})

    def test_a_new_machine_has_what_it_was_asked_for(self):
        machine = tr.machine.new(gpus=4, kernels="h200", islands=2, nvlink=450, bridge="100 GB/s", name="two")
        self.assertEqual((machine.name, machine.processors), ("two", ["gpu0", "gpu1", "gpu2", "gpu3"]))
        self.assertIn(450e9, set(machine.links.bandwidth_bytes_per_s))

    def test_output_of_other_tools_is_a_machine(self):
        file = self.folder / "topo.txt"
        file.write_text(NVIDIA_SMI)
        machine = tr.machine.import_(nvidia_smi=file, kernels="h200", name="node", nvlink=25)
        self.assertEqual((machine.name, machine.processors), ("node", ["gpu0", "gpu1"]))
        self.assertEqual(machine.links.set_index("name").bandwidth_bytes_per_s["gpu0->gpu1"], 2 * 25e9)

    def test_files_and_pickles_keep_it(self):
        machine = tr.machine("summit-node").set("memory:gpu0.capacity", "1 GB")
        machine.save(self.folder / "m.toml")
        self.assertEqual(tr.machine(self.folder / "m.toml"), machine)
        self.assertEqual(again(machine), machine)

    def test_memories_have_processors(self):
        memories = tr.machine("summit-node").memories.set_index("name")
        self.assertEqual(memories.processor["host0"], "cores0")
        self.assertEqual(memories.kind["gpu5"], "gpu")
        self.assertEqual(memories.capacity_bytes["gpu5"], 16e9)


class ResultTest(PackageTest):
    @classmethod
    def setUpClass(cls):
        cls.problem = tr.gemm(4096, 4096, 2048, beta=0)
        cls.result = tr.simulate(cls.problem, "hgx-h200-4", effort="fast")

    @unittest.skipUnless(os.environ.get("TILERAIL_HAS_SIM", "1") == "1", "this build has no SimGrid")
    def test_both_simulators_agree(self):
        other = tr.simulate(self.result.plan, simulator="sim")
        self.assertEqual((self.result.simulator, other.simulator), ("fluid", "sim"))
        self.assertAlmostEqual(other.makespan / self.result.makespan, 1, delta=1e-9)

    def test_figures_belong_together(self):
        result = self.result
        self.assertAlmostEqual(result.tflops, FLOPS / result.makespan / 1e12, places=6)
        self.assertLess(result.bound, result.makespan)
        self.assertAlmostEqual(result.critical_path.seconds.sum(), result.makespan, places=9)
        self.assertTrue(result.fits)
        self.assertEqual(result.iterations, [])
        longest = result.critical_path.iloc[0]
        self.assertEqual(result.busiest, f"{longest.kind} {longest['name']}")

    def test_tables_of_sweeps_have_the_same_figures(self):
        row = tr.sweep(self.problem, "hgx-h200-4", effort="fast", vary={"beta": [0]}).iloc[0]
        for column, figure in {"makespan_s": "makespan", "tflops": "tflops", "bound_s": "bound", "bound_by": "bound_by",
                               "bottleneck": "bottleneck", "busiest": "busiest", "energy_j": "energy"}.items():
            self.assertEqual(row[column], getattr(self.result, figure), column)

    def test_matrices_that_do_not_fit_are_refused(self):
        small = tr.machine("hgx-h200-4").set("memory:host.capacity", "1 MB")
        self.refused(lambda: tr.simulate(self.problem, small, effort="fast"), "are needed")

    def test_the_timeline_is_the_plans(self):
        timeline = self.result.timeline
        self.assertEqual(len(timeline), len(self.result.plan))
        self.assertEqual(timeline.end_s.max(), self.result.makespan)
        kernels = timeline[timeline.kind == "gemm"]
        self.assertEqual(kernels.flops.sum(), FLOPS)
        self.assertEqual(set(kernels.device), set(self.result.plan.processors))

    def test_columns_are_neither_copied_nor_written_to(self):
        columns = self.result.columns()
        for name in NUMBERS:
            self.assertTrue(numpy.shares_memory(self.result.timeline[name].to_numpy(), columns[name]), name)
        columns["kind"][1].clear()
        for array in (columns["start_s"], columns["kind"][0]):
            with self.assertRaisesRegex(ValueError, "read-only"):
                array[0] = 1
        self.assertTrue(self.result.columns()["kind"][1])

    def test_changes_of_a_timeline_change_no_other_table(self):
        result = tr.simulate(self.result.plan)
        columns, kept = result.columns(), {name: numpy.copy(column[0] if isinstance(column, tuple) else column)
                                           for name, column in result.columns().items()}
        for change in (lambda table: table.loc.__setitem__((0, "end_s"), 99), lambda table: table.end_s.values.fill(99),
                       lambda table: table.kind.cat.codes.values.fill(0), lambda table: table.update(table.end_s + 1)):
            with contextlib.suppress(ValueError):  # "read-only"
                change(result.timeline)
        for found in (columns, result.columns(), pickle.loads(pickle.dumps(result)).columns()):
            for name, column in found.items():
                array = column[0] if isinstance(column, tuple) else column
                numpy.testing.assert_array_equal(array, kept[name], name)
                with self.assertRaises(ValueError):
                    array.flags.writeable = True
        other = result.timeline.copy()
        other.loc[0, "end_s"] = 99
        self.assertEqual(other.end_s[0], 99)

    def test_tables_of_arrow_and_polars_have_the_same_memory(self):
        try:
            import polars
            import pyarrow
        except ImportError as error:
            self.skipTest(str(error))
        columns, table, frame = self.result.columns(), pyarrow.table(self.result), polars.DataFrame(self.result)
        for name in NUMBERS:
            self.assertEqual(table[name].chunk(0).buffers()[1].address, columns[name].ctypes.data, name)
            self.assertTrue(numpy.shares_memory(frame[name].to_numpy(allow_copy=False), columns[name]), name)
        self.assertEqual(table["kind"].chunk(0).indices.buffers()[1].address, columns["kind"][0].ctypes.data)
        for kinds in (table["kind"].to_pylist(), frame["kind"].to_list()):
            self.assertEqual(kinds, list(self.result.timeline.kind))

    def test_files_keep_plans_and_timelines(self):
        self.result.plan.save(self.folder / "plan.json")
        self.result.save(self.folder / "timeline.csv")
        plan = tr.load_plan(self.folder / "plan.json", "hgx-h200-4")
        attrs = tr.plot.read_timeline(self.folder / "timeline.csv").attrs
        self.assertEqual({plan.hash, attrs["plan_hash"], again(plan).hash}, {self.result.plan.hash})

    def test_the_example_of_the_readme_runs(self):
        text = (Path(__file__).resolve().parents[2] / "README.md").read_text()
        code = re.search(r"(?ms)^    import numpy\n.*?(?=^\S)", text)[0]
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        names = {}
        exec(textwrap.dedent(code), names)
        self.assertGreater((self.folder / "sweep.png").stat().st_size, 1000)
        numpy.testing.assert_array_equal(names["C"], 1000)

    def test_a_plan_is_simulated_on_changed_machines(self):
        slower = tr.machine("hgx-h200-4").set("link:host<->*.bandwidth", "x0.5")
        result = tr.simulate(self.result.plan, slower)
        self.assertEqual((result.plan.hash, result.plan.machine.name), (self.result.plan.hash, slower.name))
        self.assertGreater(result.makespan, self.result.makespan)
        self.assertEqual(tr.simulate(self.result.plan, self.result.plan.machine).makespan, self.result.makespan)
        self.refused(lambda: tr.simulate(self.result.plan, "two-gpu"))
        self.refused(lambda: tr.simulate(self.result.plan, slower, tile=512), "plan: is given with a policy")

    def test_pickles_keep_results(self):
        kept = again(self.result)
        self.assertEqual(str(kept), str(self.result))
        for figure in ("summary", "makespan", "fits", "simulator"):
            self.assertEqual(getattr(kept, figure), getattr(self.result, figure))
        pandas.testing.assert_frame_equal(kept.timeline, self.result.timeline)
        comparison = tr.compare(kept, self.result)
        self.assertEqual(comparison.error, 0)
        self.assertEqual(again(comparison).summary, comparison.summary)

    def test_equal_problems_have_equal_hashes(self):
        self.assertEqual(len({tr.gemm(64), tr.gemm(64), tr.gemm("64"), tr.gemm(128), tr.dot(64)}), 3)

    def test_a_problem_cannot_be_changed(self):
        problem, texts = tr.gemm(64), {"gemm": "64"}
        with self.assertRaises(TypeError):
            problem.texts["gemm"] = "128"
        made = tr.Problem(texts)
        texts["gemm"] = "128"
        self.assertEqual(made, tr.Problem({"gemm": "64"}))
        self.assertEqual({problem}, {pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)})

    def test_options_and_devices_count(self):
        plan = tr.plan(self.problem, "hgx-h200-4", "gemmex", tile=512, devices=[0, 2])
        self.assertEqual((plan.processors, plan.tile), (["gpu0", "gpu2"], 512))
        other = tr.plan(self.problem, "hgx-h200-4", "gemmex", tile=512, devices="0,2", options={"routing": "initial"})
        self.assertEqual(other.decisions["routing"], "initial")

    def test_only_the_argument_names_a_plan_cache(self):
        with unittest.mock.patch.dict(os.environ, TILERAIL_PLAN_CACHE="none.toml"):
            self.assertEqual(tr.simulate(self.problem, "hgx-h200-4", effort="fast").plan.hash, self.result.plan.hash)
        with self.assertRaisesRegex(tr.InputError, "none.toml"):
            tr.plan(self.problem, "hgx-h200-4", effort="fast", plan_cache="none.toml")

    def test_a_run_is_measured_and_compared(self):
        machine = tr.calibrate(devices=2, workers=1, seconds=1)
        predicted = tr.simulate(tr.gemm(256), machine, effort="fast")
        measured = tr.run(predicted.plan, check=True, iterations=2)
        self.assertTrue(measured.check["passed"])
        self.assertEqual(len(measured.iterations), 2)
        self.assertIsNone(measured.simulator)
        self.assertEqual(again(measured).summary, measured.summary)
        error = tr.compare(predicted, measured).error
        self.assertAlmostEqual(error, predicted.makespan / measured.makespan - 1, places=9)

    def test_whatif_ranks_parts(self):
        rows = tr.whatif(self.problem, "hgx-h200-4", effort="fast", only=["link:host->*", "kernels:*"])
        saved = rows.saved_s.dropna()
        self.assertEqual(list(saved), sorted(saved, reverse=True))
        self.assertEqual(rows.part.str.split(":").str[0].isin(["link", "kernels"]).sum(), len(rows))


class StubTest(unittest.TestCase):
    def test_the_native_module_has_types(self):
        import tilerail._native as native

        stub = ast.parse(Path(native.__file__).with_name("_native.pyi").read_text(encoding="utf-8"))
        self.assertEqual(self.names_in(stub.body), {name for name in vars(native) if not name.startswith("_")})
        for node in stub.body:
            if isinstance(node, ast.ClassDef):
                public = {name for name in vars(getattr(native, node.name)) if not name.startswith("_")}
                self.assertEqual(self.names_in(node.body), public, node.name)

    @staticmethod
    def names_in(body) -> set[str]:
        defined = {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        values = {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
        return {name for name in defined | values if not name.startswith("_")}

    def test_public_functions_are_documented_with_types_and_errors(self):
        parts = [f"tilerail.{part}" for part in ("problems", "plans", "studies", "products")]
        for name in tr.__all__:
            value = getattr(tr, name)
            self.assertTrue(inspect.getdoc(value), name)
            if inspect.isfunction(value) and value.__module__ in parts:
                self.assertIn("Raises InputError", value.__doc__, name)


if __name__ == "__main__":
    unittest.main()
