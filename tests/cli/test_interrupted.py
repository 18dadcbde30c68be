"""Interrupted work keeps its complete results, or nothing."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import unittest

from support import SMALL, TILERAIL, TOPOLOGIES, CommandTest, needs_simulator, rows
from waiting import HANG, wait_until

# Many steps, each of milliseconds: no machine completes them before the interruption, and no test waits for them.
ENDLESS_SWEEP = ["sweep", "--gemm", "4K", "--topology", "two-gpu", "--policy", "gemmex", "--vary", "tile=256..1280 +1",
                 "--vary", "dtype=f64,f32,f16", "--jobs", "2"]
ENDLESS_TUNING = ["tune", "--topology", "two-gpu", "--vary", "gemm=64,4K..8K +1", "--effort", "high",
                  "--plan-cache", "plans.toml", "--jobs", "1"]
ENDLESS_QUESTIONS = ["whatif", "--gemm", "4K", "--tile", "512", "--topology", "karolina-hgx-a100", "--jobs", "2"]


class InterruptedTest(CommandTest):
    def start(self, arguments):
        process = subprocess.Popen([TILERAIL, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES), "TILERAIL_PLAN_CACHE": ""})
        self.addCleanup(process.kill)
        return process

    def start_logging(self, arguments):
        """Starts with a log in a pipe of one page, so the program cannot run far ahead of the test."""
        process = self.start(["-v", *map(str, arguments)])
        fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, 4096)
        return process

    def read_up_to(self, process, words):
        for line in process.stderr:
            if line.startswith("tilerail: " + words):
                return
        self.fail(f"it never said '{words}'")

    def last_words(self, process):
        """The last line of the log, and stdout."""
        out, said = process.communicate(timeout=HANG)
        return said.splitlines()[-1], out


@needs_simulator
class ContinuedSweep(InterruptedTest):
    BASE = ["sweep", "--gemm", "1K", "--topology", "two-gpu", "--policy", "gemmex", "--vary"]
    SWEEP = [*BASE, "tile=256..1024 +64"]

    def interrupt(self, number):
        """Sends a signal after some of the points of SWEEP, followed by more points than any machine completes."""
        tiles = [*range(256, 1025, 64), *(tile for tile in range(128, 4096) if tile % 64)]
        process = self.start_logging([*self.BASE, f"tile={','.join(map(str, tiles))}", "--jobs", "1", "--csv", "all.csv"])
        for _ in range(4):
            self.read_up_to(process, "planned")
        process.send_signal(number)
        _, said = process.communicate(timeout=HANG)
        self.assertEqual(process.returncode, -number)
        return said

    def test_the_same_command_continues(self):
        self.succeed(*self.SWEEP, "--csv", "whole.csv", "--json", "whole.json")
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number.name):
                said = self.interrupt(number)
                if number == signal.SIGINT:
                    self.assertIn("the outputs contain these, and the same command continues", said)
                kept = len((self.folder / "all.csv.part").read_text().splitlines()) - 1
                self.assertGreaterEqual(kept, 3)
                reused = min(kept, 13)  # points of SWEEP come first
                process = self.start(["-v", *self.SWEEP, "--csv", "all.csv", "--json", "all.json"])
                _, said = process.communicate(timeout=HANG)
                self.assertIn(f"all.csv.part: {kept} rows of an earlier run", said)
                self.assertEqual(said.count("planned"), 13 - reused)
                for kind in ("csv", "json"):
                    self.assertEqual((self.folder / f"all.{kind}").read_text(),
                                     (self.folder / f"whole.{kind}").read_text())
                self.assertFalse((self.folder / "all.csv.part").exists())

    def test_another_build_plans_all_points(self):
        self.interrupt(signal.SIGKILL)
        rows, other = (self.folder / "all.csv.part").read_bytes(), self.folder / "tilerail"
        self.assertGreater(len(rows.splitlines()), 1)
        shutil.copy2(TILERAIL, other)  # with its time

        def planned():
            (self.folder / "all.csv.part").write_bytes(rows)
            done = subprocess.run([other, "-v", *self.SWEEP, "--csv", "all.csv"], cwd=self.folder, capture_output=True,
                                  text=True, env={**os.environ, "TILERAIL_TOPOLOGIES": str(TOPOLOGIES)})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr.count("planned")

        self.assertLess(planned(), 13)
        os.utime(other, (1, 1))  # the same size, another time
        self.assertEqual(planned(), 13)

    def test_other_files_are_kept(self):
        (self.folder / "all.csv.part").write_text("my notes")
        self.assert_refused([*self.SWEEP, "--csv", "all.csv"],
                            "all.csv.part:1: is not 'rows of an interrupted sweep of TileRail'")
        self.assert_refused([*self.SWEEP, "--csv", "c.csv", "--json", "c.csv.part"], "is the same file as")

    def test_names_need_not_be_utf8(self):
        machine = os.fsencode(self.folder) + b"/m\xe9.toml"
        shutil.copy(TOPOLOGIES / "two-gpu.toml", machine)
        done = subprocess.run([TILERAIL, "sweep", "--gemm", "64", "--vary", "tile=32", "--topology", machine, "--csv",
                               "all.csv"], cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


@needs_simulator
class Interrupted(InterruptedTest):
    def test_the_points_of_a_sweep_that_are_complete_are_written(self):
        process = self.start_logging([*ENDLESS_SWEEP, "--csv", "all.csv"])
        for _ in range(4):  # with two threads: the first points are complete
            self.read_up_to(process, "planned")
        process.send_signal(signal.SIGINT)
        said, _ = self.last_words(process)
        self.assertEqual(process.returncode, -signal.SIGINT)
        told = re.fullmatch(r"tilerail: interrupted after (\d+) of 3075 points; the outputs contain these, and the same "
                            "command continues", said)
        self.assertTrue(told, said)
        written = rows(self.folder / "all.csv")
        self.assertEqual(len(written), int(told[1]))
        self.assertTrue(all(float(row["makespan_s"]) > 0 for row in written))

    def test_the_signal_is_handled_if_nobody_reads_messages(self):
        process = self.start([*ENDLESS_SWEEP, "--csv", "all.csv"])

        def catches_it():
            with open(f"/proc/{process.pid}/status") as status:
                caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
            return int(caught, 16) >> (signal.SIGINT - 1) & 1

        wait_until(catches_it)
        process.stdout.close()
        process.stderr.close()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=HANG), -signal.SIGINT)

    def test_a_tuning_keeps_the_plans_that_it_has_found(self):
        process = self.start(ENDLESS_TUNING)
        wait_until((self.folder / "plans.toml").exists)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=HANG)
        self.assertEqual((process.returncode, out), (-signal.SIGINT, ""))
        self.assertEqual(said, "")
        self.assertTrue((self.folder / "plans.toml").exists())

    def test_whatif_keeps_nothing(self):
        process = self.start_logging(ENDLESS_QUESTIONS)
        for _ in range(2):  # for the unchanged machine, and for a changed one
            self.read_up_to(process, "planned")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=HANG)
        self.assertEqual((process.returncode, out), (-signal.SIGINT, ""))
        self.assertEqual(list(self.folder.iterdir()), [])


class InterruptedRuns(InterruptedTest):
    CASES = 20

    def start_cases(self, iterations, csv="r.csv"):
        self.write("cases.csv", "m,n,k,policy,label\n" + "".join(f"64,64,64,gemmex,case {i}\n" for i in range(self.CASES)))
        return self.start_logging(["compare", "--cases", "cases.csv", "--backend", "host", "--topology", "two-gpu",
                                   "--no-simulate", "--iters", iterations, "--csv", csv])

    def test_the_cases_that_are_complete_are_written(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = self.start_cases(200)
                self.read_up_to(process, "case 0")
                process.send_signal(number)
                said, table = self.last_words(process)
                self.assertEqual(process.returncode, -number)
                told = re.fullmatch(rf"tilerail: interrupted after (\d+) of {self.CASES} cases; the outputs contain these",
                                    said)
                self.assertTrue(told, said)
                done = int(told[1])
                self.assertIn(done, range(1, self.CASES))
                labels = [f"case {i}" for i in range(done)]
                self.assertEqual([row["label"] for row in rows(self.folder / "r.csv")], labels)
                self.assertEqual([line for line in table.splitlines() if line.startswith("case ")][1:],
                                 table.splitlines()[1:done + 1])

    def test_before_the_first_case_is_complete_nothing_is_written(self):
        process = self.start_cases(1000)
        self.read_up_to(process, "iteration 1")
        process.send_signal(signal.SIGINT)
        said, out = self.last_words(process)
        self.assertEqual((process.returncode, said, out),
                         (-signal.SIGINT, f"tilerail: interrupted after 0 of {self.CASES} cases; nothing is kept; the same "
                          "command begins anew", ""))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["cases.csv"])

    def test_a_second_signal_ends_the_command_immediately(self):
        os.mkfifo(self.folder / "unread")  # all other outputs would follow this one
        process = self.start_cases(200, csv="unread")
        self.read_up_to(process, "case 0")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=HANG)
        self.assertIn(process.returncode, (-signal.SIGINT, -signal.SIGTERM))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"cases.csv", "unread"})

    def test_runs_and_calibrations_keep_nothing(self):
        run = ["run", "--backend", "host", *SMALL, "--iters", 1000, "--json", "r.json"]
        calibration = ["calibrate", "--backend", "host", "--seconds", 3600, "-o", "machine.toml"]
        for arguments, words in ((run, "iteration 1"), (calibration, "measuring")):
            with self.subTest(arguments[0]):
                process = self.start_logging(arguments)
                self.read_up_to(process, words)
                process.send_signal(signal.SIGINT)
                out, _ = process.communicate(timeout=HANG)
                self.assertEqual((process.returncode, out), (-signal.SIGINT, ""))
                self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
