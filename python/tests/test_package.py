"""The package: machines, plans, results, comparisons, errors."""

import pickle
import tempfile
import unittest
from pathlib import Path

import numpy
import pandas

import tilerail as tr


class MachineTest(unittest.TestCase):
    def test_changes_give_another_machine(self):
        machine = tr.machine("hgx-h200-4")
        faster = machine.set("link:host<->gpu0.bandwidth", "x2")
        before, after = (m.links.set_index("name").bandwidth_bytes_per_s for m in (machine, faster))
        self.assertEqual(after["host->gpu0"], 2 * before["host->gpu0"])
        self.assertEqual(after["host->gpu1"], before["host->gpu1"])
        self.assertNotEqual(machine, faster)
        self.assertEqual(machine, tr.machine("hgx-h200-4"))

    def test_links_can_be_left_out(self):
        machine = tr.machine("clx-ai").without("link:gpu0<->gpu1")
        names = set(machine.links.name)
        self.assertFalse({"gpu0->gpu1", "gpu1->gpu0"} & names)
        self.assertEqual(len(tr.machine("clx-ai").links) - 2, len(names))

    def test_a_new_machine_has_what_it_was_asked_for(self):
        machine = tr.machine.new(gpus=4, kernels="h200", islands=2, nvlink=450, bridge="100 GB/s", name="two")
        self.assertEqual(machine.name, "two")
        self.assertEqual(machine.processors, ["gpu0", "gpu1", "gpu2", "gpu3"])
        self.assertIn(450e9, set(machine.links.bandwidth_bytes_per_s))

    def test_files_and_pickles_keep_it(self):
        machine = tr.machine("summit-node").set("memory:gpu0.capacity", "1 GB")
        with tempfile.TemporaryDirectory() as folder:
            machine.save(Path(folder) / "m.toml")
            self.assertEqual(tr.machine(Path(folder) / "m.toml"), machine)
        self.assertEqual(pickle.loads(pickle.dumps(machine)), machine)

    def test_memories_have_processors(self):
        memories = tr.machine("summit-node").memories.set_index("name")
        self.assertEqual(memories.processor["host0"], "cores0")
        self.assertEqual(memories.kind["gpu5"], "gpu")
        self.assertEqual(memories.capacity_bytes["gpu5"], 16e9)


class ResultTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.problem = tr.gemm(4096, 4096, 2048, beta=0)
        cls.result = tr.simulate(cls.problem, "hgx-h200-4", effort="fast")

    def test_both_simulators_agree(self):
        other = tr.simulate(self.result.plan, simulator="sim")
        self.assertAlmostEqual(other.makespan / self.result.makespan, 1, delta=1e-9)

    def test_figures_belong_together(self):
        result = self.result
        self.assertAlmostEqual(result.tflops, 2 * 4096 * 4096 * 2048 / result.makespan / 1e12, places=6)
        self.assertLess(result.bound, result.makespan)
        self.assertAlmostEqual(result.critical_path.seconds.sum(), result.makespan, places=9)
        self.assertTrue(result.fits)
        self.assertEqual(result.iterations, [])

    def test_the_timeline_is_the_plans(self):
        timeline = self.result.timeline
        self.assertEqual(len(timeline), len(self.result.plan))
        self.assertEqual(timeline.end_s.max(), self.result.makespan)
        kernels = timeline[timeline.kind == "gemm"]
        self.assertEqual(kernels.flops.sum(), 2 * 4096 * 4096 * 2048)
        self.assertEqual(set(kernels.device), set(self.result.plan.processors))

    def test_columns_are_not_copied(self):
        columns = self.result.columns()
        frame = pandas.DataFrame({"end_s": columns["end_s"]}, copy=False)
        self.assertTrue(numpy.shares_memory(frame.end_s.to_numpy(), columns["end_s"]))

    def test_files_keep_plans_and_timelines(self):
        with tempfile.TemporaryDirectory() as folder:
            self.result.plan.save(Path(folder) / "plan.json")
            plan = tr.load_plan(Path(folder) / "plan.json", "hgx-h200-4")
            self.assertEqual(plan.hash, self.result.plan.hash)
            self.result.save(Path(folder) / "timeline.csv")
            self.assertEqual(tr.read_timeline(Path(folder) / "timeline.csv").metadata["plan_hash"], plan.hash)
        self.assertEqual(pickle.loads(pickle.dumps(self.result.plan)).hash, self.result.plan.hash)

    def test_options_and_devices_count(self):
        plan = tr.plan(self.problem, "hgx-h200-4", "gemmex", tile=512, devices=[0, 2])
        self.assertEqual(plan.processors, ["gpu0", "gpu2"])
        self.assertEqual(plan.tile, 512)
        other = tr.plan(self.problem, "hgx-h200-4", "gemmex", tile=512, devices="0,2", options={"routing": "initial"})
        self.assertEqual(other.decisions["routing"], "initial")

    def test_a_run_is_measured_and_compared(self):
        machine = tr.calibrate(devices=2, workers=1, seconds=1)
        predicted = tr.simulate(tr.gemm(256), machine, effort="fast")
        measured = tr.run(predicted.plan, check=True, iterations=2)
        self.assertTrue(measured.check["passed"])
        self.assertEqual(len(measured.iterations), 2)
        comparison = tr.compare(predicted, measured)
        self.assertAlmostEqual(comparison.error, predicted.makespan / measured.makespan - 1, places=9)

    def test_whatif_ranks_parts(self):
        rows = tr.whatif(self.problem, "hgx-h200-4", effort="fast", only=["link:host->*", "kernels:*"])
        saved = rows.saved_s.dropna()
        self.assertEqual(list(saved), sorted(saved, reverse=True))
        self.assertEqual(rows.part.str.split(":").str[0].isin(["link", "kernels"]).sum(), len(rows))


class ErrorTest(unittest.TestCase):
    def refused(self, call, **fields):
        with self.assertRaises(tr.InputError) as caught:
            call()
        for name, value in fields.items():
            self.assertEqual(getattr(caught.exception, name), value, str(caught.exception))
        return caught.exception

    def test_fields_name_subject_and_value(self):
        problem = tr.gemm(1024)
        self.refused(lambda: tr.machine("nope"), subject="topology", value="nope")
        self.refused(lambda: tr.simulate(tr.gemm("16X"), "two-gpu"), subject="gemm", value="16X")
        self.refused(lambda: tr.gemm(True), subject="gemm", value="True")
        self.refused(lambda: tr.gemm(1, 2), subject="gemm")
        self.refused(lambda: tr.simulate(3, "two-gpu"), subject="problem", value="3")
        self.refused(lambda: tr.simulate(problem), subject="machine")
        self.refused(lambda: tr.simulate(problem, "two-gpu", simulator="x"), subject="simulator", value="x")
        self.refused(lambda: tr.simulate(problem, "two-gpu", devices=[0, 7]), subject="devices", value="7")
        self.refused(lambda: tr.simulate(problem, "two-gpu", tile=-1), subject="tile", value="-1")
        self.refused(lambda: tr.run(problem, "two-gpu", iterations=0), subject="iterations", value="0")
        self.refused(lambda: tr.machine.new(gpus=0, kernels="h200"), subject="gpus", value="0")
        self.refused(lambda: tr.simulate(problem, "two-gpu", options={"gemm": "2K"}), subject="options", value="gemm")
        plan = tr.plan(problem, "two-gpu", effort="fast")
        self.refused(lambda: tr.simulate(plan, "two-gpu"), subject="plan")

    def test_errors_can_cross_processes(self):
        error = self.refused(lambda: tr.machine("nope"))
        self.assertEqual(pickle.loads(pickle.dumps(error)).value, "nope")

    def test_missing_hardware_is_another_error(self):
        with self.assertRaises(tr.HardwareError):  # no computer has 300 GPUs
            machine = tr.machine.new(gpus=300, kernels="h200")
            tr.run(tr.gemm(1024), machine, backend="cuda", effort="fast", devices=[299])


if __name__ == "__main__":
    unittest.main()
