"""`sweep`: tables of all combinations, as text and as figures."""

import csv
import json
import re
import unittest
import xml.etree.ElementTree

from support import TOPOLOGIES, CommandTest, needs_simulator

BASE = ["sweep", "--gemm", "256", "--topology", "two-gpu", "--policy", "gemmex"]
AXES = ["--vary", "tile=32..128 x2", "--vary", "link:host<->pcie0.bandwidth=6,12,24 GB/s", "--vary", "dtype=f64,f32"]


@needs_simulator
class Sweep(CommandTest):
    def rows(self, name="all.csv"):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_every_point_equals_simulate(self):
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

    # One GPU fetches A (4K x 4K) and computes one tile: 134.2 MB / min(rate, 10 GB/s) + 10 us, then 2 m n k / (1 TFLOP/s).
    #         n=4K: kernel 137.44 ms                n=2K: kernel 68.72 ms
    # GB/s    fetch, ms  makespan, ms  kernels      makespan, ms  kernels
    # 0.25    536.9      674.3         20.4 %       605.6         11.3 %
    # 0.5     268.4      405.9         33.9 %
    # 1       134.2      271.7         50.6 %       202.9         33.9 %
    # 4       33.6       171.0         80.4 %       102.3         67.2 %
    # 16      13.4       150.9         91.1 %        82.2         83.6 %
    # 64      as 16
    RATE = "link:host<->pcie0.bandwidth"
    ONE_FETCH = ["sweep", "--gemm", "4K", "--place", "h:0:0", "--devices", "0", "--tile", "4K", "--topology", "two-gpu",
                 "--policy", "gemmex"]

    def answers(self, *arguments):
        """The lines of answers about RATE, below their heading."""
        text = self.succeed(*self.ONE_FETCH, *arguments)
        table = text[text.index(f"\nwhich {self.RATE}_GB/s?\n"):].strip().splitlines()[2:]
        return [" ".join(line.split()) for line in table]

    def test_answers_give_the_values_from_which_gains_end_and_kernels_bind(self):
        self.assertEqual(self.answers("--vary", f"{self.RATE}=0.25..64 x4 GB/s", "--vary", "n=4K,2K"),
                         ["4096 from 16 from 16 from 1", "2048 from 16 nowhere, kernels 83.6% at most from 4"])
        # Sizes, watts and latencies have no answers.
        for axis in ("m=64,128", "memory:gpu*.watts.busy=300,400 W", "link:*.latency=1,2 us"):
            self.assertNotIn("which", self.succeed(*BASE, "--vary", axis))

    def test_answers_are_beyond_the_last_value_that_gains_enough(self):
        self.assertEqual(self.answers("--vary", f"{self.RATE}=0.25,0.5 GB/s"),
                         ["beyond 0.5 nowhere, kernels 33.9% at most nowhere"])

    def test_columns_contain_the_values_of_each_row(self):
        self.succeed(*BASE, "--vary", "m=64,1K", "--vary", "transa=T,N", "--csv", "all.csv")
        for row in self.rows():
            simulated = json.loads(self.succeed("simulate", "--gemm", f"{row['m']},256,256", "--topology", "two-gpu",
                                                "--policy", "gemmex", "--transa", row["transa"], "--json", "-"))
            self.assertAlmostEqual(float(row["makespan_s"]) / simulated["makespan_s"], 1, delta=1e-9)
            self.assertEqual(int(row["m"]), simulated["problem"]["m"])

    def test_the_number_of_threads_changes_nothing(self):
        self.succeed(*BASE, *AXES, "--csv", "all.csv", "--jobs", "1")
        self.succeed(*BASE, *AXES, "--csv", "many.csv", "--jobs", "7")
        first = (self.folder / "all.csv").read_bytes()
        self.assertEqual((self.folder / "many.csv").read_bytes(), first)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["all.csv", "many.csv"])

    def test_a_figure_of_too_many_lines_is_refused_before_any_point_runs(self):
        many = [*BASE, "--vary", "tile=16..64 +1", "--vary", "k=1..13 +1", "--csv", "all.csv", "--figure", "f.svg"]
        self.assert_refused(many, "--figure: would have 13 lines; expected at most 12")

    def test_if_every_point_fails_an_error_names_the_first_reason_and_nothing_is_drawn(self):
        done = self.run_command("sweep", "--topology", "two-gpu", "--place", "0:0:0", "--vary", "gemm=16K,32K", "--csv",
                                "all.csv", "--figure", "f.svg")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^tilerail: error: all 2 points failed, the first with: .*gpu0")
        self.assertIn("2 of 2 points failed", done.stdout)
        self.assertTrue(all(row["error"] for row in self.rows()))
        self.assertFalse((self.folder / "f.svg").exists())

    def test_machines_and_their_groups_may_have_any_name(self):
        text = (TOPOLOGIES / "two-gpu.toml").read_text()
        group = "x $y$ & z[1]"
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
        self.assertIn("x $y$ &amp; z[1]", (self.folder / "f.svg").read_text())

    def test_failures_are_listed_and_other_points_run(self):
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

    def test_the_table_sums_up_many_points(self):
        text = self.succeed(*BASE, "--vary", "tile=16..240 +4", "--vary", "dtype=f64,f32")
        self.assertIn("the 10 fastest of 114 points", text)

    def figure(self, *axes):
        """The text of the figure, the marks of points, and the drawn lines of results and bounds."""
        varied = [word for axis in axes for word in ("--vary", axis)]
        self.succeed(*BASE, *varied, "--figure", "f.svg", "--csv", "all.csv")
        root = xml.etree.ElementTree.parse(self.folder / "f.svg").getroot()
        texts = {text.text for text in root.findall("{*}text")}
        return texts, root.findall("{*}circle"), root.findall("{*}polyline[@stroke-width='1.6']")

    def test_a_figure_has_a_mark_for_each_point_and_names_what_varied(self):
        for axes, points, lines, words in (
                ([], 1, 1, {"makespan (us)", "bound"}),
                (["tile=32,64,128"], 3, 1, {"tile", "32", "128"}),
                (["policy=gemmex,baseline"], 2, 1, {"policy", "gemmex", "baseline"}),
                (["tile=32,64,128", "policy=gemmex,baseline"], 6, 2, {"tile", "policy=gemmex"}),
                (["tile=32,64", "gemm=128,192,256"], 6, 2, {"gemm", "TFLOP/s", "tile=64"}),
                (["link:host->pcie0.bandwidth=3..24 x2 GB/s"], 4, 1, {"link:host->pcie0.bandwidth (GB/s)"})):
            with self.subTest(axes):
                texts, marks, drawn = self.figure(*axes)
                self.assertEqual(len(marks), points)
                self.assertEqual(len(drawn) - (lines if lines > 1 else 0), lines)  # the legend has them, too
                self.assertLessEqual(words, texts)

    def test_a_lower_mark_is_a_faster_point(self):
        _, marks, _ = self.figure("link:host->pcie0.bandwidth=3..24 x2 GB/s")
        height = {float(row["makespan_s"]): float(mark.get("cy")) for row, mark in zip(self.rows(), marks)}
        self.assertEqual(len(height), 4)
        self.assertEqual(sorted(height.values()), [height[seconds] for seconds in sorted(height, reverse=True)])

    def test_wrong_arguments_are_refused_before_any_point_runs(self):
        for arguments, quoted in [
            ([*BASE, "--vary", "colour=red"], "'colour' is not a key"),
            ([*BASE, "--vary", "tile"], "vary 'tile': 'tile' is not KEY=VALUES"),
            ([*BASE, "--vary", "tile=64..32 x2"], "'64..32 x2' does not ascend"),
            ([*BASE, "--vary", "dtype=f64,f65"], "vary 'dtype=f64,f65': "),
            ([*BASE, "--vary", "gpus=1,3"], "vary 'gpus=1,3': "),
            ([*BASE, "--vary", "gemm=1e400"], "vary 'gemm=1e400': gemm: '1e400'"),
            ([*BASE, "--vary", "link:*.bandwidth=1..8 GB/s x2 MB/s"], "is not a range with a step"),
            ([*BASE, "--vary", "tile=64", "--csv", "no/folder.csv"], "the folder 'no' does not exist"),
            (["sweep", "--topology", "two-gpu", "--vary", "tile=64"], "--gemm: is missing"),
        ]:
            with self.subTest(arguments):
                self.assert_refused(arguments, quoted)


if __name__ == "__main__":
    unittest.main()
