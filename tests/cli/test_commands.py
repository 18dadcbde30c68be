"""What every command does when all is well."""

import csv
import json
import unittest

from support import SMALL, SOURCE, TOPOLOGIES, CommandTest, needs_simulator

# The small problem: 64 x 64 x 64 in 32 x 32 tiles is 2 x 2 x 2 sub-problems, one gemm each.
GEMMS = 8


def rows(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class Help(CommandTest):
    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"^tilerail \d+\.\d+\.\d+\n$")

    def test_verbose_may_stand_before_and_after_the_command(self):
        for arguments in (["-v", "plan", *SMALL], ["plan", *SMALL, "-v"]):
            done = self.run_command(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn("tilerail: machine ", done.stderr)

    def test_every_command_explains_itself_with_an_example(self):
        general = self.succeed("--help")
        for command in ("topo", "plan", "simulate", "run", "compare", "calibrate", "policies", "experiment"):
            with self.subTest(command):
                self.assertIn(f"  {command} ", general)
                self.assertIn(f"  tilerail {command}", self.succeed(command, "--help"))


class Topo(CommandTest):
    def test_list_names_the_machines_of_the_repository(self):
        self.assertEqual(self.succeed("topo", "list").split(), sorted(path.stem for path in TOPOLOGIES.glob("*.toml")))

    def test_validate_accepts_every_machine_of_the_repository(self):
        for path in TOPOLOGIES.glob("*.toml"):
            with self.subTest(path.stem):
                self.assertIn("valid", self.succeed("topo", "validate", path))

    def test_show_gives_pair_rates_alone_and_busy(self):
        # two-gpu: host - switch 12 GB/s, switch - GPU 10 GB/s each, GPU - GPU 40 GB/s.
        shown = self.succeed("topo", "show", "two-gpu").splitlines()
        alone = shown.index("Pair bandwidth, GB/s, one copy alone")
        self.assertEqual(shown[alone + 2].split(), ["host", "-", "10.0", "10.0"])
        self.assertEqual(shown[alone + 3].split(), ["gpu0", "10.0", "-", "40.0"])
        # Both GPUs at once share the 12 GB/s of the host's link; the other direction is free.
        host = next(i for i, line in enumerate(shown) if line.startswith("Bandwidth, GB/s, between 'host'"))
        self.assertEqual(shown[host + 2].split(), ["all", "h2d", "6.0", "6.0", "12.0"])
        self.assertEqual(shown[host + 4].split(), ["both:", "h2d", "6.0", "6.0", "12.0"])
        self.assertEqual(shown[host + 5].split(), ["both:", "d2h", "6.0", "6.0", "12.0"])

    def test_show_finds_a_path_a_name_and_a_name_beside_the_folder(self):
        by_name = self.succeed("topo", "show", "two-gpu")
        self.assertEqual(self.succeed("topo", "show", TOPOLOGIES / "two-gpu.toml"), by_name)
        self.assertEqual(self.succeed("topo", "show", "two-gpu", TILERAIL_TOPOLOGIES=""), by_name)

    def test_an_unknown_name_lists_the_known_ones(self):
        done = self.run_command("topo", "show", "three-gpu")
        self.assertIn("two-gpu", done.stderr)


class Predict(CommandTest):
    ARGUMENTS = ["predict", "--gemm", "2K", "--topology", "two-gpu", "--devices", "0"]

    def predicted(self, *arguments):
        return json.loads(self.succeed(*self.ARGUMENTS, "--json", "-", *arguments))

    def test_every_model_stands_beside_the_simulator(self):
        result = self.predicted()
        rows = {row["model"]: row for row in result["predictions"]}
        self.assertEqual(list(rows), ["baseline", "dataloc", "bts", "dr", "cso", "policy", "simulator"])
        self.assertEqual((result["h2d"]["bytes_per_s"], result["h2d"]["slowdown"]), (10e9, 1))
        best = rows["simulator"]["simulated_s"]
        self.assertTrue(all(row["simulated_s"] >= best for row in rows.values() if row["simulated_s"]))
        for model in ("dataloc", "dr"):
            with_tile = self.predicted("--model", model, "--tile", rows[model]["tile"])["predictions"]
            self.assertEqual(with_tile[0], rows[model])
            self.assertEqual([row["model"] for row in with_tile], [model, "policy", "simulator"])

    def test_a_plan_takes_the_tile_of_a_model(self):
        tile = self.predicted("--model", "dr")["predictions"][0]["tile"]
        planned = self.succeed("simulate", *self.ARGUMENTS[1:], "--tile", "auto:dr")
        self.assertIn(f"tilerail+tile-choice=dr, tile {tile}\n", planned)

    def test_all_data_on_the_gpu_leaves_the_kernel(self):
        rows = self.predicted("--place", "0:0:0", "--model", "bts", "--tile", "2K")["predictions"]
        self.assertAlmostEqual(rows[0]["predicted_s"], 2 * 2048**3 / 1e12, places=6)

    def test_every_routine_is_predicted(self):
        # t = 10 us + 8 T / (10 GB/s); the kernel reads x and y, at 1 TB/s.
        tile, machine = 1 << 22, ["--topology", "two-gpu", "--devices", "0", "--model", "bts", "--json", "-"]
        fetch, kernel = 10e-6 + 8 * tile / 10e9, 8 * (2 * tile + 2) / 1e12
        result = json.loads(self.succeed("predict", "--dot", 4 * tile, "--tile", tile, *machine))
        self.assertAlmostEqual(result["predictions"][0]["predicted_s"], 8 * fetch + kernel + 10e-6, places=7)
        for routine in (["--axpy", "1M"], ["--gemv", "1K,2K"]):
            rows = json.loads(self.succeed("predict", *routine, *machine))["predictions"]
            self.assertEqual(rows[0]["model"], "bts")

    def test_text_names_the_transfers(self):
        text = self.succeed(*self.ARGUMENTS)
        self.assertIn("to the GPU    10.00 GB/s after 10.00 us, 1.00 times as long", text)


class Routines(CommandTest):
    ROUTINES = {"axpy": ["--axpy", "1000", "--alpha", "3", "--beta", "0.5", "--place", "0:h"],
                "dot": ["--dot", "1000", "--place", "h:1"],
                "gemv": ["--gemv", "60,100", "--transa", "T", "--lda", "64", "--place", "h:0:1"]}

    @needs_simulator
    def test_each_is_planned_simulated_and_run(self):
        machine = ["--topology", "two-gpu"]
        for routine, arguments in self.ROUTINES.items():
            with self.subTest(routine):
                self.succeed("plan", *arguments, *machine, "--tile", "40", "-o", "plan.json")
                predicted = json.loads(self.succeed("simulate", "--plan", "plan.json", *machine, "--json", "-"))
                self.assertEqual(predicted["problem"]["routine"], routine)
                done = self.succeed("run", "--backend", "host", "--plan", "plan.json", *machine, "--check",
                                    "--timeline", "measured.csv")
                self.assertIn("check: passed", done)
                self.assertIn(f"problem     {routine} m=", done)
                self.succeed("simulate", "--plan", "plan.json", *machine, "--timeline", "predicted.csv")
                self.assertIn("makespan", self.succeed("compare", "predicted.csv", "measured.csv"))

    @needs_simulator
    def test_places_are_those_of_the_operands(self):
        places = {"axpy": ["gpu0", "gpu0", "host"], "dot": ["host", "gpu1", "host"], "gemv": ["host", "gpu0", "gpu1"]}
        for routine, arguments in self.ROUTINES.items():
            result = json.loads(self.succeed("simulate", *arguments, "--topology", "two-gpu", "--json", "-"))
            self.assertEqual(result["problem"]["place"], places[routine])
        sizes = {key: result["problem"][key] for key in ("m", "n", "k", "trans_a")}
        self.assertEqual(sizes, {"m": 100, "n": 1, "k": 60, "trans_a": "T"})


class Policies(CommandTest):
    def test_lists_presets_fields_and_values(self):
        lines = self.succeed("policies").splitlines()
        self.assertEqual(lines[0].split()[:2], ["field", "baseline"])
        routing = next(line for line in lines if line.startswith("routing "))
        self.assertIn("initial, bandwidth, link-map, eta, link-eta", routing)

    def test_every_listed_default_is_accepted_by_set(self):
        lines = self.succeed("policies").splitlines()
        presets = lines[0].split()[1:-2]
        for line in lines[1:]:
            key, *values = line.split()[: 1 + len(presets)]
            for name, value in zip(presets, values):
                with self.subTest(f"{name} {key}"):
                    self.succeed("plan", "--gemm", "64", "--topology", "two-gpu", "--policy", name, "--set", f"{key}={value}")


class Plan(CommandTest):
    def test_the_same_arguments_give_the_same_bytes(self):
        self.succeed("plan", *SMALL, "-o", "one.json")
        self.succeed("plan", *SMALL, "-o", "two.json")
        self.assertEqual((self.folder / "one.json").read_bytes(), (self.folder / "two.json").read_bytes())

    def test_stdout_holds_the_plan_alone(self):
        plan = json.loads(self.succeed("plan", *SMALL, "-o", "-"))
        self.assertEqual(sum(op["op"] == "gemm" for op in plan["ops"]), GEMMS)
        self.assertEqual(plan["tile"], 32)

    @needs_simulator
    def test_a_saved_plan_simulates_as_the_problem_does(self):
        self.succeed("plan", *SMALL, "-o", "plan.json")
        direct = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        saved = json.loads(self.succeed("simulate", "--plan", "plan.json", "--json", "-"))
        for key in ("makespan_s", "plan_hash", "ops", "queues", "links"):
            self.assertEqual(direct[key], saved[key], key)

    def test_problem_options_reach_the_plan(self):
        plan = json.loads(
            self.succeed(
                *["plan", "--gemm", "48,32,16", "--dtype", "f32", "--transa", "T", "--alpha", "-1.5", "--beta", "0"],
                *["--place", "h:gpu0:1", "--lda", "20", "--topology", "two-gpu", "--devices", "1", "-o", "-"],
            )
        )
        problem = plan["problem"]
        self.assertEqual([problem[key] for key in "mnk"], [48, 32, 16])
        self.assertEqual((problem["dtype"], problem["transa"], problem["transb"]), ("f32", "T", "N"))
        self.assertEqual((problem["alpha"], problem["beta"]), (-1.5, 0))
        self.assertEqual([plan["memories"][i] for i in problem["place"]], ["host", "gpu0", "gpu1"])
        self.assertEqual(problem["ld"], [20, 16, 48])
        self.assertEqual([plan["memories"][i] for i in plan["devices"]], ["gpu1"])

    def test_sizes_are_1024_based(self):
        plan = json.loads(self.succeed("plan", "--gemm", "1K,2k,512", "--topology", "two-gpu", "-o", "-"))
        self.assertEqual([plan["problem"][key] for key in "mnk"], [1024, 2048, 512])


@needs_simulator
class Simulate(CommandTest):
    def test_json_holds_what_the_readme_promises(self):
        result = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        for key in ("makespan_s", "tflops", "ops", "plan_s", "execute_s", "plan_hash", "policy", "tile", "devices"):
            self.assertIn(key, result)
        for key in ("queues", "links"):
            for use in result[key]:
                self.assertLessEqual({"busy_s", "bytes"}, use.keys())
        # 2 m n k flop in the makespan.
        self.assertAlmostEqual(result["tflops"] * 1e12 * result["makespan_s"], 2 * 64**3, delta=1)

    def test_energy_is_that_of_the_devices_that_take_part(self):
        result = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertAlmostEqual(sum(device["energy_j"] for device in result["compute"]), result["energy_j"], places=12)
        self.assertAlmostEqual(result["energy_j"] / result["makespan_s"], result["watts"], places=6)
        self.assertAlmostEqual(result["energy_j"] * result["makespan_s"], result["edp_js"], places=12)
        self.assertEqual(result["bystanders_energy_j"], 0)
        self.assertEqual(set(result["metrics"]), {"perf", "edp", "pdp"})
        alone = json.loads(self.succeed("simulate", *SMALL, "--devices", "1", "--json", "-"))
        self.assertEqual(len(alone["compute"]), 1)
        self.assertAlmostEqual(alone["bystanders_energy_j"], 50 * alone["makespan_s"], places=12)

    def test_all_outputs_at_once(self):
        outputs = ["--json", "r.json", "--timeline", "t.csv", "--timeline", "t.json", "--timeline", "t.pftrace"]
        text = self.succeed("simulate", *SMALL, *outputs, "--gantt", "g.svg", "--gantt", "g.png")
        self.assertIn("makespan", text)
        result = json.loads((self.folder / "r.json").read_text())
        timeline = rows(self.folder / "t.csv")
        self.assertEqual(len(timeline), result["ops"])
        self.assertEqual(sum(row["kind"] == "gemm" for row in timeline), GEMMS)
        self.assertEqual(max(float(row["end_s"]) for row in timeline), result["makespan_s"])
        slices = [event for event in json.loads((self.folder / "t.json").read_text())["traceEvents"] if event["ph"] == "X"]
        self.assertGreaterEqual(len(slices), GEMMS)
        self.assertGreater((self.folder / "t.pftrace").stat().st_size, 0)
        self.assertIn("<svg", (self.folder / "g.svg").read_text())
        self.assertTrue((self.folder / "g.png").read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(len(list(self.folder.iterdir())), 6, "nothing but what was asked for is left")

    def test_old_outputs_are_replaced(self):
        self.write("r.json", "old")
        self.succeed("simulate", *SMALL, "--json", "r.json")
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["ops"] > 0, True)

    def test_results_are_the_same_every_time(self):
        one = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        two = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertEqual(one["makespan_s"], two["makespan_s"])

    def test_every_preset_on_every_machine(self):
        for path in TOPOLOGIES.glob("*.toml"):
            for policy in ("baseline", "gemmex", "tilerail"):
                with self.subTest(f"{path.stem} {policy}"):
                    self.succeed("simulate", "--gemm", "2K", "--topology", path, "--policy", policy)

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
        # The plan computes one tile less than the problem: its last gemm becomes a join of the same dependencies.
        # Its hash is what the refusal of the changed plan says it should be.
        plan = json.loads(self.succeed("plan", *SMALL, "-o", "-"))
        last = max(i for i, op in enumerate(plan["ops"]) if op["op"] == "gemm")
        gemm = plan["ops"][last]
        plan["ops"][last] = {"op": "join", "queue": gemm["queue"], "deps": gemm.get("deps", [])}
        self.write("wrong.json", json.dumps(plan))
        refusal = self.run_command("run", "--backend", "host", "--plan", "wrong.json").stderr
        plan["hash"] = refusal.split("hash of the contents, '")[1].split("'")[0]
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
        outputs = ["--json", "c.json", "--trace", "both.json", "--trace", "both.pftrace", "--gantt", "both.svg"]
        self.assertIn("makespan", self.succeed("compare", "p.csv", "m.csv", *outputs))
        result = json.loads((self.folder / "c.json").read_text())
        predicted = max(float(row["end_s"]) for row in rows(self.folder / "p.csv"))
        measured = max(float(row["end_s"]) for row in rows(self.folder / "m.csv"))
        self.assertEqual(result["makespan"]["predicted_s"], predicted)
        self.assertEqual(result["makespan"]["measured_s"], measured)
        events = json.loads((self.folder / "both.json").read_text())["traceEvents"]
        self.assertEqual(len({event["pid"] for event in events if event["ph"] == "X"}), 2)
        self.assertIn("<svg", (self.folder / "both.svg").read_text())

    def test_energies_are_those_of_the_timelines(self):
        result = json.loads(self.succeed("compare", "p.csv", "m.csv", "--json", "-"))
        simulated = json.loads(self.succeed("simulate", *SMALL, "--json", "-"))
        self.assertAlmostEqual(result["energy"]["predicted_j"], simulated["energy_j"], places=12)
        self.assertAlmostEqual(result["energy_delay"]["predicted_js"], simulated["edp_js"], places=12)
        self.assertNotIn("counted_energy", result)
        self.assertIn("energy, modelled", self.succeed("compare", "p.csv", "m.csv"))

    def test_a_timeline_equals_itself(self):
        result = json.loads(self.succeed("compare", "p.csv", "p.csv", "--json", "-"))
        self.assertEqual(result["makespan"]["predicted_s"], result["makespan"]["measured_s"])
        self.assertTrue(all(item["duration_difference_s"] == 0 for item in result["worst_durations"]))


class Experiment(CommandTest):
    def test_list_names_the_scripts_of_the_repository(self):
        names = [line.split()[0] for line in self.succeed("experiment", "list").splitlines()]
        self.assertEqual(names, sorted(path.stem for path in (SOURCE / "experiments").glob("*.py")))

    def test_arguments_after_two_dashes_reach_the_script(self):
        for path in (SOURCE / "experiments").glob("*.py"):
            with self.subTest(path.stem):
                self.assertIn("--jobs", self.succeed("experiment", "run", path.stem, "--", "--help"))


@needs_simulator
class Calibrate(CommandTest):
    def test_the_machine_that_is_written_is_valid_and_usable(self):
        options = ["--devices", "2", "--workers", "1", "--seconds", "1", "--name", "mine"]
        self.succeed("calibrate", "--backend", "host", *options, "-o", "mine.toml")
        self.assertIn("machine 'mine'", self.succeed("topo", "validate", "mine.toml"))
        job = ["--gemm", "256", "--topology", "mine.toml"]
        self.succeed("simulate", *job, "--timeline", "p.csv")
        self.assertIn("check: passed", self.succeed("run", "--backend", "host", *job, "--check", "--timeline", "m.csv"))
        self.succeed("compare", "p.csv", "m.csv")


if __name__ == "__main__":
    unittest.main()
