"""System limits that affect commands."""

import os
import resource
import subprocess
import unittest

from support import SMALL, TILERAIL, TOPOLOGIES, CommandTest, needs_simulator
from waiting import HANG

ANOTHER_USER = 100_000 + os.getpid()  # a user without processes: limits are per user, and root has none


def may_become_another():
    try:
        return subprocess.run(["/bin/true"], user=ANOTHER_USER).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


@needs_simulator
@unittest.skipUnless(may_become_another(), "this user cannot start programs as another one")
class Limits(CommandTest):
    def run_alone(self, *command, threads=1):
        """Runs as a user with this limit of threads."""
        self.folder.chmod(0o777)
        return subprocess.run([TILERAIL, *command], cwd=self.folder, user=ANOTHER_USER, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG,
                              env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES),
                                   "OPENBLAS_NUM_THREADS": "1"},  # else OpenBLAS ends the program without threads
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads)))

    def test_the_simulator_needs_threads(self):
        done = self.run_alone("simulate", *SMALL[:2], "--topology", "two-gpu")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr, "tilerail: error: no more threads can be started (Resource temporarily unavailable); "
                                      "expected a higher limit on processes and threads (ulimit -u)\n")

    def test_checks_need_no_thread_of_the_blas_library(self):
        workers = 5  # of two devices, the dispatcher, and those started by the first call
        for size in (64, 300):
            with self.subTest(size):
                done = self.run_alone("run", "--backend", "host", "--gemm", str(size), "--topology", "two-gpu", "--iters",
                                      "1", "--check", threads=workers)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, "check: passed")

    def test_studies_run_without_further_threads(self):
        for command in (["whatif", *SMALL], ["sweep", *SMALL[:2], "--topology", "two-gpu", "--vary", "tile=32,64"],
                        ["tune", *SMALL[:2], "--topology", "two-gpu", "--plan-cache", "plans.toml"]):
            with self.subTest(command[0]):
                done = self.run_alone(*command)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, self.succeed(*command, *(["--again"] if command[0] == "tune" else [])))


if __name__ == "__main__":
    unittest.main()
