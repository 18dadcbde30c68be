"""Successful commands that execute plans: simulate, run, compare, calibrate."""

import json
import re
import unittest

from support import GEMMS, SMALL, TOPOLOGIES, CommandTest, needs_simulator, rows


@needs_simulator
class Simulate(CommandTest):
    def test_json_has_the_fields_of_the_readme(self):
        result = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        for key in ("makespan_s", "tflops", "ops", "plan_s", "execute_s", "plan_hash", "policy", "tile", "devices"):
            self.assertIn(key, result)
        for key, figures in (("queues", {"busy_s", "bytes"}), ("links", {"bytes", "utilisation"})):
            for use in result[key]:
                self.assertLessEqual(figures, use.keys())
        # 2 m n k flop per makespan.
        self.assertAlmostEqual(result["tflops"] * 1e12 * result["makespan_s"], 2 * 64**3, delta=1)

    def test_a_figure_shows_the_same_rate(self):
        for scalars in (["--beta", "2"], ["--alpha", "0", "--beta", "2"], ["--alpha", "0", "--beta", "0"]):
            with self.subTest(scalars):
                text = self.succeed("simulate", *SMALL, *scalars, "--gantt", "g.svg")
                rates = [re.findall(r"(\S+) TFLOP/s", shown) for shown in (text, (self.folder / "g.svg").read_text())]
                self.assertEqual(rates[0], rates[1])

    def test_energy_counts_the_used_devices(self):
        result = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertAlmostEqual(sum(device["energy_j"] for device in result["compute"]), result["energy_j"], places=12)
        self.assertAlmostEqual(result["energy_j"] / result["makespan_s"], result["watts"], places=6)
        self.assertAlmostEqual(result["energy_j"] * result["makespan_s"], result["edp_js"], places=12)
        self.assertEqual(set(result["metrics"]), {"perf", "edp", "pdp"})
        alone = json.loads(self.succeed("simulate", *SMALL, "--devices", "1", "--json", "-"))
        self.assertEqual(len(alone["compute"]), 1)

    def test_all_outputs_can_be_combined(self):
        outputs = ["--json", "r.json", "--timeline", "t.csv", "--timeline", "t.json"]
        text = self.succeed("simulate", *SMALL, *outputs, "--gantt", "g.svg", "--gantt", "h.svg")
        self.assertIn("makespan", text)
        result = json.loads((self.folder / "r.json").read_text())
        timeline = rows(self.folder / "t.csv")
        self.assertEqual(len(timeline), result["ops"])
        self.assertEqual(sum(row["kind"] == "gemm" for row in timeline), GEMMS)
        self.assertEqual(max(float(row["end_s"]) for row in timeline), result["makespan_s"])
        slices = [event for event in json.loads((self.folder / "t.json").read_text())["traceEvents"] if event["ph"] == "X"]
        self.assertGreaterEqual(len(slices), GEMMS)
        self.assertIn("<svg", (self.folder / "g.svg").read_text())
        self.assertEqual((self.folder / "h.svg").read_text(), (self.folder / "g.svg").read_text())
        self.assertEqual(len(list(self.folder.iterdir())), 5, "nothing but what was asked for is left")

    def test_old_outputs_are_replaced(self):
        self.write("r.json", "old")
        self.succeed("simulate", *SMALL, "--json", "r.json")
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["ops"] > 0, True)

    def test_results_are_the_same_every_time(self):
        one = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        two = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertEqual(one["makespan_s"], two["makespan_s"])

    def test_every_preset_on_every_machine(self):
        machines, policies = sorted(path.stem for path in TOPOLOGIES.glob("*.toml")), self.presets()
        self.succeed("sweep", "--gemm", "2K", "--vary", f"topology={','.join(machines)}", "--vary",
                     f"policy={','.join(policies)}", "--csv", "all.csv")
        found = rows(self.folder / "all.csv")
        self.assertEqual(len(found), len(machines) * len(policies))
        for row in found:
            self.assertEqual((row["error"], float(row["makespan_s"] or 0) > 0), ("", True), row)

    def test_a_negative_scalar_is_a_value(self):
        self.succeed("simulate", *SMALL, "--alpha", "-1", "--beta", "-0.5")


