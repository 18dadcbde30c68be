"""Sweeps that were ended and go on where they were."""

import os
import re
import signal
import subprocess
import time
import unittest

from support import OLD, TILERAIL, TOPOLOGIES, CommandTest, needs_simulator
from test_sweep import AXES, BASE


@needs_simulator
class Journal(CommandTest):
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
            ends += 1
            if (self.folder / "all.csv").exists():  # killed when all was written and nothing left to do but to exit
                self.assertEqual((self.folder / "all.csv").read_bytes(), (self.folder / "whole.csv").read_bytes())
                (self.folder / "all.csv").unlink()
                (self.folder / "all.csv.journal").unlink(missing_ok=True)
                ends = 0
        if ends:
            self.assertRegex(said, r"\d+ of 123 points were done before")
        self.assertEqual((self.folder / "all.csv").read_bytes(), (self.folder / "whole.csv").read_bytes())
        self.assertFalse((self.folder / "all.csv.journal").exists())

    def journal_of(self, *arguments):
        """The journal that a sweep leaves which is killed after a few points."""
        journal = self.folder / "all.csv.journal"
        with subprocess.Popen([TILERAIL, *BASE, *arguments, "--csv", "all.csv", "--jobs", "1"], cwd=self.folder,
                              env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 5):
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
        self.assertTrue(journal.exists(), "the sweep was over before it could be killed")
        return journal

    def test_the_end_of_a_journal_that_was_being_written_is_cut_off(self):
        place = ["--vary", "place=" + ";".join(f"{a}:{b}:{c}" for a in "h01" for b in "h01" for c in "h01"),
                 "--vary", "routing=initial,eta", "--vary", "order=fifo,eta"]
        journal = self.journal_of(*place)
        whole = journal.read_bytes()
        journal.write_bytes(whole[:len(whole) * 2 // 3])
        done = self.run_command(*BASE, *place, "--csv", "all.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 108 points were done before", done.stderr)
        resumed = (self.folder / "all.csv").read_bytes()
        self.succeed(*BASE, *place, "--csv", "all.csv")
        self.assertEqual((self.folder / "all.csv").read_bytes(), resumed)

    def test_journals_of_other_sweeps_and_other_files_are_left_alone(self):
        self.write("all.csv.journal", OLD)
        self.assert_refused([*BASE, *AXES, "--csv", "all.csv"], "begins with 'what was there before'")
        (self.folder / "all.csv.journal").unlink()
        journal = self.journal_of("--vary", "tile=16..176 +4", "--vary", "dtype=f64,f32,f16")
        header = journal.read_text().splitlines()[0]
        self.write("all.csv.journal", header + "\n1 {}\n")
        self.assert_refused([*BASE, "--vary", "tile=16..176 +4", "--vary", "dtype=f64,f32,f16", "--csv", "all.csv"],
                            "all.csv.journal:2: the line of point 1 is no row of this sweep")

    def test_no_number_of_jobs_leaves_no_journal(self):
        self.assert_refused([*BASE, *AXES, "--csv", "all.csv", "--jobs", "nan"], "--jobs: 'nan'")


if __name__ == "__main__":
    unittest.main()
