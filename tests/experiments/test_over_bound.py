"""Makespans over the bound: losses add up, and docs/over_bound.md contains the program's rows."""

import unittest

from support import SOURCE, ExperimentTest, csv_rows, table_after

MACHINES = "two-gpu,summit-node"


class OverBound(ExperimentTest):
    def run_on(self, machines, *arguments):
        text = self.succeed("run", "over_bound", "-o", ".", "--", "--machines", machines, *arguments)
        return text, csv_rows(self.folder / "over_bound.csv")[1]

    def test_losses_are_what_a_makespan_has_above_its_bound(self):
        text, rows = self.run_on(f"{MACHINES},pcie-tree-8,clx-ai", "--sizes", "4K")
        self.assertEqual(len({row["machine"] for row in rows}), 4)
        for row in rows:
            makespan, bound = float(row["makespan_s"]), float(row["bound_s"])
            losses = {name: float(cell) for name, cell in row.items() if name in LOSSES}
            self.assertEqual(len(losses), len(LOSSES))
            self.assertAlmostEqual(sum(losses.values()) / (makespan - bound), 1)
            for name in ("start_s", "end_s", "pauses_s", "unused_s", "more_s"):
                self.assertGreaterEqual(losses[name], -1e-9, row)
            self.assertEqual(row["over_bound"], f"{makespan / bound:.4f}")
        above = [row for row in rows if float(row["makespan_s"]) > 1.25 * float(row["bound_s"])]
        self.assertEqual(sum("%" in line for line in text.splitlines()), len(above))
        self.assertIn(f"{len(above)} above 1.25", text)

    def test_the_page_has_what_the_program_finds_now(self):
        page = (SOURCE / "docs/over_bound.md").read_text()
        self.succeed("run", "over_bound", "-o", ".", "--", "--machines", MACHINES, "--page", "page.md")
        for line in (self.folder / "page.md").read_text().splitlines():
            if line.startswith(tuple(f"| {machine} " for machine in MACHINES.split(","))):
                self.assertIn(line, page)

    def test_small_problems_lose_what_latency_and_ways_left_out_explain(self):
        for machines, sizes, losses in (("two-gpu", "1,64", {"beside_s"}), ("clx-ai", "512", {"avoided_s"})):
            _, rows = self.run_on(machines, "--sizes", sizes)
            found = {name for row in rows for name in LOSSES if float(row[name]) > 0}
            self.assertLessEqual(losses, found)
            for row in rows:
                lost = sum(float(row[name]) for name in LOSSES)
                self.assertAlmostEqual(lost, float(row["makespan_s"]) - float(row["bound_s"]), places=12)

    def test_machines_that_are_not_there_and_sizes_without_room_are_refused(self):
        self.assert_refused(["run", "over_bound", "--", "--machines", "moon"], "'moon' does not exist")
        self.assert_refused(["run", "over_bound", "--", "--sizes", "0"], "'0'")
        self.assert_refused(["run", "over_bound", "--", "--machines", "two-gpu,"], "has an empty name")
        self.assert_refused(["run", "over_bound", "--", "--page", "/proc/x/page.md"], "--page: ")


LOSSES = {f"{name}_s" for name in ("start", "end", "pauses", "unused", "slower", "more", "busier", "avoided",
                                "beside")}

if __name__ == "__main__":
    unittest.main()
