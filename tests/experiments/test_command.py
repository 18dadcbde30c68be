"""python -m tilerail.experiments: its list, its errors, its files."""

import os
import re
import subprocess
import sys
import unittest
import unittest.mock

import tilerail
from support import SOURCE, ExperimentTest
from tilerail.experiments import __main__ as command
from tilerail.experiments.__main__ import NAMES, experiment
from tilerail.experiments.harness.data import table
from tilerail.experiments.harness.gallery import PAPERS


class Command(ExperimentTest):
    def test_it_lists_every_experiment_with_a_title(self):
        code, out, _ = self.run_command("list")
        self.assertEqual((code, [line.split()[0] for line in out.splitlines()]), (0, list(NAMES)))
        self.assertEqual(sorted(table("experiments").experiment), list(NAMES))
        self.assertLessEqual({experiment(name).paper for name in NAMES}, {"", *PAPERS})

    def test_it_is_a_module_that_ends_with_2_for_bad_input(self):
        done = subprocess.run([sys.executable, "-m", "tilerail.experiments", "moon"], capture_output=True, text=True,
                              env=os.environ)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: NAME: 'moon' is not an experiment; expected list, all, or one of: ", done.stderr)

    def test_the_page_has_the_exit_codes_of_the_command(self):
        page = (SOURCE / "docs/experiments.md").read_text()
        table = page.partition("| exit code |")[2].partition("\n\n")[0]
        self.assertEqual(re.findall(r"^\| (\d+) \| ", table, re.MULTILINE), ["0", "1", "2", "3", "130"])

        def raising(error):
            return unittest.mock.patch.object(command, "run_one", side_effect=error)

        for error, code in ((tilerail.HardwareError("no GPU"), 3), (OSError("full"), 2)):
            with raising(error):
                self.assertEqual(self.run_command("thesis_fig_4_6")[0], code)
        with raising(KeyboardInterrupt), unittest.mock.patch.object(os, "_exit", side_effect=SystemExit) as ended:
            self.assertRaises(SystemExit, self.run_command, "thesis_fig_4_6")
        ended.assert_called_once_with(130)

    def test_bad_arguments_are_refused(self):
        for words, quoted in ((["thesis_fig_4_8", "--jobs", "0"], "'0' is not a positive whole number"),
                              (["thesis_fig_4_8", "--wide"], "unrecognized arguments: --wide"),
                              (["clx_ai_paralia", "--places", "1:1:1"], "'1:1:1' is not one of h:h:h, "),
                              (["all", "--only", "fig_99"], "'fig_99' is not one of "),
                              (["all", "--only", "h200_peers"], "'h200_peers' is not one of "),
                              (["over_bound", "--machines", "moon"], "'moon' does not exist"),
                              (["over_bound", "--sizes", "0"], "'0' is not a size")):
            self.assert_refused(words, quoted)

    def test_every_command_of_the_pages_names_an_experiment(self):
        for page in ("docs/gallery.md", "docs/experiments.md", "docs/over_bound.md"):
            for line in (SOURCE / page).read_text().splitlines():
                if line.startswith("    python -m tilerail.experiments "):
                    self.assertIn(line.split()[3], (*NAMES, "NAME", "all", "list"), page)


class OverBound(ExperimentTest):
    def test_losses_are_what_a_makespan_has_above_its_bound(self):
        self.succeed("over_bound", "--machines", "two-gpu,clx-ai,pcie-tree-8", "--sizes", "512,4K")
        rows = self.rows("over_bound")
        self.assertEqual(rows.machine.nunique(), 3)
        lost = rows[["start", "end", "pauses", "unused", "slower", "more", "busier", "avoided", "latency"]].sum(axis=1)
        self.assertLess((lost - (rows.makespan_s - rows.bound_s)).abs().max(), 1e-12)
        self.assertTrue((rows[["start", "end", "pauses", "unused", "more"]] >= -1e-9).all(axis=None))

    def test_the_page_has_the_results_of_the_program(self):
        self.succeed("over_bound", "--machines", "two-gpu", "--page", self.folder / "page.md")
        lines = [line for line in (self.folder / "page.md").read_text().splitlines() if line.startswith("| two-gpu ")]
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertIn(line, (SOURCE / "docs/over_bound.md").read_text())


if __name__ == "__main__":
    unittest.main()
