"""`tilerail experiment` itself: its list, its errors, the location of results."""

import os
import pathlib
import signal
import subprocess
import unittest

from harness.simulations import Simulation, Tilerail
from support import SOURCE, TILERAIL, ExperimentTest
from waiting import HANG, has_ended, wait_until


class Command(ExperimentTest):
    def test_list_names_every_script_with_the_first_line_of_its_docstring(self):
        lines = self.succeed("list").splitlines()
        scripts = sorted((SOURCE / "experiments").glob("*.py"))
        self.assertEqual([line.split()[0] for line in lines], [script.stem for script in scripts])
        for line, script in zip(lines, scripts):
            title = script.read_text().splitlines()[0].removeprefix('"""')
            self.assertTrue(line.endswith("  " + title), line)
        self.assertLessEqual({"thesis_fig_4_8", "karolina_gemmex"}, {script.stem for script in scripts})

    def test_a_quick_run_leaves_the_results_of_a_whole_one_alone(self):
        self.succeed("run", "cocopelia_table_2", "--quick")
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["cocopelia_table_2-quick"])

    def test_an_unknown_name_is_refused_with_the_names_there_are(self):
        names = ", ".join(sorted(script.stem for script in (SOURCE / "experiments").glob("*.py")))
        self.assert_refused(["run", "no-such"], f"'no-such' is not an experiment; expected one of: {names}")

    def test_a_missing_action_or_name_is_refused(self):
        self.assert_refused([], "list or run")
        self.assert_refused(["run"], "NAME")

    def test_arguments_after_the_dashes_reach_the_script_and_so_do_its_refusals(self):
        for name in ("thesis_fig_4_8", "karolina_gemmex"):
            self.assertIn("--sizes LIST", self.succeed("run", name, "--", "--help"))
            self.assert_refused(["run", name, "--", "--sizes", "8K,big"], "'big'")
            self.assert_refused(["run", name, "--", "--sizes", "0"], "'0'")
            self.assert_refused(["run", name, "--", "--jobs", "-1"], "'-1'")
            self.assert_refused(["run", name, "--", "--no-such"], "--no-such")

    def test_a_missing_program_is_refused(self):
        self.assert_refused(["run", "thesis_fig_4_8", "--", "--tilerail", self.folder / "none"], "none")

    def test_a_folder_whose_name_is_no_text_is_refused(self):
        self.assert_refused(["run", "karolina_gemmex", "-o", b"bad\xff", "--", "--sizes", "8K"], "'bad\\xff' is not UTF-8")

    def test_a_full_standard_output_is_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TILERAIL, "experiment", "run", "karolina_gemmex", "--", "--sizes", "8K"],
                                  cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr,
                         "tilerail: error: standard output: could not be written: No space left on device\n")

    def test_a_folder_that_cannot_be_made_is_refused(self):
        (self.folder / "file").write_text("")
        done = self.run_command("run", "karolina_gemmex", "-o", "file/x", "--", "--sizes", "8K")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


    def test_a_part_of_the_problems_gets_no_verdict_on_the_whole(self):
        whole = self.succeed("run", "thesis_table_3_1", "--quick", "-o", "a")
        self.assertNotIn("no verdict on the whole", whole)
        for arguments in (["--quick", "-o", "b"], ["-o", "c", "--", "--sizes", "8K"]):
            part = self.succeed("run", "karolina_gemmex", *arguments)
            self.assertIn("no verdict on the whole", part)
            self.assertNotIn("Why we differ", part)

    def test_results_name_the_command_without_paths_of_this_computer(self):
        self.succeed("run", "karolina_gemmex", "-o", self.folder / "d", "--", "--sizes", "8K", "--jobs", 2)
        remarks = (self.folder / "d/karolina_gemmex.csv").read_text()
        self.assertIn("# command: tilerail experiment run karolina_gemmex -- --sizes 8K\n", remarks)

    def test_obstacles_of_results_are_reported_before_anything_runs(self):
        (self.folder / "out/thesis_table_3_1.png").mkdir(parents=True)
        self.assert_refused(["run", "thesis_table_3_1", "-o", "out"], "thesis_table_3_1.png' is a folder")
        (self.folder / "all").mkdir()
        (self.folder / "all/thesis_table_3_1").write_text("")
        self.assert_refused(["run", "all", "-o", "all", "--", "--only", "thesis_table_3_1"], "is a file; expected a folder")

    def test_a_folder_that_is_a_file_is_refused_before_anything_runs(self):
        (self.folder / "file").write_text("")
        fake = self.folder / "fake"
        fake.write_text(f'#!/bin/sh\ntouch "{self.folder}/started"\n')
        fake.chmod(0o755)
        for folder in ("file", "file/x"):
            self.assert_refused(["run", "karolina_gemmex", "-o", folder, "--", "--tilerail", fake], f"'{folder}' is not a folder")
        self.assertFalse((self.folder / "started").exists())


class Interrupted(ExperimentTest):
    """A signal ends an experiment and its child processes immediately, whatever is still queued."""

    def test_nothing_is_started_any_more_and_nothing_stays(self):
        fake, log = self.folder / "fake", self.folder / "log"
        fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo fake && exit\necho $$ >> "{log}"\nexec sleep infinity\n')
        fake.chmod(0o755)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                log.unlink(missing_ok=True)
                experiment = subprocess.Popen(
                    [TILERAIL, "experiment", "run", "thesis_fig_4_8", "--", "--tilerail", fake, "--jobs", "2"],
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(experiment.kill)
                wait_until(lambda: log.exists() and len(log.read_text().split()) == 2)
                experiment.send_signal(number)
                self.assertEqual(experiment.communicate(timeout=HANG), (b"", b""))
                self.assertEqual(experiment.returncode, -number)
                self.assertEqual(len(log.read_text().split()), 2, "simulations of the queue were started")
                for pid in log.read_text().split():
                    stat = pathlib.Path("/proc", pid, "stat")
                    wait_until(lambda: has_ended(stat))
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["fake", "log"])

    def test_an_interrupt_while_the_queue_is_filled_ends_what_was_started(self):
        fake = self.folder / "fake"
        fake.write_text("#!/bin/sh\nexec sleep infinity\n")
        fake.chmod(0o755)
        tilerail = Tilerail(str(fake), 2)

        class LastOfQueue:
            def arguments(self):
                wait_until(lambda: len(tilerail.running_) == 2)
                raise KeyboardInterrupt

        queue = [Simulation(size, "two-gpu", "h:h:h", ()) for size in ("1024", "2048", "4096")]
        with self.assertRaises(KeyboardInterrupt):
            tilerail.simulate([*queue, LastOfQueue()])  # simulations in this queue never end
        self.assertFalse(tilerail.running_)

    def test_an_interrupt_while_python_starts_ends_it_quietly(self):
        # Every Python reads this file first. The experiment's Python interrupts itself there.
        (self.folder / "sitecustomize.py").write_text(
            "import os, signal, sys\n"
            "if any(word.endswith('karolina_gemmex.py') for word in sys.orig_argv):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n")
        done = subprocess.run([TILERAIL, "experiment", "run", "karolina_gemmex", "--", "--sizes", "8K"], cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": str(self.folder)}, capture_output=True, timeout=HANG)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGINT, b"", b""))


if __name__ == "__main__":
    unittest.main()
