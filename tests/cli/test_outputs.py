"""Outputs are atomic, also if the program or the device fails."""

import os
import signal
import subprocess
import unittest

from support import OLD, SMALL, TILERAIL, TOPOLOGIES, CommandTest, needs_simulator
from waiting import HANG, wait_until

LARGE = ["--gemm", "1K", "--tile", "32", "--policy", "gemmex", "--topology", "two-gpu"]  # a plan of several MB


class FullDevice(CommandTest):
    """/dev/full rejects every write. The error must be detected even if the output fits in a buffer."""

    def assert_told(self, *arguments):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TILERAIL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG,
                                  cwd=self.folder, env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})
        self.assertEqual(done.returncode, 2, arguments)
        self.assertEqual(done.stderr, "tilerail: error: standard output: could not be written: No space left on device\n")

    def test_every_command_reports_a_full_device(self):
        self.write("cases.csv", "m,n,k\n64,64,64\n")
        for arguments in (["plan", *LARGE, "-o", "-"], ["plan", *SMALL], ["run", "--backend", "host", *SMALL],
                          ["topo", "list"], ["topo", "show", "hgx-h200", "--link-map", "-"], ["policies"],
                          ["topo", "validate", "two-gpu"], ["--help"], ["--version"],
                          ["compare", "--cases", "cases.csv", "--backend", "host", "--topology", "two-gpu",
                           "--no-simulate", "--iters", "1", "--csv", "-"],
                          ["predict", *SMALL, "--devices", "0", "--json", "-"]):
            with self.subTest(arguments):
                self.assert_told(*arguments)

    def test_an_output_file_on_a_full_device_is_reported(self):
        done = self.run_command("plan", *LARGE, "-o", "/dev/full")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "tilerail: error: '/dev/full' cannot be written: No space left on device\n")


class StandardOutput(CommandTest):
    def test_a_dash_is_stdout_for_every_single_output(self):
        self.write("cases.csv", "m,n,k\n64,64,64\n")
        compare = ["compare", "--cases", "cases.csv", "--backend", "host", "--topology", "two-gpu", "--no-simulate"]
        self.assertTrue(self.succeed(*compare, "--csv", "-").startswith("routine,m,n,k,"))
        self.assertFalse((self.folder / "-").exists())


class OwnInputs(CommandTest):
    """Commands do not replace their inputs."""

    def test_an_output_that_is_an_input_is_refused_before_anything_runs(self):
        self.succeed("plan", *SMALL, "-o", "plan.json")
        self.succeed("run", "--backend", "host", *SMALL, "--timeline", "t.csv")
        self.write("machine.toml", (TOPOLOGIES / "two-gpu.toml").read_text())
        self.write("cases.csv", "m,n,k\n64,64,64\n")
        self.succeed("topo", "show", "two-gpu", "--link-map", "map.csv")
        (self.folder / "link.json").symlink_to("plan.json")
        cases = ["compare", "--cases", "cases.csv", "--backend", "host", "--no-simulate"]
        host = ["run", "--backend", "host"]
        for arguments, option, path, source in (
            ([*host, "--plan", "plan.json", "--json", "plan.json"], "--json", "plan.json", "plan.json"),
            ([*host, "--plan", "plan.json", "--json", "link.json"], "--json", "link.json", "plan.json"),
            ([*host, "--plan", "link.json", "--json", "plan.json"], "--json", "plan.json", "link.json"),
            ([*host, *SMALL[:-1], "./machine.toml", "--json", "machine.toml"], "--json", "machine.toml", "./machine.toml"),
            (["plan", *SMALL[:-1], "machine.toml", "-o", "machine.toml"], "-o", "machine.toml", "machine.toml"),
            (["compare", "t.csv", "t.csv", "--json", "t.csv"], "--json", "t.csv", "t.csv"),
            ([*cases, "--topology", "two-gpu", "--csv", "cases.csv"], "--csv", "cases.csv", "cases.csv"),
            ([*cases, "--topology", "machine.toml", "--csv", "machine.toml"], "--csv", "machine.toml", "machine.toml"),
            (["topo", "show", "machine.toml", "--link-map", "machine.toml"], "--link-map", "machine.toml", "machine.toml"),
            (["calibrate", "--backend", "cuda", "--from", "t.csv", "-o", "t.csv"], "-o", "t.csv", "t.csv"),
        ):
            with self.subTest(arguments):
                self.assert_refused(arguments, f"{option}: '{path}' is read as '{source}', too; expected a file of its own")


@needs_simulator
class Interrupted(CommandTest):
    """A program that is ended while writing leaves no temporary files."""

    def test_no_file_stays(self):
        os.mkfifo(self.folder / "r.json")  # no reader: the program waits, with the timeline staged
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                self.write("t.csv", OLD)
                program = subprocess.Popen(
                    [TILERAIL, "simulate", *SMALL, "--timeline", "t.csv", "--json", "r.json", "--gantt", "g.svg"],
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})
                self.addCleanup(program.kill)
                wait_until(lambda: len(list(self.folder.iterdir())) == 4)
                program.send_signal(number)
                self.assertEqual(program.communicate(timeout=HANG), (b"", b""))
                self.assertEqual(program.returncode, -number)
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["r.json", "t.csv"])
                self.assertEqual((self.folder / "t.csv").read_text(), OLD)


if __name__ == "__main__":
    unittest.main()
