"""Work that is interrupted says what is kept of it and how to go on."""

import os
import signal
import subprocess
import unittest

from support import TILERAIL, TOPOLOGIES, CommandTest, needs_simulator
from test_sweep import BASE
from waiting import wait_until

MANY = ["--vary", "tile=16..176 +1", "--vary", "dtype=f64,f32,f16"]


@needs_simulator
class Interrupted(CommandTest):
    def interrupted(self, arguments, there):
        """What it says on stderr when it is interrupted once the file `there` exists, or as soon as it has processes."""
        process = subprocess.Popen([TILERAIL, *arguments, "--jobs", "2"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "TILERAIL_PLAN_CACHE": ""})
        self.addCleanup(process.kill)
        children = f"/proc/{process.pid}/task/{process.pid}/children"

        def is_working():
            self.assertIsNone(process.poll(), "it was over before it could be interrupted")
            if there:
                return (self.folder / there).exists()
            with open(children) as file:
                return len(file.read().split()) >= 2

        wait_until(is_working)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
        out, said = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (-signal.SIGINT, ""))
        return said

    def test_a_sweep_goes_on_by_the_same_command(self):
        command = [*BASE, *MANY, "--csv", "all.csv"]
        self.assertEqual(self.interrupted(command, "all.csv.journal"),
                         "tilerail: interrupted: the points that are done are kept in 'all.csv.journal'; the same command "
                         "goes on from there\n")
        self.assertTrue((self.folder / "all.csv.journal").exists())

    def test_the_signal_is_seen_where_nobody_reads_what_is_said(self):
        process = subprocess.Popen([TILERAIL, *BASE, *MANY, "--csv", "all.csv", "--jobs", "2"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "TILERAIL_PLAN_CACHE": ""})
        self.addCleanup(process.kill)
        wait_until(lambda: (self.folder / "all.csv.journal").exists())
        process.stderr.close()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), -signal.SIGINT)

    def test_a_sweep_without_a_table_keeps_nothing(self):
        self.assertEqual(self.interrupted([*BASE, *MANY], None),
                         "tilerail: interrupted: nothing is kept; with --csv FILE the same command would go on where it "
                         "was\n")

    def test_a_tuning_keeps_the_plans_that_it_has_found(self):
        command = ["tune", "--topology", "two-gpu", "--vary", "gemm=64..640 +64", "--plan-cache", "plans.toml"]
        self.assertEqual(self.interrupted(command, "plans.toml"),
                         "tilerail: interrupted: the plans that are found are kept in 'plans.toml'; the same command goes "
                         "on with the others\n")
        self.assertTrue((self.folder / "plans.toml").exists())

    def test_whatif_keeps_nothing(self):
        self.assertEqual(self.interrupted(["whatif", "--gemm", "16K", "--topology", "karolina-hgx-a100"], None),
                         "tilerail: interrupted: nothing is kept; the same command begins anew\n")


if __name__ == "__main__":
    unittest.main()