class Run(CommandTest):
    def test_check_passes_and_the_timeline_is_measured(self):
        options = ["--check", "--iters", "2", "--warmup", "0", "--seed", "7", "--timeline", "m.csv", "--json", "m.json"]
        text = self.succeed("run", "--backend", "host", *SMALL, *options)
        self.assertIn("check: passed: residual", text)
        self.assertIn("tolerance", text)
        result = json.loads((self.folder / "m.json").read_text())
        self.assertEqual(result["backend"], "host")
        self.assertTrue(result["check"]["passed"])
        self.assertEqual(len(result["iterations_s"]), 2)
        self.assertIn(result["makespan_s"], result["iterations_s"])
        self.assertEqual(len(rows(self.folder / "m.csv")), result["ops"])

    def test_shapes_types_and_places(self):
        for options in (
            ["--gemm", "100,70,30", "--tile", "32", "--transa", "T", "--dtype", "f32"],
            ["--gemm", "33,65,17", "--tile", "16", "--transb", "T", "--place", "0:1:h", "--beta", "0"],
            ["--gemm", "64", "--tile", "32", "--place", "0:0:0", "--alpha", "0.5", "--beta", "-2", "--ldc", "80"],
            ["--gemm", "16,16,0"],
            ["--gemm", "0,16,16"],
        ):
            with self.subTest(options):
                text = self.succeed("run", "--backend", "host", "--topology", "two-gpu", *options, "--check", "--iters", "1")
                self.assertIn("check: passed", text)

    def test_a_saved_plan_runs(self):
        self.succeed("plan", *SMALL, "-o", "plan.json")
        self.assertIn("check: passed", self.succeed("run", "--backend", "host", "--plan", "plan.json", "--check"))

    def test_a_wrong_result_is_exit_code_1(self):
        # The plan computes one tile less than the problem: its last gemm becomes a join with the same dependencies.
        # Its hash is the expected hash from the error about the changed plan.
        plan = json.loads(self.succeed("plan", *SMALL, "-o", "-"))
        last = max(i for i, op in enumerate(plan["ops"]) if op["op"] == "gemm")
        gemm = plan["ops"][last]
        plan["ops"][last] = {"op": "join", "queue": gemm["queue"], "deps": gemm.get("deps", [])}
        self.write("wrong.json", json.dumps(plan))
        refusal = self.run_command("run", "--backend", "host", "--plan", "wrong.json").stderr
        plan["hash"] = refusal.split("; expected ")[1].strip()
        self.write("wrong.json", json.dumps(plan))
        done = self.run_command("run", "--backend", "host", "--plan", "wrong.json", "--check", "--json", "r.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("check: FAILED", done.stdout)
        self.assertIn("tolerance", done.stderr)
        self.assertFalse(json.loads((self.folder / "r.json").read_text())["check"]["passed"])


@needs_simulator
class Compare(CommandTest):
    def setUp(self):
        super().setUp()
        self.succeed("simulate", *SMALL, "--timeline", "p.csv")
        self.succeed("run", "--backend", "host", *SMALL, "--timeline", "m.csv")

    def test_tables_files_and_both_timelines_in_one_trace(self):
        outputs = ["--json", "c.json", "--trace", "both.json", "--gantt", "both.svg"]
        self.assertIn("makespan", self.succeed("compare", "p.csv", "m.csv", *outputs))
        result = json.loads((self.folder / "c.json").read_text())
        predicted = max(float(row["end_s"]) for row in rows(self.folder / "p.csv"))
        measured = max(float(row["end_s"]) for row in rows(self.folder / "m.csv"))
        self.assertEqual(result["makespan"]["predicted_s"], predicted)
        self.assertEqual(result["makespan"]["measured_s"], measured)
        events = json.loads((self.folder / "both.json").read_text())["traceEvents"]
        self.assertEqual(len({event["pid"] for event in events if event["ph"] == "X"}), 2)
        self.assertIn("<svg", (self.folder / "both.svg").read_text())

    def test_energies_come_from_the_timelines(self):
        result = json.loads(self.succeed("compare", "p.csv", "p.csv", "--json", "-"))
        simulated = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertAlmostEqual(result["energy"]["predicted_j"], simulated["energy_j"], places=12)
        self.assertNotIn("counted_energy", result)
        self.assertIn("energy, modelled", self.succeed("compare", "p.csv", "p.csv"))
        self.assertNotIn("energy", self.succeed("compare", "p.csv", "m.csv"))

    def test_threads_that_stand_for_gpus_have_no_energy(self):
        text = self.succeed("run", "--backend", "host", *SMALL)
        self.assertRegex(text, r"^ran on +CPU threads, not the 2 GPUs of two-gpu; energy unknown\n")
        self.assertNotRegex(text, "\nenergy ")
        result = json.loads(self.succeed("run", "--backend", "host", *SMALL, "--json", "-"))
        self.assertFalse({"energy_j", "edp_js", "metrics"} & result.keys())
        self.assertNotIn("energy_j", (self.folder / "m.csv").read_text())

    def test_a_simulation_is_not_a_measurement(self):
        self.assert_refused(["compare", "m.csv", "p.csv"], "but predicted has 'host'; expected the prediction first")

    def test_a_timeline_equals_itself(self):
        result = json.loads(self.succeed("compare", "p.csv", "p.csv", "--json", "-"))
        self.assertEqual(result["makespan"]["predicted_s"], result["makespan"]["measured_s"])
        self.assertTrue(all(item["duration_difference_s"] == 0 for item in result["worst_durations"]))


@needs_simulator
class Calibrate(CommandTest):
    def test_the_machine_that_is_written_is_valid_and_usable(self):
        options = ["--devices", "2", "--workers", "1", "--seconds", "1", "--name", "mine"]
        done = self.run_command("calibrate", "--backend", "host", *options, "-o", "mine.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        missed = re.compile(r"tilerail: (copies|kernels): 95 % intervals within .* instead of 5\.0 %; the machine")
        self.assertTrue(all(missed.match(line) for line in done.stderr.splitlines()), done.stderr)
        self.assertIn("machine 'mine'", self.succeed("topo", "validate", "mine.toml"))
        job = ["--gemm", "256", "--topology", "mine.toml"]
        self.succeed("simulate", *job, "--timeline", "p.csv")
        run = self.succeed("run", "--backend", "host", *job, "--check", "--timeline", "m.csv")
        self.assertIn("check: passed", run)
        self.assertNotIn("ran on", run)  # a described host
        self.succeed("compare", "p.csv", "m.csv")


if __name__ == "__main__":
    unittest.main()
