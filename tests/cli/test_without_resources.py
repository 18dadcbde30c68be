"""Commands without further processes, threads or files."""

import csv
import os
import resource
import signal
import subprocess
import unittest

from support import TILERAIL, TOPOLOGIES, CommandTest
from waiting import HANG


class WithoutResources(CommandTest):
    def run_limited(self, limit, most, *arguments):
        def lower():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(limit, (most, most))

        return subprocess.run(
            [TILERAIL, *arguments], cwd=self.folder, preexec_fn=lower, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=HANG, env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})

    def test_measured_cases_are_printed_if_no_file_can_be_written(self):
        self.write("cases.csv", "m,n,k,policy,tile\n48,48,48,gemmex,16\n")
        done = self.run_limited(resource.RLIMIT_FSIZE, 0, "compare", "--cases", "cases.csv", "--backend", "host",
                                "--topology", "two-gpu", "--no-simulate", "--csv", "results.csv")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'results.csv' cannot be written: File too large", done.stderr)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual([row["m"] for row in rows], ["48"], done.stdout)
        self.assertFalse((self.folder / "results.csv").exists())


if __name__ == "__main__":
    unittest.main()
