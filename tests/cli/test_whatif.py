"""`whatif`: effects of a machine's parts."""

import csv
import json
import unittest

from support import OLD, CommandTest, needs_simulator

SMALL = ["whatif", "--gemm", "1K", "--dtype", "f64", "--topology", "two-gpu", "--policy", "gemmex", "--tile", "256"]

@needs_simulator
class WhatIf(CommandTest):
    def rows(self, *arguments):
        """The rows of the CSV with numbers, and the text without line breaks."""
        text = " ".join(self.succeed(*arguments, "--csv", "rows.csv").split())
        with open(self.folder / "rows.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        for line in lines:
            line.update({key: float(value) for key, value in line.items() if key[-2:] == "_s" and value})
        return lines, text

    def test_rows_are_ranked_by_the_time_that_they_save(self):
        rows, _ = self.rows(*SMALL)
        saved = [row["saved_s"] for row in rows]
        self.assertEqual(saved, sorted(saved, reverse=True))
        simulated = json.loads(self.succeed("simulate", *SMALL[1:], "--json", "-"))
        for row in rows:
            self.assertLessEqual(row["base_s"], simulated["makespan_s"])
            self.assertEqual(row["base_bound_s"], simulated["bound_s"])
            self.assertEqual(row["best_s"], min(row["planned_s"], row["kept_s"]))
            self.assertEqual(row["saved_s"], row["base_s"] - row["best_s"])
            self.assertLessEqual(row["bound_s"], row["best_s"])
        self.assertEqual({row["factor"] for row in rows}, {"2", "0.5", "inf"})

    def test_the_time_of_a_changed_machine_equals_simulate(self):
        rows, _ = self.rows(*SMALL, "--only", "link:host->pcie0")
        halved = next(row for row in rows if row["factor"] == "0.5")
        changed = json.loads(self.succeed("simulate", *SMALL[1:], "--json", "-", "--topo-set",
                                          "link:host->pcie0.bandwidth=6 GB/s"))
        self.assertAlmostEqual(halved["planned_s"] / changed["makespan_s"], 1, delta=1e-9)
        self.assertEqual(halved["bound_s"], changed["bound_s"])

    def test_json_has_the_same_rows(self):
        self.succeed(*SMALL, "--csv", "rows.csv", "--json", "rows.json")
        with open(self.folder / "rows.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        rows = json.loads((self.folder / "rows.json").read_text())["rows"]
        self.assertEqual([(line["part"], float(line["best_s"])) for line in lines],
                         [(row["part"], row["best_s"]) for row in rows])

    def test_the_result_does_not_depend_on_the_number_of_threads(self):
        self.assertEqual(*(self.succeed(*SMALL, "--jobs", jobs, "--csv", f"{jobs}.csv") for jobs in "15"))
        self.assertEqual(*((self.folder / f"{jobs}.csv").read_bytes() for jobs in "15"))

    def test_the_table_separates_useful_and_useless_upgrades(self):
        text = self.succeed(*SMALL)
        for words in ("makespan", "link:host->pcie0", "more changes save or cost less than 0.1%"):
            self.assertIn(words, text)

    def test_unused_links_have_no_effect(self):
        idle = self.rows(*SMALL, "--devices", "0")[1].split("could be half as good")[1]
        self.assertIn("link:gpu*->gpu*", idle)
        self.assertNotIn("link:host->pcie0", idle)

    def test_a_problem_without_work_is_not_an_error(self):
        self.assertIn("no part can save any", self.succeed("whatif", "--gemm", "0", "--topology", "two-gpu"))

    def test_wrong_arguments_are_refused(self):
        self.write("old.csv", OLD)
        for arguments, quoted in [
            (["--jobs", "0"], "--jobs: '0'"),
            (["--jobs", "many"], "--jobs: 'many'"),
            (["--only", "link:gpu9*"], "--only: 'link:gpu9*' is not a part of two-gpu"),
            (["--csv", "no/such/folder.csv"], "the folder 'no/such' does not exist"),
            (["--csv", "old.csv", "--devices", "7"], "--devices: '7' is not a processor of two-gpu"),
            (["--topo-set", "link:a->b.bandwidth=1 GB/s"], "link:a->b.bandwidth"),
        ]:
            with self.subTest(arguments):
                self.assert_refused([*SMALL, *arguments], quoted)


if __name__ == "__main__":
    unittest.main()
