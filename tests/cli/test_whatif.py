"""`whatif`: what parts of a machine are worth."""

import csv
import json
import unittest

from support import OLD, CommandTest, kernels_text, machine_text, needs_simulator

SMALL = ["whatif", "--gemm", "1K", "--dtype", "f64", "--topology", "two-gpu", "--policy", "gemmex", "--tile", "256"]

# Two islands of one GPU each. Copies between them cross the bridge, which is faster from x2 on than the way through
# the roots, but all copies from the host to gpu1 take it then, too.
ISLANDS = machine_text(
    "islands", 2,
    [("host", "root", 100), ("root", "gpu[0-1]", 10), ("root", "bridge", 18), ("bridge", "gpu[0-1]", 18)],
    """[[switch]]
name = "root"
source = "made"
[[switch]]
name = "bridge"
source = "made"
[[group]]
name = "bridge"
forward = ["root->bridge"]
backward = ["bridge->root"]
capacity = [[1, "18 GB/s"], [2, "9 GB/s"]]
source = "made"
""" + kernels_text('peak = "5 TFLOP/s"\nefficiency = [[1, 1.0]]', multiprocessors=16))


@needs_simulator
class WhatIf(CommandTest):
    def result(self, *arguments):
        return json.loads(self.succeed(*arguments, "--json", "-"))

    def test_rows_are_ranked_by_the_time_that_they_save(self):
        result = self.result(*SMALL)
        saved = [row["saved_s"] for row in result["rows"]]
        self.assertEqual(saved, sorted(saved, reverse=True))
        simulated = json.loads(self.succeed("simulate", *SMALL[1:], "--json", "-"))
        self.assertEqual(result["as_planned_s"], simulated["makespan_s"])
        self.assertEqual(result["base_bound_s"], simulated["bound_s"])
        self.assertEqual(result["base_plan_hash"], simulated["plan_hash"])
        for row in result["rows"]:
            self.assertEqual(row["best_s"], min(filter(None, (row["planned_s"], row["kept_s"], row["other_s"]))))
            self.assertEqual(row["saved_s"], result["base_s"] - row["best_s"])
            self.assertLessEqual(row["bound_s"], row["best_s"])
        self.assertEqual({row["change"] for row in result["rows"]}, {"x2", "x1/2", "no limit"})

    def test_a_changed_machine_takes_what_simulate_says_of_it(self):
        rows = self.result(*SMALL, "--only", "link:host->pcie0")["rows"]
        halved = next(row for row in rows if row["change"] == "x1/2")
        changed = json.loads(self.succeed("simulate", *SMALL[1:], "--json", "-", "--topo-set",
                                          "link:host->pcie0.bandwidth=6 GB/s"))
        self.assertAlmostEqual(halved["planned_s"] / changed["makespan_s"], 1, delta=1e-9)
        self.assertEqual(halved["bound_s"], changed["bound_s"])

    def test_the_result_does_not_depend_on_the_number_of_threads(self):
        one = self.succeed(*SMALL, "--jobs", "1", "--csv", "one.csv", "--json", "one.json")
        many = self.succeed(*SMALL, "--jobs", "5", "--csv", "many.csv", "--json", "many.json")
        self.assertEqual(one, many)
        for kind in ("csv", "json"):
            one, many = ((self.folder / f"{name}.{kind}").read_bytes() for name in ("one", "many"))
            self.assertEqual(one, many)

    def test_the_table_tells_what_is_worth_upgrading(self):
        text = self.succeed(*SMALL)
        for words in ("worth upgrading", "compute bound, simulated", "compute bound, by the bound", "makespan",
                      "link:host->pcie0", "more changes save or cost less than 0.1%"):
            self.assertIn(words, text)

    def test_csv_has_a_line_for_each_row(self):
        self.succeed(*SMALL, "--csv", "rows.csv")
        with open(self.folder / "rows.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        rows = self.result(*SMALL)["rows"]
        self.assertEqual(len(lines), len(rows))
        for line, row in zip(lines, rows):
            self.assertEqual((line["part"], float(line["best_s"])), (row["part"], row["best_s"]))
            self.assertEqual(float(line["factor"]), row["factor"] or float("inf"))

    def test_faster_kernels_never_make_it_compute_bound_and_slower_ones_do(self):
        asked = ["whatif", "--gemm", "8K", "--topology", "two-gpu", "--policy", "gemmex", "--tile", "2K"]
        bound = self.result(*asked)["answers"]["compute_bound"]
        self.assertTrue(bound["now_by_bound"])  # 2 * 8K^3 flop at 2 TFLOP/s
        parts = {entry["part"]: entry for entry in bound["from"]}
        self.assertFalse([name for name in parts if name.startswith("kernels:")])
        self.assertLess(parts["link:host->pcie0"]["factor_by_bound"], 1)
        self.assertIsNone(parts["link:gpu[0-1]->gpu[0-1]"]["factor_by_bound"])
        # No link of the first and the last tile is hidden: all of them have to be faster at once.
        self.assertFalse(bound["now_by_simulation"])
        self.assertIsNone(parts["link:host->pcie0"]["factor_by_simulation"])
        self.assertGreater(parts["all links and groups"]["factor_by_simulation"], 1)
        slower = self.result(*asked, "--topo-set", "kernels:*.rate=x0.1")["answers"]["compute_bound"]
        self.assertTrue(slower["now_by_simulation"])

    def test_the_bound_of_a_factor_knows_the_caches_of_the_plan(self):
        asked = ["--gemm", "4K", "--topology", "clx-ai", "--policy", "blasx", "--set", "warm=on"]
        bound = self.result("whatif", *asked)["answers"]["compute_bound"]
        factor = next(entry["factor_by_bound"] for entry in bound["from"] if entry["part"] == "all links and groups")
        self.assertGreater(factor, 1)

        def binding(times):  # of machines that are little slower, and little faster, than at the turn
            faster = [word for key in ("link:*.bandwidth", "group:*.capacity", "group:*.both_busy")
                      for word in ("--topo-set", f"{key}=x{times * factor:.4f}")]
            return self.result("simulate", *asked, *faster)["bound_by"]

        self.assertTrue(binding(1.001).startswith("kernels"))
        self.assertFalse(binding(0.93).startswith("kernels"))

    def test_the_share_of_kernels_is_told_now_and_at_most(self):
        result = self.result(*SMALL)
        bound = result["answers"]["compute_bound"]
        self.assertEqual(bound["kernels_now"], result["base"]["kernels"])
        most = bound["kernels_most"]
        better = [row["kernels"] for row in result["rows"] if row["factor"] != 0.5 and row["best_s"] == row["planned_s"] and
                  not row["part"].startswith("kernels:")]
        self.assertGreaterEqual(most["kernels"], max(better))
        self.assertGreater(most["kernels"], bound["kernels_now"])
        words = " ".join(self.succeed(*SMALL).split())
        self.assertIn(f"kernels are {100 * bound['kernels_now']:.1f}% of the critical path, at most "
                      f"{100 * most['kernels']:.1f}% by {most['part']}", words)

    def test_together_saves_more_than_one_part(self):
        result = self.result(*SMALL)
        together, answers = result["answers"]["together"], result["answers"]
        self.assertIsNone(answers["together_error"])
        alone = [row["best_s"] for row in result["rows"] if row["change"] == "x2" and row["part"] in together["parts"]]
        self.assertEqual(len(alone), len(together["parts"]))
        self.assertGreater(len(alone), 1)
        self.assertLess(together["makespan_s"], min(alone))

    def test_the_head_is_of_one_plan(self):
        arguments = ["whatif", "--gemm", "2K", "--topology", "two-gpu", "--only", "link:gpu*->gpu*"]
        result = self.result(*arguments)
        text = self.succeed(*arguments)
        self.assertIn(f"{result['base_plan_hash']}, {result['base']['ops']} operations", text)
        self.assertEqual(result["base"]["plan_hash"], result["base_plan_hash"])
        self.assertEqual(result["answers"]["better_plan"] is not None, result["as_planned_s"] > result["base_s"])

    def test_a_faster_way_that_all_take_is_slower_and_is_shown(self):
        self.write("islands.toml", ISLANDS)
        result = self.result("whatif", "--gemm", "4K", "--topology", "islands.toml", "--policy", "gemmex", "--tile",
                             "512", "--together", "link:*bridge*")
        slower = [row for row in result["answers"]["slower"] if row["routes"]]
        self.assertTrue(slower)
        route = slower[0]["routes"][0]
        self.assertNotEqual(route["before"], route["after"])
        self.assertTrue(any("bridge" in link for link in route["after"]))
        text = self.succeed("whatif", "--gemm", "4K", "--topology", "islands.toml", "--policy", "gemmex", "--tile",
                            "512", "--together", "link:*bridge*")
        self.assertIn("slower though better", text)
        self.assertIn(" instead of ", text)

    def test_links_that_nothing_crosses_do_nothing(self):
        result = self.result(*SMALL, "--devices", "0")
        self.assertIn("link:pcie0->gpu1", result["answers"]["does_nothing"])
        self.assertNotIn("link:host->pcie0", result["answers"]["does_nothing"])

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
            (["--csv", "same.csv", "--json", "same.csv"], "'same.csv' is the same file as --csv 'same.csv'"),
            (["--csv", "no/such/folder.csv"], "the folder 'no/such' does not exist"),
            (["--csv", "old.csv", "--devices", "7"], "--devices: '7' is not a GPU of two-gpu"),
            (["--topo-set", "link:a->b.bandwidth=1 GB/s"], "link:a->b.bandwidth"),
        ]:
            with self.subTest(arguments):
                self.assert_refused([*SMALL, *arguments], quoted)


if __name__ == "__main__":
    unittest.main()
