"""Runs the real `tilerail` (environment variable TILERAIL) in a temporary folder."""

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
TOPOLOGIES = SOURCE / "topologies"

# Builds without SimGrid cannot simulate; everything else works.
needs_simulator = unittest.skipIf(os.environ.get("TILERAIL_HAS_SIM") == "0", "this build has no simulator")

# A problem that is planned and simulated in milliseconds: 2 x 2 x 2 tiles on two GPUs.
SMALL = ["--gemm", "64", "--tile", "32", "--policy", "gemmex", "--topology", "two-gpu"]
GEMMS = 8  # of this problem: one per 2 x 2 x 2 sub-problem

OLD = "what was there before\n"


def machine_text(name, gpus, links, rest="", root=""):
    """A machine: memory host, `gpus` GPUs gpu0 ... with kernels k, links (from, to, GB/s) in both directions with 1 us,
    and further tables `rest`; keys `root` precede all tables."""
    text = f"""schema = 1
name = "{name}"
{root}
[sources]
made = {{ kind = "assumed", text = "made up" }}
[[memory]]
name = "host"
kind = "host"
source = "made"
[[memory]]
names = "gpu[0-{gpus - 1}]"
kind = "gpu"
device = 0
kernels = "k"
source = "made"
"""
    for start, end, rate in links:
        text += f"""[[link]]
from = "{start}"
to = "{end}"
bandwidth = "{rate} GB/s"
latency = "1 us"
both = true
source = "made"
"""
    return text + rest


def kernels_text(rates, multiprocessors=80):
    """The table k of such a machine, with a line of f64 GEMM `rates`."""
    return f"""[kernels.k]
launch = "5 us"
multiprocessors = {multiprocessors}
block = [128, 128]
k_overhead = 0
source = "made"
[[kernels.k.gemm]]
dtype = "f64"
{rates}
source = "made"
"""


def rows(path):
    """The rows of a CSV file as dictionaries, without remarks."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class CommandTest(unittest.TestCase):
    """Each test runs the command in its own empty current folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tilerail-cli-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_command(self, *arguments, **environment):
        return subprocess.run(
            [TILERAIL, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "TILERAIL_PLAN_CACHE": "", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG,
        )

    def succeed(self, *arguments, **environment):
        """Runs, expects exit code 0 and an empty stderr, and returns stdout."""
        done = self.run_command(*arguments, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{arguments}: {done.stderr}")
        return done.stdout

    def presets(self):
        """The names of the policies, from the heading of the printed table: field, names, --set accepts."""
        return self.succeed("policies").splitlines()[0].split()[1:-2]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def assert_refused(self, arguments, quoted, code=2, **environment):
        """Expects one line on stderr that quotes the value, empty stdout, and unchanged files."""
        before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        done = self.run_command(*arguments, **environment)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr or done.stdout}")
        self.assertEqual(done.stdout, "", arguments)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, f"{arguments}: {done.stderr}")
        self.assertTrue(lines[0].startswith("tilerail: error: "), lines[0])
        self.assertIn(quoted, lines[0])
        after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(before, after, arguments)
