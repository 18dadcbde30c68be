"""Successful commands without execution: topo, predict, policies, plan."""

import json
import re
import unittest

from support import GEMMS, SMALL, TOPOLOGIES, CommandTest, needs_simulator


class Help(CommandTest):
    def test_version_is_printed(self):
        self.assertRegex(self.succeed("--version"), r"^tilerail \d+\.\d+\.\d+\n$")

    def test_verbose_may_stand_before_and_after_the_command(self):
        for arguments in (["-v", "plan", *SMALL], ["plan", *SMALL, "-v"]):
            done = self.run_command(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn("tilerail: machine ", done.stderr)

    def test_every_command_explains_itself_with_an_example(self):
        general = self.succeed("--help")
        for command in ("topo", "plan", "simulate", "run", "compare", "calibrate", "policies", "tune"):
            with self.subTest(command):
                self.assertIn(f"  {command} ", general)
                self.assertIn(f"  tilerail {command}", self.succeed(command, "--help"))


class Topo(CommandTest):
    def test_list_names_the_machines_of_the_repository(self):
        lines = self.succeed("topo", "list").splitlines()
        self.assertEqual([line.split()[0] for line in lines], sorted(path.stem for path in TOPOLOGIES.glob("*.toml")))
        self.assertRegex(lines[-1], r"two-gpu +1 host, 2 GPUs with kernels flat: Two GPUs behind one PCIe switch")

    def test_validate_accepts_every_machine_of_the_repository(self):
        for path in TOPOLOGIES.glob("*.toml"):
            with self.subTest(path.stem):
                self.assertIn("valid", self.succeed("topo", "validate", path))

    def test_show_gives_pair_rates(self):
        # two-gpu: host - switch 12 GB/s, switch - GPU 10 GB/s each, GPU - GPU 40 GB/s.
        shown = self.succeed("topo", "show", "two-gpu").splitlines()
        alone = shown.index("Pair bandwidth, GB/s, one copy alone")
        self.assertEqual(shown[alone + 2].split(), ["host", "-", "10.0", "10.0"])
        self.assertEqual(shown[alone + 3].split(), ["gpu0", "10.0", "-", "40.0"])

    def test_show_accepts_a_path_and_a_name_with_or_without_the_variable(self):
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

    def row(self, model, *arguments):
        return next(row for row in self.predicted(*arguments)["predictions"] if row["model"] == model)

    def test_every_model_and_the_simulator_have_a_row(self):
        result = self.predicted()
        rows = {row["model"]: row for row in result["predictions"]}
        self.assertEqual(list(rows), ["baseline", "dataloc", "bts", "dr", "dr2", "cso", "policy", "simulator"])
        self.assertEqual((result["h2d"]["bytes_per_s"], result["h2d"]["slowdown"]), (10e9, 1))
        best = rows["simulator"]["simulated_s"]
        self.assertTrue(all(row["simulated_s"] >= best for row in rows.values() if row["simulated_s"]))
        for model in ("dataloc", "dr"):
            self.assertEqual(self.row(model, "--tile", rows[model]["tile"]), rows[model])

    @needs_simulator
    def test_simulated_times_equal_simulate(self):
        for job in (["--gemm", "2K"], ["--gemm", "1K,256,4K", "--policy", "gemmex"], ["--gemm", "1K", "--tile", "512"],
                    ["--gemv", "2K,1K"]):
            on_one = [*job, "--topology", "two-gpu", "--devices", "0"]
            rows = json.loads(self.succeed("predict", *on_one, "--json", "-"))["predictions"]
            least = min(row["simulated_s"] for row in rows if row["simulated_s"])
            for row in rows:
                if row["model"] == "simulator":
                    self.assertEqual(row["simulated_s"], least, (job, row))
                elif row["simulated_s"]:
                    tile = [] if row["model"] == "policy" or "--tile" in job else ["--tile", row["tile"]]
                    simulated = json.loads(self.succeed("simulate", *on_one, *tile, "--json", "-"))
                    difference = row["simulated_s"] - simulated["makespan_s"]
                    self.assertLess(abs(difference), 1e-9 * simulated["makespan_s"], (job, row))

    def test_tiles_that_do_not_fit_are_not_simulated(self):
        result = self.predicted("--topo-set", "memory:gpu*.capacity=8 MB")
        rows = {row["model"]: row for row in result["predictions"]}
        self.assertIsNone(rows["dataloc"]["simulated_s"])
        self.assertGreater(rows["simulator"]["simulated_s"], 0)

    def test_a_plan_takes_the_tile_of_a_model(self):
        tile = self.row("dr")["tile"]
        planned = self.succeed("simulate", *self.ARGUMENTS[1:], "--tile", "dr")
        self.assertIn(f"tilerail+tile=dr, tile {tile}\n", planned)

    def test_all_data_on_the_gpu_leaves_the_kernel(self):
        row = self.row("bts", "--place", "0:0:0", "--tile", "2K")
        self.assertAlmostEqual(row["predicted_s"], 2 * 2048**3 / 1e12, places=6)

    def test_every_routine_is_predicted(self):
        # t = 10 us + 8 T / (10 GB/s); the kernel reads x and y at 1 TB/s.
        tile, machine = 1 << 22, ["--topology", "two-gpu", "--devices", "0", "--json", "-"]
        fetch, kernel = 10e-6 + 8 * tile / 10e9, 8 * (2 * tile + 2) / 1e12

        def seconds(*arguments):
            rows = json.loads(self.succeed("predict", *arguments, *machine))["predictions"]
            return {row["model"]: row["predicted_s"] for row in rows}

        self.assertAlmostEqual(seconds("--dot", 4 * tile, "--tile", tile)["bts"], 8 * fetch + kernel + 10e-6, places=7)
        for routine in (["--axpy", "1M"], ["--gemv", "1K,2K"]):
            self.assertGreater(seconds(*routine)["bts"], 0)


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
        sizes = {key: result["problem"][key] for key in ("m", "n", "k", "transa")}
        self.assertEqual(sizes, {"m": 100, "n": 1, "k": 60, "transa": "T"})


class Policies(CommandTest):
    def test_lists_presets_fields_and_values(self):
        lines = self.succeed("policies").splitlines()
        self.assertEqual(lines[0].split()[:2], ["field", "baseline"])
        routing = next(line for line in lines if line.startswith("routing "))
        self.assertIn("initial, bandwidth, link-map, eta, link-eta", routing)

    def test_one_preset_is_explained_field_by_field(self):
        keys = [line.split()[0] for line in self.succeed("policies").splitlines()[1:]]
        explained = self.succeed("policies", "tilerail")
        for key in keys:
            with self.subTest(key):
                self.assertRegex(explained, rf"(?m)^{re.escape(key)} = .*\n  [A-Z]\w+ .*\.$")

    @needs_simulator
    def test_texts_of_a_plan_file_are_escaped_for_terminals(self):
        self.succeed("plan", *SMALL, "-o", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        plan["origin"]["without_effect"] = ["\x1b[31mred\x07"]
        plan["origin"]["reasons"] = [["outdated", 0, 0, 0, "plans.toml", "\x1b[31m"]]
        self.write("red.json", json.dumps(plan))
        text = self.succeed("simulate", "--plan", "red.json")
        self.assertIn("no effect   \\x1b[31mred\\x07\n", text)
        self.assertIn("its plan of version \\x1b[31m is not used", text)
        self.assertNotIn("\x1b", text)

    @needs_simulator
    def test_a_cost_of_a_library_that_changes_nothing_is_named(self):
        text = self.succeed("simulate", "--gemm", "512", "--topology", "two-gpu", "--policy", "xkblas", "--devices", "0",
                            "--set", "peer-us=7")
        self.assertIn("no effect   peer-us=7: the plan with peer-us=0 is the same\n", text)

    def test_options_without_effect_are_named(self):
        moot = ["--gemm", "1K", "--topology", "two-gpu", "--policy", "baseline", "--set", "batch=chain"]
        same = "batch=chain: the plan with batch=off is the same"
        for command in ("plan", "simulate"):
            self.assertRegex(self.succeed(command, *moot), f"no effect +{same}")
            self.assertNotIn("no effect", self.succeed(command, *moot[:-1], "caching=on"))
        self.succeed("plan", *moot, "-o", "moot.json")
        origin = json.loads((self.folder / "moot.json").read_text())["origin"]
        self.assertEqual(origin["without_effect"], [same])

    def test_every_listed_default_is_accepted_by_set_and_changes_no_operation(self):
        names = self.presets()
        table = [line.split()[: 1 + len(names)] for line in self.succeed("policies").splitlines()[1:]]
        for column, name in enumerate(names, 1):
            with self.subTest(name):
                job = ["plan", "--gemm", "64", "--topology", "two-gpu", "--policy", name, "-o", "-"]
                defaults = [word for row in table for word in self.option(row[0], row[column])]
                plain, same = (json.loads(self.succeed(*job, *options)) for options in ([], defaults))
                if name != "tilerail":  # its search varies only what is not set
                    self.assertEqual(same["ops"], plain["ops"])

    @staticmethod
    def option(key, value):
        return (f"--{key}", value) if key in ("tile", "effort") else ("--set", f"{key}={value}")


class Plan(CommandTest):
    def test_the_same_arguments_give_the_same_bytes(self):
        self.succeed("plan", *SMALL, "-o", "one.json")
        self.succeed("plan", *SMALL, "-o", "two.json")
        self.assertEqual((self.folder / "one.json").read_bytes(), (self.folder / "two.json").read_bytes())

    def test_stdout_contains_only_the_plan(self):
        plan = json.loads(self.succeed("plan", *SMALL, "-o", "-"))
        self.assertEqual(sum(op["op"] == "gemm" for op in plan["ops"]), GEMMS)
        self.assertEqual(plan["tile"], 32)

    @needs_simulator
    def test_a_plan_of_another_machine_names_the_one_that_was_simulated(self):
        self.succeed("plan", "--gemm", "2K", "--topology", "karolina-hgx-a100", "--policy", "gemmex", "-o", "plan.json")
        here = ["simulate", "--plan", "plan.json", "--topology", "pcie-tree-8"]
        text = self.succeed(*here, "--timeline", "there.csv")
        self.assertRegex(text, "machine +pcie-tree-8, devices")
        self.assertRegex(text, "made for +karolina-hgx-a100")
        self.assertIn("# machine=pcie-tree-8\n", (self.folder / "there.csv").read_text())
        summary = json.loads(self.succeed(*here, "--json", "-"))
        self.assertEqual((summary["machine"], summary["plan_machine"]), ("pcie-tree-8", "karolina-hgx-a100"))
        self.assertNotIn("made for", self.succeed("simulate", "--plan", "plan.json", "--timeline", "home.csv"))
        compared = self.succeed("compare", "home.csv", "there.csv")
        self.assertRegex(compared, "total +karolina-hgx-a100 +pcie-tree-8 +difference")

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


if __name__ == "__main__":
    unittest.main()
