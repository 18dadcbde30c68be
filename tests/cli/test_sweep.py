"""`sweep`: tables of all combinations, ended and resumed, in parts, on hardware, as figures."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from support import OLD, SOURCE, TILERAIL, TOPOLOGIES, CommandTest, needs_simulator

BASE = ["sweep", "--gemm", "256", "--topology", "two-gpu", "--policy", "gemmex"]
AXES = ["--vary", "tile=32..128 x2", "--vary", "link:host<->pcie0.bandwidth=6,12,24 GB/s", "--vary", "dtype=f64,f32"]
FILE = """[base]
gemm = 256
topology = "two-gpu"
policy = "gemmex"
[[vary]]
key = "tile"
values = "32..128 x2"
[[vary]]
key = "link:host<->pcie0.bandwidth"
values = [6, 12, "24 GB/s"]
[[vary]]
key = "dtype"
values = ["f64", "f32"]
"""


@needs_simulator
class Sweep(CommandTest):
    def rows(self, name="all.csv"):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_every_point_is_what_simulate_says(self):
        self.succeed(*BASE, *AXES, "--csv", "all.csv")
        rows = self.rows()
        self.assertEqual([int(row["point"]) for row in rows], list(range(18)))
        for row in (rows[0], rows[7], rows[17]):
            rate = row["link:host<->pcie0.bandwidth_GB/s"]
            simulated = json.loads(self.succeed(
                "simulate", "--gemm", "256", "--topology", "two-gpu", "--policy", "gemmex", "--tile", row["tile"],
                "--dtype", row["dtype"], "--topo-set", f"link:host<->pcie0.bandwidth={rate} GB/s", "--json", "-"))
            self.assertEqual(float(row["makespan_s"]), simulated["makespan_s"])
            self.assertEqual((row["plan_hash"], row["bound_by"]), (simulated["plan_hash"], simulated["bound_by"]))
            self.assertEqual(float(row["bound_s"]), simulated["bound_s"])
            self.assertEqual(row["version"], simulated["version"])

    def test_it_answers_from_which_value_on_more_gains_nothing_and_the_problem_is_compute_bound(self):
        key = "link:host<->pcie0.bandwidth"
        text = self.succeed("sweep", "--gemm", "2K", "--topology", "two-gpu", "--policy", "gemmex", "--tile", "512",
                            "--vary", f"{key}=0.25..64 x4 GB/s", "--vary", "dtype=f64,f32", "--csv", "all.csv")
        rows = self.rows()
        table = text[text.index(f"\nwhich {key}_GB/s?\n"):].strip().splitlines()[2:]
        self.assertEqual(len(table), 2)
        for line, dtype in zip(table, ("f64", "f32")):
            own = [row for row in rows if row["dtype"] == dtype]
            times = [float(row["makespan_s"]) for row in own]
            expected, kinds = dtype, 0  # of answers: the first is about gains
            for there in ([time <= 1.05 * min(times[i:]) for i, time in enumerate(times)],
                          [float(row["kernels"]) >= 0.9 for row in own]):
                first = len(there) - [*reversed(there), False].index(False)
                expected += " nowhere" if first == len(there) else (" at all of them," if first == 0 else "")
                word = "beyond" if not kinds and first == len(there) - 1 else "from"
                kinds += 1
                expected += "" if first == len(there) else f" {word} {own[first][f'{key}_GB/s']}"
                if first == len(there):
                    expected += f", kernels {100 * max(float(row['kernels']) for row in own):.1f}% at most"
            self.assertEqual(" ".join(line.split()), expected)
        self.assertIn(" from ", table[0])
        # Of sizes, watts and latencies nothing is asked.
        for axis in ("m=64,128", "memory:gpu*.watts.busy=300,400 W", "link:*.latency=1,2 us"):
            self.assertNotIn("which", self.succeed(*BASE, "--vary", axis))

    def test_where_the_last_value_still_gains_enough_is_beyond_it(self):
        text = self.succeed(*BASE, "--vary", "link:host<->pcie0.bandwidth=0.25,0.5 GB/s", "--csv", "all.csv")
        slow, fast = (float(row["makespan_s"]) for row in self.rows())
        self.assertGreater(slow, 1.05 * fast)
        self.assertIn("beyond 0.5 ", text)

    def test_what_is_nowhere_compute_bound_tells_how_near_it_comes(self):
        text = self.succeed(*BASE, "--vary", "link:host<->pcie0.bandwidth=6,12 GB/s", "--csv", "all.csv")
        most = max(float(row["kernels"]) for row in self.rows())
        self.assertRegex(text, rf"nowhere, kernels {100 * most:.1f}% at most")

    def test_a_column_says_what_the_row_was_made_of(self):
        self.succeed(*BASE, "--vary", "m=64,1K", "--vary", "transa=T,N", "--csv", "all.csv")
        for row in self.rows():
            simulated = json.loads(self.succeed("simulate", "--gemm", f"{row['m']},256,256", "--topology", "two-gpu",
                                                "--policy", "gemmex", "--transa", row["transa"], "--json", "-"))
            self.assertAlmostEqual(float(row["makespan_s"]) / simulated["makespan_s"], 1, delta=1e-9)
            self.assertEqual(int(row["m"]), simulated["problem"]["m"])

    def test_the_number_of_threads_and_the_way_to_ask_change_nothing(self):
        self.succeed(*BASE, *AXES, "--csv", "all.csv", "--jobs", "1")
        self.succeed(*BASE, *AXES, "--csv", "many.csv", "--jobs", "7")
        self.write("sweep.toml", FILE)
        self.succeed("sweep", "sweep.toml", "--csv", "file.csv")
        first = (self.folder / "all.csv").read_bytes()
        self.assertEqual((self.folder / "many.csv").read_bytes(), first)
        for one, other in zip(self.rows(), self.rows("file.csv")):
            self.assertEqual({**one, "sweep": ""}, {**other, "sweep": ""})
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["all.csv", "file.csv", "many.csv", "sweep.toml"])

    def test_machines_are_looked_for_beside_the_file_of_a_sweep_first(self):
        (self.folder / "study").mkdir()
        self.write("study/sweep.toml", FILE.replace("two-gpu", "mine.toml"))
        self.write("mine.toml", (TOPOLOGIES / "two-gpu.toml").read_text().replace('"two-gpu"', '"here"'))
        for machine in ("here", "beside"):
            self.succeed("sweep", "study/sweep.toml", "--csv", "all.csv")
            self.assertTrue(self.rows()[0]["machine"].startswith(machine))
            self.write("study/mine.toml", (self.folder / "mine.toml").read_text().replace('"here"', '"beside"'))
        self.write("study/sweep.toml", FILE.replace("two-gpu", "gone.toml"))
        self.assert_refused(["sweep", "study/sweep.toml"], "study/sweep.toml:3:12: topology: 'gone.toml' does not exist")

    def test_parts_join_to_the_same_table(self):
        self.succeed(*BASE, *AXES, "--csv", "all.csv", "--figure", "all.svg")
        for part in (1, 2, 3):
            self.succeed(*BASE, *AXES, "--part", f"{part}/3", "--csv", f"part{part}.csv")
        self.succeed(*BASE, *AXES, "--part", "19/19", "--csv", "empty.csv")
        self.write("part1.csv", (self.folder / "part1.csv").read_text().replace("\n", "\r\n"))
        self.succeed("sweep", "join", "empty.csv", "part3.csv", "part1.csv", "part2.csv", "--csv", "joined.csv", "--figure",
                     "joined.svg")
        self.assertEqual((self.folder / "empty.csv").read_text().count("\n"), 1)
        self.assert_refused(["sweep", "join", "empty.csv"], "has no rows")
        for kind in ("csv", "svg"):
            self.assertEqual((self.folder / f"joined.{kind}").read_bytes(), (self.folder / f"all.{kind}").read_bytes())
        self.assert_refused(["sweep", "join", "part1.csv", "part2.csv"], "missing: 2, 5, 8, 11, 14, ...")
        self.assert_refused(["sweep", "join", "part1.csv", "all.csv"], "all.csv:2:")
        self.succeed(*BASE, "--vary", "tile=32,64", "--csv", "other.csv")
        self.assert_refused(["sweep", "join", "part1.csv", "other.csv"], "other.csv: has other columns")
        self.succeed(*BASE, *AXES, "--set", "routing=initial", "--csv", "other.csv")
        self.assert_refused(["sweep", "join", "part1.csv", "other.csv"], "is another sweep than")

    def test_a_figure_that_fails_loses_nothing_else(self):
        package = self.folder / "installed/share/tilerail/python/tilerail"
        shutil.copytree(SOURCE / "python/tilerail", package)
        program = self.folder / "installed/bin/tilerail"
        program.parent.mkdir()
        shutil.copy(TILERAIL, program)
        figure = package / "sweep_figure.py"
        figure.write_text(figure.read_text() + "\n\ndef _lines(*_):\n    raise TableError('no ink')\n")
        done = subprocess.run([program, *BASE, "--vary", "tile=32,64", "--csv", "all.csv", "--json", "all.json",
                               "--figure", "f.svg"], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})
        self.assertEqual(done.returncode, 2)
        self.assertIn("--figure: the figure could not be drawn: no ink", done.stderr)
        self.assertIn("makespan", done.stdout)
        self.assertEqual(len(self.rows()), 2)
        self.assertEqual(len(json.loads((self.folder / "all.json").read_text())["rows"]), 2)
        self.assertFalse((self.folder / "f.svg").exists())

    def test_where_every_point_failed_the_reason_is_told_and_nothing_drawn(self):
        done = self.run_command("sweep", "--topology", "two-gpu", "--place", "0:0:0", "--vary", "gemm=16K,32K", "--csv",
                                "all.csv", "--figure", "f.svg")
        self.assertEqual((done.returncode, done.stderr), (2, ""))
        self.assertIn("2 of 2 points failed", done.stdout)
        self.assertTrue(all(row["error"] for row in self.rows()))
        self.assertFalse((self.folder / "f.svg").exists())

    def test_machines_and_their_groups_may_have_any_name(self):
        text = (TOPOLOGIES / "two-gpu.toml").read_text()
        group = "x=$y$ & z[1]"
        self.write("1e2", text + f"""[[group]]
