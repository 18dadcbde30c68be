"""`sweep`: tables of all combinations, ended and resumed, in parts, on hardware, as figures."""

import csv
import json
import os
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

    def test_the_number_of_processes_and_the_way_to_ask_change_nothing(self):
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

    def test_parts_join_to_the_same_table(self):
        self.succeed(*BASE, *AXES, "--csv", "all.csv", "--figure", "all.svg")
        for part in (1, 2, 3):
            self.succeed(*BASE, *AXES, "--part", f"{part}/3", "--csv", f"part{part}.csv")
        self.succeed("sweep", "join", "part3.csv", "part1.csv", "part2.csv", "--csv", "joined.csv", "--figure",
                     "joined.svg")
        for kind in ("csv", "svg"):
            self.assertEqual((self.folder / f"joined.{kind}").read_bytes(), (self.folder / f"all.{kind}").read_bytes())
        self.assert_refused(["sweep", "join", "part1.csv", "part2.csv"], "missing: 2, 5, 8, 11, 14, ...")
        self.assert_refused(["sweep", "join", "part1.csv", "all.csv"], "point 0 is in a file before")
        self.succeed(*BASE, "--vary", "tile=32,64", "--csv", "other.csv")
        self.assert_refused(["sweep", "join", "part1.csv", "other.csv"], "other.csv: is of sweep")

    def test_a_sweep_that_is_killed_goes_on_where_it_was(self):
        many = [*BASE, "--vary", "tile=16..176 +4", "--vary", "dtype=f64,f32,f16", "--jobs", "2"]
        self.succeed(*many, "--csv", "whole.csv")
        ends = 0
        while True:
            process = subprocess.Popen([TILERAIL, *many, "--csv", "all.csv"], cwd=self.folder,
                                       env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                process.wait(0.25 * 1.3**ends)  # a machine that is busy needs longer to get anywhere
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            said = process.stderr.read()
            process.stderr.close()
            if process.returncode == 0:
                break
            self.assertEqual(process.returncode, -signal.SIGKILL, said)
            self.assertFalse((self.folder / "all.csv").exists())
            ends += 1
        if ends:
            self.assertRegex(said, r"\d+ of 123 points were done before")
        self.assertEqual((self.folder / "all.csv").read_bytes(), (self.folder / "whole.csv").read_bytes())
        self.assertFalse((self.folder / "all.csv.journal").exists())

    def journal_of(self, *arguments):
        """The journal that a sweep leaves whose figure cannot be drawn in the end."""
        done = self.run_command(*BASE, *arguments, "--csv", "all.csv", "--figure", "bars.svg")
        self.assertEqual(done.returncode, 2, done.stderr)
        return self.folder / "all.csv.journal"

    def test_the_end_of_a_journal_that_was_being_written_is_cut_off(self):
        place = ["--vary", "place=" + ";".join(f"{a}:{b}:{c}" for a in "h01" for b in "h01" for c in "h01"),
                 "--vary", "routing=initial,eta", "--vary", "order=fifo,eta"]
        journal = self.journal_of(*place)
        whole = journal.read_bytes()
        self.assertEqual(whole.count(b"\n"), 109)
        journal.write_bytes(whole[:len(whole) // 2])
        done = self.run_command(*BASE, *place, "--csv", "all.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 108 points were done before", done.stderr)
        resumed = (self.folder / "all.csv").read_bytes()
        self.succeed(*BASE, *place, "--csv", "all.csv")
        self.assertEqual((self.folder / "all.csv").read_bytes(), resumed)

    def test_journals_of_other_sweeps_and_other_files_are_left_alone(self):
        self.write("all.csv.journal", OLD)
        self.assert_refused([*BASE, *AXES, "--csv", "all.csv"], "begins with 'what was there before'")

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

    def test_the_table_sums_up_many_points(self):
        text = self.succeed(*BASE, "--vary", "tile=16..240 +4")
        self.assertIn("the 10 fastest of 57 points", text)
        self.assertIn("over bound, median", text)

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
        self.write("both.toml", "[[vary]]\nkey = \"m\"\nkeys = [\"n\"]\nvalues = [1]\n")
        for arguments, quoted in [
            ([*BASE, "--vary", "colour=red"], "'colour' is no key"),
            ([*BASE, "--vary", "tile"], "--vary 'tile': expected KEY=VALUES"),
            ([*BASE, "--vary", "tile=64..32 x2"], "'64..32 x2' does not ascend"),
            ([*BASE, "--vary", "dtype=f64,f65"], "--vary 'dtype=f64,f65': "),
            ([*BASE, "--vary", "gpus=1,3"], "--vary 'gpus=1,3': "),
            ([*BASE, "--part", "4/3"], "--part: '4'"),
            ([*BASE, "--part", "2/2"], "--part: '2/2' is empty"),
            ([*BASE, "--backend", "abacus"], "abacus"),
            ([*BASE, "--backend", "host", "--vary", "gpus=1,2"], "--backend host runs on the machine as it is"),
            ([*BASE, "--vary", "tile=64", "--csv", "no/folder.csv"], "no folder 'no'"),
            (["sweep", "--topology", "two-gpu", "--vary", "tile=64"], "sizes are missing"),
            (["sweep", "bad.toml"], "bad.toml:6:10: '64..32 x2' does not ascend"),
            (["sweep", "key.toml"], "key.toml:2:10: 'colour' is no key"),
            (["sweep", "broken.toml"], "broken.toml:1:"),
            (["sweep", "both.toml"], "expected 'key' or 'keys'"),
            (["sweep", "nowhere.toml"], "nowhere.toml"),
            (["sweep", "bad.toml", "--gemm", "64"], "--gemm"),
            (["sweep", "join", "bad.toml"], "is not the header of a sweep"),
        ]:
            with self.subTest(arguments):
                self.assert_refused(arguments, quoted)

    def test_points_run_on_hardware_one_after_another(self):
        self.succeed(*BASE, "--vary", "tile=64,128", "--backend", "host", "--iters", "1", "--check", "--csv", "all.csv")
        for row in self.rows():
            self.assertEqual((row["backend"], row["check"]), ("host", "passed"))
            self.assertGreater(float(row["measured_s"]), 0)
            self.assertGreater(float(row["makespan_s"]), 0)


def snakemake():
    return os.environ.get("SNAKEMAKE") or shutil.which("snakemake")


@needs_simulator
@unittest.skipUnless(snakemake(), "snakemake is not installed: the workflow is not tried")
class Workflow(CommandTest):
    def test_two_local_jobs_give_the_table_of_one(self):
        self.write("sweep.toml", FILE)
        self.succeed("sweep", "sweep.toml", "--csv", "whole.csv")
        done = subprocess.run(
            [snakemake(), "-s", SOURCE / "workflows/sweep/Snakefile", "--cores", "2", "--config", "sweep=sweep.toml",
             "parts=2", "out=out", f"tilerail={TILERAIL}"], cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "HOME": str(self.folder)}, timeout=250)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "out/sweep.csv").read_bytes(), (self.folder / "whole.csv").read_bytes())
        self.assertIn("<svg", (self.folder / "out/sweep.svg").read_text())


if __name__ == "__main__":
    unittest.main()
