"""`whatif`: what parts of a machine are worth."""

import csv
import json
import re
import unittest

from support import OLD, CommandTest, needs_simulator

SMALL = ["whatif", "--gemm", "1K", "--dtype", "f64", "--topology", "two-gpu", "--policy", "gemmex", "--tile", "256"]

@needs_simulator
class WhatIf(CommandTest):
    def rows(self, *arguments):
        """The lines of the CSV with their numbers, and the text without breaks of lines."""
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
            self.assertEqual(row["as_planned_s"], simulated["makespan_s"])
            self.assertEqual(row["base_bound_s"], simulated["bound_s"])
            self.assertEqual(row["base_plan_hash"], simulated["plan_hash"])
            self.assertEqual(row["best_s"], min(filter(None, (row["planned_s"], row["kept_s"], row["other_s"]))))
            self.assertEqual(row["saved_s"], row["base_s"] - row["best_s"])
            self.assertLessEqual(row["bound_s"], row["best_s"])
        self.assertEqual({row["factor"] for row in rows}, {"2", "0.5", "inf"})

    def test_a_changed_machine_takes_what_simulate_says_of_it(self):
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

    def test_the_table_tells_what_is_worth_upgrading(self):
        text = self.succeed(*SMALL)
        for words in ("worth upgrading", "compute bound, simulated", "compute bound, by the bound", "makespan",
                      "link:host->pcie0", "more changes save or cost less than 0.1%"):
            self.assertIn(words, text)

    def test_faster_kernels_never_make_it_compute_bound_and_slower_ones_do(self):
        asked = ["whatif", "--gemm", "8K", "--topology", "two-gpu", "--policy", "gemmex", "--tile", "2K"]
        _, text = self.rows(*asked)
        simulated, bound = text.split("compute bound, simulated ")[1].split("compute bound, by the bound ")
        self.assertRegex(bound, r"^yes, as it is down to x0\.\d+ link:host->pcie0 ")  # 2 * 8K^3 flop at 2 TFLOP/s
        self.assertNotIn("kernels:", bound)
        self.assertNotIn("x link:gpu[0-1]->gpu[0-1]", bound)
        # No link of the first and the last tile is hidden: all of them have to be faster at once.
        self.assertTrue(simulated.startswith("not as it is"))
        self.assertRegex(simulated, r"from x[\d.]+ all links and groups")
        self.assertNotIn("link:host->pcie0", simulated)
        _, slower = self.rows(*asked, "--topo-set", "kernels:*.rate=x0.1")
        self.assertIn("compute bound, simulated yes, as it is", slower)

    def test_the_bound_of_a_factor_knows_the_caches_of_the_plan(self):
        asked = ["--gemm", "4K", "--topology", "clx-ai", "--policy", "blasx", "--set", "warm=on"]
        _, text = self.rows("whatif", *asked)
        factor = float(re.search(r"by the bound not as it is from x([\d.]+) all links and groups", text)[1])
        self.assertGreater(factor, 1)

        def binding(times):  # of machines that are little slower, and little faster, than at the turn
            faster = [word for key in ("link:*.bandwidth", "group:*.capacity", "group:*.both_busy")
                      for word in ("--topo-set", f"{key}=x{times * factor:.4f}")]
            return json.loads(self.succeed("simulate", *asked, *faster, "--json", "-"))["bound_by"]

        self.assertTrue(binding(1.006).startswith("kernels"))
        self.assertFalse(binding(0.93).startswith("kernels"))

    def test_the_share_of_kernels_is_told_now_and_at_most(self):
        rows, text = self.rows(*SMALL)
        better = [float(row["kernels"]) for row in rows if row["factor"] != "0.5" and row["best_s"] == row["planned_s"]
                  and not row["part"].startswith("kernels:")]
        told = re.search(r"kernels are ([\d.]+)% of the critical path, at most ([\d.]+)% by all links and groups", text)
        self.assertAlmostEqual(float(told[2]), 100 * max(better), delta=0.05)
        self.assertGreater(float(told[2]), float(told[1]))

    def test_together_saves_more_than_one_part(self):
        _, text = self.rows(*SMALL)
        alone, together = re.search(r"worth upgrading .* x2 saves ([\d.]+) us .*all x2 save ([\d.]+) ms", text).groups()
        self.assertGreater(1000 * float(together), float(alone))

    def test_the_head_is_of_one_plan(self):
        rows, text = self.rows("whatif", "--gemm", "2K", "--topology", "two-gpu", "--only", "link:gpu*->gpu*")
        self.assertIn(f"{rows[0]['base_plan_hash']}, ", text)
        self.assertEqual("by the plan made for" in text, rows[0]["as_planned_s"] > rows[0]["base_s"])

    def test_nothing_to_do_is_no_error(self):
        self.assertIn("no part can save any", self.succeed("whatif", "--gemm", "0", "--topology", "two-gpu"))

    def test_a_figure_is_drawn(self):
        self.succeed(*SMALL, "--figure", "tornado.svg")
        figure = (self.folder / "tornado.svg").read_text()
        self.assertIn("<svg", figure)
        again = self.succeed(*SMALL, "--figure", "again.svg")
        self.assertTrue(again)
        self.assertEqual((self.folder / "again.svg").read_text(), figure)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["again.svg", "tornado.svg"])

    def test_what_is_wrong_is_refused(self):
        self.write("old.csv", OLD)
        for arguments, quoted in [
            (["--jobs", "0"], "--jobs: '0'"),
            (["--jobs", "many"], "--jobs: 'many'"),
            (["--only", "link:gpu9*"], "--only: 'link:gpu9*' is not a part of two-gpu"),
            (["--together", "link:*", "--together", "link:*"], "--together: 'link:*' is given twice"),
            (["--together", "link:host->pcie0"], "--together: 'link:host->pcie0' is one part alone; expected several"),
            (["--together", "&"], "--together: '' is not a part of two-gpu"),
            (["--figure", "t.pdf"], "--figure: 't.pdf'"),
            (["--csv", "no/such/folder.csv"], "the folder 'no/such' does not exist"),
            (["--csv", "old.csv", "--devices", "7"], "--devices: '7' is not a GPU of two-gpu"),
            (["--topo-set", "link:a->b.bandwidth=1 GB/s"], "link:a->b.bandwidth"),
        ]:
            with self.subTest(arguments):
                self.assert_refused([*SMALL, *arguments], quoted)


if __name__ == "__main__":
    unittest.main()
