"""`tilerail experiment` itself: its list, its refusals, where results go."""

import unittest

from support import SOURCE, ExperimentTest


class Command(ExperimentTest):
    def test_list_names_every_script_with_the_first_line_of_its_docstring(self):
        lines = self.succeed("list").splitlines()
        scripts = sorted((SOURCE / "experiments").glob("*.py"))
        self.assertEqual([line.split()[0] for line in lines], [script.stem for script in scripts])
        for line, script in zip(lines, scripts):
            title = script.read_text().splitlines()[0].removeprefix('"""')
            self.assertTrue(line.endswith("  " + title), line)
        self.assertLessEqual({"thesis_fig_4_8", "karolina_gemmex"}, {script.stem for script in scripts})

    def test_an_unknown_name_is_refused_with_the_names_there_are(self):
        names = ", ".join(sorted(script.stem for script in (SOURCE / "experiments").glob("*.py")))
        self.assert_refused(["run", "no-such"], f"'no-such'; the names are: {names}")

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

    def test_a_program_that_is_not_there_is_refused(self):
        self.assert_refused(["run", "thesis_fig_4_8", "--", "--tilerail", self.folder / "none"], "none")

    def test_a_folder_that_cannot_be_made_is_refused(self):
        (self.folder / "file").write_text("")
        done = self.run_command("run", "karolina_gemmex", "-o", "file/x", "--", "--sizes", "8K")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
