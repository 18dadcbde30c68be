"""Sweeps that were ended and go on where they were."""

import os
import signal
import subprocess
import unittest

from support import OLD, TILERAIL, TOPOLOGIES, CommandTest, endless_painter, needs_simulator
from test_sweep import AXES, BASE
from waiting import wait_until


@needs_simulator
class Journal(CommandTest):
    def test_a_sweep_that_is_killed_goes_on_where_it_was(self):
        many = ["--vary", "tile=16..176 +4", "--vary", "dtype=f64,f32,f16"]
        self.succeed(*BASE, *many, "--csv", "whole.csv")
        whole = (self.folder / "whole.csv").read_bytes()
        journal = self.journal_of(*many, "--jobs", "2")
        lines = journal.read_bytes().splitlines(keepends=True)
        for points in (0, 1, 60, 123):  # done when it was killed
            journal.write_bytes(b"".join(lines[:1 + points]))
            done = self.run_command(*BASE, *many, "--csv", "all.csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr, f"tilerail: {points} of 123 points were done before\n" if points else "")
            self.assertEqual((self.folder / "all.csv").read_bytes(), whole)
            self.assertFalse(journal.exists())

    def journal_of(self, *arguments):
        """The journal of a sweep that is killed while it draws, when it has all points."""
        painter = endless_painter(self.folder)
        pid = painter / "pid"
        with subprocess.Popen([TILERAIL, *BASE, *arguments, "--csv", "all.csv", "--figure", "all.svg"], cwd=self.folder,
                              env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "PATH": f"{painter}:/usr/bin:/bin"},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            self.addCleanup(process.kill)
            wait_until(lambda: pid.exists() and pid.read_text().strip())
            process.send_signal(signal.SIGKILL)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        for staged in self.folder.glob(".all.*"):
            staged.unlink()
        return self.folder / "all.csv.journal"

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
