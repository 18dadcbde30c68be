"""scripts/run_pages.py: correct pages pass, others fail and can be corrected."""

import os
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TILERAIL_SOURCE"])
sys.path.insert(0, str(SOURCE / "scripts"))

import run_pages  # noqa: E402


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilerail-page-")
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name) / "page.md"

    def faults(self, text, update=False):
        """Faults of a page with these lines, whose commands run in one new folder."""
        self.page.write_text("\n".join(text))
        with tempfile.TemporaryDirectory(prefix="tilerail-page-") as folder:
            return run_pages.check(self.page, run_pages.Session(pathlib.Path(folder)), update)

    def test_is_right_when_it_shows_what_its_commands_print(self):
        self.assertEqual(self.faults(["Text.", "", "    $ seq 3", "    1", "    2", "    3", "", "More."]), [])

    def test_may_leave_lines_out(self):
        for shown in (["1", "..."], ["...", "5"], ["...", "2", "...", "4", "5"], ["1", "...", "5"], ["..."]):
            self.assertEqual(self.faults(["    $ seq 5", *("    " + line for line in shown)]), [], shown)

    def test_is_wrong_with_other_lines_or_lines_left_out_silently(self):
        for shown in (["1", "2", "4"], ["1", "2"], ["2", "3"], ["1", "3"], ["...", "2"], ["1", "2", "3", "4"]):
            self.assertEqual(len(self.faults(["    $ seq 3", *("    " + line for line in shown)])), 1, shown)

    def test_is_wrong_when_a_command_fails(self):
        self.assertIn("exit code 7", self.faults(["    $ exit 7"])[0])

    def test_may_have_commands_of_several_lines_and_one_folder_for_all(self):
        self.assertEqual(self.faults(["    $ printf 'a", "    > b\\n' > file", "", "    $ cat file", "    a", "    b"]), [])

    def test_may_show_another_planning_time(self):
        self.assertEqual(self.faults(["    $ echo 'operations 3, planned in 7.5 us'", "    operations 3, planned in 1.2 ms"]), [])
        self.assertEqual(len(self.faults(["    $ echo 'operations 3, planned in 7.5 us'", "    operations 4, planned in 7.5 us"])), 1)

    def test_is_wrong_with_another_figure_than_it_draws(self):
        drawn = self.page.parent / "drawn"
        drawn.mkdir()
        self.page.write_text("![A figure](a.svg) and ![another one](b.svg), which no command draws.")
        for folder in (self.page.parent, drawn):
            (folder / "a.svg").write_text("Matplotlib v3.6.3 <!-- 1 ms -->")
        self.assertEqual(run_pages.check_figures(self.page, drawn, update=False), [])
        (drawn / "a.svg").write_text("Matplotlib v3.6.3 <!-- 2 ms -->")
        self.assertIn("a.svg", run_pages.check_figures(self.page, drawn, update=True)[0])
        self.assertEqual(run_pages.check_figures(self.page, drawn, update=False), [])

    def test_may_show_a_figure_that_another_version_drew(self):
        one, other = "Matplotlib v3.6.3 M 1 <!-- 1 ms -->", "Matplotlib v3.8.0 m1 <!-- 1 ms -->"
        self.assertTrue(run_pages.same_figure(one, other))
        self.assertFalse(run_pages.same_figure(one, other.replace("1 ms", "2 ms")))
        self.assertFalse(run_pages.same_figure(one, one.replace("M 1", "M 2")))

    def test_is_mended_by_update(self):
        self.faults(["    $ printf 'a 1\\nb 2\\nc 3\\n'", "    a 0", "    c 0", "", "    $ echo x", "    y"], update=True)
        shown = ["    $ printf 'a 1\\nb 2\\nc 3\\n'", "    a 1", "    ...", "    c 3", "", "    $ echo x", "    x"]
        self.assertEqual(self.page.read_text().split("\n"), shown)


    def test_prints_the_lines_that_changed_and_no_others(self):
        fault = self.faults(["    $ printf 'a 1\\nb 2\\n--- 3\\n'", "    a 1", "    b 0", "    --- 0"])[0]
        self.assertEqual(fault.split("\n")[1:], ["-b 0", "---- 0", "+b 2", "+--- 3"])

    def test_names_the_text_that_quotes_a_number_of_an_old_output(self):
        page = ["It takes 24.20 ms, 7 % of the time,", "and 3 ms.", "", "    $ echo '9 ms 8%' && echo '3 ms'",
                "    24.20 ms 7%", "    3 ms", "", "    $ echo 7%", "    7%"]
        found = self.faults(page, update=True)
        self.assertEqual(found[1:], [f"{self.page}:1: the text quotes 24.20ms, which no output contains any more"])
        self.assertEqual(self.faults(self.page.read_text().split("\n")), [])


class Measurements(unittest.TestCase):
    def test_count_by_their_words(self):
        shown, printed = "makespan    226.9 ms, 18.21 TFLOP/s  -4.9%", "makespan  1.217 s, 1 GFLOP/s +14.3%"
        self.assertEqual(run_pages.canonical(shown, True), run_pages.canonical(printed, True))
        self.assertNotEqual(run_pages.canonical(shown, False), run_pages.canonical(printed, False))
        self.assertNotEqual(run_pages.canonical("check: passed", True), run_pages.canonical("check: FAILED", True))

    def test_may_lead_to_another_plan(self):
        one, other = "plan  d94e3de1a7d36f47, 384 operations", "plan  cf117d211243e7c8, 384 operations"
        self.assertEqual(run_pages.canonical(one, True), run_pages.canonical(other, True))
        self.assertNotEqual(run_pages.canonical(one, False), run_pages.canonical(other, False))

    def test_are_what_calibrated_files_lead_to(self):
        session = run_pages.Session(pathlib.Path("."))
        self.assertFalse(session.is_measured("tilerail plan --topology two-gpu -o plan.json"))
        self.assertTrue(session.is_measured("tilerail calibrate --backend host -o machine.toml"))
        self.assertTrue(session.is_measured("tilerail plan --topology machine.toml -o here.json"))
        self.assertTrue(session.is_measured("tilerail simulate --plan here.json"))
        self.assertFalse(session.is_measured("tilerail simulate --plan plan.json"))


if __name__ == "__main__":
    unittest.main()