name = "{group}"
forward = ["host->pcie0"]
capacity = "12 GB/s"
source = "{re.search(r'source = "(.+)"', text)[1]}"
""")
        self.succeed("sweep", "--gemm", "256", "--policy", "gemmex", "--vary", "topology=1e2,two-gpu")
        key = f"group:{group}.capacity"
        self.succeed("sweep", "--gemm", "256", "--policy", "gemmex", "--topology", "1e2", "--vary",
                     f"{key}=3,6,12 GB/s", "--csv", "all.csv", "--figure", "f.svg")
        self.assertEqual([row[f"{key}_GB/s"] for row in self.rows()], ["3", "6", "12"])
        self.assertEqual(len({row["makespan_s"] for row in self.rows()}), 3)
        self.assertIn("x=$y$ &amp; z[1]", (self.folder / "f.svg").read_text())
        self.succeed("whatif", "--gemm", "256", "--policy", "gemmex", "--topology", "1e2", "--only", f"group:{group}",
                     "--together", f"group:{group} & link:host->pcie0", "--figure", "t.svg")
        self.assertIn("x=$y$ &amp; z[1]", (self.folder / "t.svg").read_text())

    def test_failures_are_listed_and_the_rest_is_done(self):
        done = self.run_command("sweep", "--topology", "two-gpu", "--place", "0:0:0", "--policy", "gemmex", "--vary",
                                "gemm=256,16K,512", "--csv", "all.csv", "--json", "all.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 of 3 points failed:\ngemm=16384 point 1: ", done.stdout)
        rows = self.rows()
        self.assertEqual([bool(row["error"]) for row in rows], [False, True, False])
        self.assertEqual(rows[1]["makespan_s"], "")
        self.assertGreater(float(rows[2]["makespan_s"]), float(rows[0]["makespan_s"]))
        self.assertEqual(json.loads((self.folder / "all.json").read_text())["rows"][1]["error"], rows[1]["error"])
        alone = self.run_command("sweep", "--topology", "two-gpu", "--place", "0:0:0", "--vary", "gemm=16K")
        self.assertEqual(alone.returncode, 2)

    def test_answers_leave_out_values_of_which_one_point_is_left(self):
        text = self.succeed("sweep", "--topology", "two-gpu", "--gemm", "1K", "--place", "0:0:0", "--vary",
                            "memory:gpu*.capacity=12,40,200 MB", "--vary", "m=1K,4K,8K", "--csv", "all.csv")
        self.assertEqual([bool(row["error"]) for row in self.rows()].count(True), 5)
        answers = text[text.index("which memory:gpu*.capacity"):text.index("points failed")]
        self.assertIn("1024 ", answers)
        self.assertNotIn("8192 ", answers)
        for part in ("1/3", "2/3", "3/3"):
            self.succeed("sweep", "--topology", "two-gpu", "--gemm", "1K", "--vary", "link:*.bandwidth=5,10,20,40 GB/s",
                         "--vary", "policy=tilerail,gemmex", "--part", part, "--csv", f"{part[0]}.csv")
        self.succeed("sweep", "join", "1.csv", "2.csv", "3.csv", "--csv", "joined.csv")
        self.assertEqual(len(self.rows("joined.csv")), 8)

    def test_the_table_sums_up_many_points(self):
        text = self.succeed(*BASE, "--vary", "tile=16..240 +4", "--vary", "dtype=f64,f32")
        self.assertIn("the 10 fastest of 114 points", text)

    def test_figures_are_chosen_by_what_was_varied(self):
        for axes in (["tile=32,64,128"], ["policy=gemmex,baseline"], ["tile=32,64,128", "policy=gemmex,baseline"],
                     ["tile=32,64,128", "gemm=128,192,256"], ["policy=gemmex,baseline", "place=h:h:h;0:0:0"],
                     ["tile=32,64,128", "k=64,128,256", "dtype=f64,f32"], []):
            with self.subTest(axes):
                arguments = [word for axis in axes for word in ("--vary", axis)]
                self.succeed(*BASE, *arguments, "--figure", "f.svg")
                self.assertIn("<svg", (self.folder / "f.svg").read_text())

    def test_what_is_wrong_is_refused_before_anything_runs(self):
        self.write("bad.toml", '[base]\ngemm = 64\ntopology = "two-gpu"\n[[vary]]\nkey = "tile"\nvalues = "64..32 x2"\n')
        self.write("key.toml", "[base]\ncolour = 64\n")
        self.write("broken.toml", "[base\n")
        self.write("set.toml", '[base]\ngemm = 64\ntopology = "two-gpu"\ngpus = 1\n')
        self.write("both.toml", "[[vary]]\nkey = \"m\"\nkeys = [\"n\"]\nvalues = [1]\n")
        for arguments, quoted in [
            ([*BASE, "--vary", "colour=red"], "'colour' is not a key"),
            ([*BASE, "--vary", "tile"], "--vary 'tile': 'tile' is not KEY=VALUES"),
            ([*BASE, "--vary", "tile=64..32 x2"], "'64..32 x2' does not ascend"),
            ([*BASE, "--vary", "dtype=f64,f65"], "--vary 'dtype=f64,f65': "),
            ([*BASE, "--vary", "gpus=1,3"], "--vary 'gpus=1,3': "),
            ([*BASE, "--part", "4/3"], "--part: '4'"),
            ([*BASE, "--iters", "nan", "--check"], "--check: means nothing to a simulation"),
            ([*BASE, "--seed", "x"], "--seed: means nothing to a simulation"),
            ([*BASE, "--backend", "host", "--topo-set", "gpus=1"], "--backend: 'host' runs on the machine as it is"),
            ([*BASE, "--backend", "host", "--vary", "topology=two-gpu,clx-ai"], "expected no 'topology'"),
            ([*BASE, "--vary", "gemm=1e400"], "--vary 'gemm=1e400': gemm: '1e400'"),
            ([*BASE, "--vary", "gemm=128,256", "--vary", "m=64"], "gemm: gives all three sizes"),
            ([*BASE, "--vary", "link:*.bandwidth=1..8 GB/s x2 MB/s"], "--vary"),
            ([*BASE, "--backend", "abacus"], "abacus"),
            ([*BASE, "--backend", "host", "--vary", "gpus=1,2"], "backend: 'host' runs on the machine as it is"),
            ([*BASE, "--vary", "tile=64", "--csv", "no/folder.csv"], "the folder 'no' does not exist"),
            (["sweep", "--topology", "two-gpu", "--vary", "tile=64"], "--gemm: is missing"),
            (["sweep", "bad.toml"], "bad.toml:6:10: '64..32 x2' does not ascend"),
            (["sweep", "key.toml"], "key.toml:2:10: 'colour' is not a key"),
            (["sweep", "broken.toml"], "broken.toml:1:"),
            (["sweep", "set.toml", "--backend", "host"], "set.toml:4:8: backend: 'host' runs on the machine as it is"),
            (["sweep", "both.toml"], "expected 'key' or 'keys'"),
            (["sweep", "nowhere.toml"], "nowhere.toml"),
            (["sweep", "bad.toml", "--gemm", "64"], "--gemm"),
            (["sweep", "join", "bad.toml"], "is not the header of a sweep"),
            (["sweep", "join", "bad.toml", "--gemm", "64"], "--gemm: means nothing to join"),
            (["sweep", "join", "bad.toml", "--part", "1/2"], "--part: means nothing to join"),
            (["sweep", "--jobs", "2", "join", "bad.toml"], "--jobs: means nothing to join"),
        ]:
            with self.subTest(arguments):
                self.assert_refused(arguments, quoted)

    def test_points_run_on_hardware_one_after_another(self):
        self.succeed(*BASE, "--vary", "tile=64,128", "--backend", "host", "--iters", "1", "--check", "--csv", "all.csv")
        for row in self.rows():
            self.assertEqual((row["backend"], row["check"]), ("host", "passed"))
            self.assertGreater(float(row["measured_s"]), 0)
            self.assertGreater(float(row["makespan_s"]), 0)


if __name__ == "__main__":
    unittest.main()
