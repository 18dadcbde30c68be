"""Runs `tilerail experiment` (environment variable TILERAIL: the program) in a temporary folder."""

import csv
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from waiting import HANG

TILERAIL = os.environ.get("TILERAIL", "tilerail")
SOURCE = pathlib.Path(os.environ.get("TILERAIL_SOURCE", pathlib.Path(__file__).parents[2]))

REMARKS = "# version: tilerail 1\n# date: 2026-01-02 03:04 UTC\n# machine: sample, 8 GPUs\n# command: none\n"
DEFAULTS = {"m": 4096, "n": 4096, "k": 4096, "dtype": "f64", "transa": "N", "transb": "N", "alpha": 1, "beta": 1,
            "place": "h:h:h", "devices": 8, "policy": "tilerail", "group": "", "label": "", "tile": 1024,
            "plan_s": 0.25, "first_s": 2, "predicted_s": 1, "measured_s": 1, "measured_min_s": 1, "kernel_s": 0,
            "copy_s": 0, "waiting_s": 0, "issue_s": 0, "in_interval": "", "check": "passed", "gpus": 8}


def csv_rows(path):
    """The remarks of the header as a dictionary, and the rows as dictionaries."""
    lines = path.read_text().splitlines()
    remarks = dict(line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("#"))
    return remarks, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def table_after(text, title):
    """Cells of the lines below the line that starts with `title`, up to an empty line."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(title)) + 1
    table = []
    for line in lines[first:]:
        if not line:
            break
        table.append(line.split())
    return table


class ExperimentTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tilerail-experiment-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_command(self, *arguments):
        environment = {**os.environ, "TILERAIL_TOPOLOGIES": str(SOURCE / "topologies")}
        texts = [each if isinstance(each, bytes) else str(each) for each in arguments]
        return subprocess.run([TILERAIL, "experiment", *texts], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG)

    def succeed(self, *arguments):
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def assert_refused(self, arguments, quoted):
        before = sorted(self.folder.rglob("*"))
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{arguments}: {done.stderr}")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tilerail: error: "), done.stderr)
        self.assertIn(quoted, done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)


class HardwareTest(ExperimentTest):
    def save_results(self, *rows):
        with open(self.folder / "saved.csv", "w", newline="") as file:
            file.write(REMARKS)
            table = csv.DictWriter(file, DEFAULTS, lineterminator="\n")
            table.writeheader()
            table.writerows({**DEFAULTS, **row} for row in rows)

    def report(self, name, *rows):
        """The experiment's report for results with these cells."""
        self.save_results(*rows)
        text = self.succeed("run", name, "-o", "o", "--", "--from-saved", "saved.csv")
        self.assertIn("sample, 8 GPUs\n", text)
        self.assertFalse((self.folder / f"o/{name}.csv").exists())
        return text

    def measure(self, name, *arguments, machine="two-gpu"):
        text = self.succeed("run", name, "--", "--topology", SOURCE / f"topologies/{machine}.toml", "--backend", "host",
                            "--shrink", 128, "--iters", 1, "--warmup", 1, *arguments)
        return text, *csv_rows(self.folder / f"out/{name}/{name}.csv")
