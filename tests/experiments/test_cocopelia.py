"""CoCoPeLia's experiments: its models, its library and others, against measurements on its testbeds."""

import types
import unittest
from unittest import mock

import cocopelia_fig_1
import cocopelia_fig_7
import cocopelia_models
from harness.cocopelia import OneGpu, by_problem, one_gpu_rows
from support import ExperimentTest, csv_rows

ALL = types.SimpleNamespace(quick=False)


class Measured(unittest.TestCase):
    def test_every_line_is_a_problem_with_its_tiles(self):
        rows = one_gpu_rows(("CoCoPeLia", "cuBLASXt", "BLASX", "CoCoPeLia-selected", "cuBLASXt-best"))
        self.assertEqual(len(rows), 10680)
        self.assertEqual(len(set(rows)), len(rows))
        self.assertEqual({row.tile for row in rows if row.library == "BLASX"}, {2048})
        for problem, tried in by_problem([row for row in rows if row.library == "cuBLASXt"]).items():
            self.assertEqual(len({row.tile for row in tried}), len(tried), problem)


class Commands(ExperimentTest):
    def test_each_experiment_has_a_table_of_measured_and_simulated_times(self):
        names = ("cocopelia_models", "cocopelia_fig_1", "cocopelia_fig_7")
        self.succeed("run", "all", "--quick", "-o", "o", "--", "--only", ",".join(names))
        for name in names:
            rows = csv_rows(self.folder / f"o/{name}/{name}.csv")[1]
            self.assertTrue(all(float(row["measured_s"]) > 0 for row in rows), name)
            self.assertTrue(any(row["simulated_s"] for row in rows), name)
        for row in csv_rows(self.folder / "o/cocopelia_models/cocopelia_models.csv")[1]:
            self.assertIn("h", row["place"])
            least = int(row["m"]) if row["routine"] == "daxpy" else min(int(row[side]) for side in "mnk")
            self.assertLessEqual(1.5 * int(row["tile"]), least)


class Findings(unittest.TestCase):
    """What is found in rows made here: (row, simulated seconds)."""

    def found(self, experiment, seconds):
        """The findings by name."""
        simulated = {row.simulation(): {"makespan_s": value} for row, value in seconds.items()}
        tilerail = types.SimpleNamespace(simulate=lambda wanted: {each: simulated[each] for each in wanted})
        with mock.patch.object(experiment, "one_gpu_rows", return_value=list(seconds)):
            return {finding.value.name: finding.ours for finding in experiment.study(tilerail, ALL).findings}

    def test_the_loss_is_that_of_the_tile_that_the_simulator_takes(self):
        def row(side, tile, seconds):
            return OneGpu("1", "dgemm", "cuBLASXt", (side, side, side), "h:h:h", tile, seconds)

        found = self.found(cocopelia_fig_1, {
            row(4096, 512, 0.1): 0.1,  # below the least tile
            row(4096, 1024, 2): 1, row(4096, 2048, 1): 3,  # loss 100 %, errors 50 % and 200 %
            row(5120, 1024, 1): 1, row(5120, 2048, 1.6): 2,  # loss 0 %, errors 0 % and 25 %
            row(6144, 1024, 1.25): 2, row(6144, 2048, 1): 3,  # loss 25 %, errors 60 % and 200 %
            row(7168, 1024, 1): 1.5})  # a single tile: no loss; error 50 %
        self.assertEqual(found, {"testbed 1 dgemm, loss by our tile": 0.25, "testbed 1 dgemm, median |error|": 0.5})

    def test_the_gain_is_over_the_better_of_the_two_others(self):
        def rows(side, place, simulated):
            return {OneGpu("1", "dgemm", library, (side, side, side), place, 1024, 1.0): seconds
                    for library, seconds in simulated.items()}

        names = ("CoCoPeLia-selected", "cuBLASXt-best", "BLASX")
        found = self.found(cocopelia_fig_7, {
            **rows(4096, "h:h:h", dict(zip(names, (1, 4, 5)))),  # 4 times as fast
            **rows(5120, "h:h:h", dict(zip(names, (2, 3, 2)))),  # as fast
            **rows(6144, "h:h:h", dict(zip(names, (1, 9)))),  # without BLASX: not compared
            **rows(4096, "0:h:h", dict(zip(names, (2, 8, 3))))})
        self.assertAlmostEqual(found["testbed 1 dgemm, full"], (4 * 1) ** (1 / 2) - 1)
        self.assertAlmostEqual(found["testbed 1 dgemm, partial"], 3 / 2 - 1)
        self.assertEqual(found["CoCoPeLia-selected, median |error|"], 1)  # of 0, 1, 0 and 1

    def test_errors_are_of_the_predictions_over_the_measured_times(self):
        def row(routine, library, side, tile):
            sizes = (side, 1, 1) if routine == "daxpy" else (side, side, side)
            return OneGpu("1", routine, library, sizes, "h:h:h", tile, 2.0)

        seconds = {  # of DR, of BTS, simulated
            row("dgemm", "CoCoPeLia", 4096, 512): (20, 20, 2.5),  # below the least tile of models
            row("dgemm", "CoCoPeLia", 4096, 1024): (1.5, 20, 2),
            row("dgemm", "CoCoPeLia", 4096, 2048): (2.5, 20, 1),
            row("dgemm", "CoCoPeLia", 5120, 1024): (3, 20, 0.5),
            row("dgemm", "CoCoPeLia", 1536, 1536): (30, 20, 9),  # does not overlap
            row("dgemm", "cuBLASXt", 6144, 1024): (20, 3, 9),
            row("daxpy", "CoCoPeLia", 8 << 20, 1 << 20): (20, 4, 9)}
        models = dict.fromkeys(cocopelia_models.MODELS, 2.0)
        predicted = {(row.problem, row.tile): {**models, "dr": dr, "bts": bts, "simulated": simulated}
                     for row, (dr, bts, simulated) in seconds.items()}
        with mock.patch.multiple(cocopelia_models, one_gpu_rows=lambda _: list(seconds),
                                 predictions=lambda *_: predicted):
            findings = cocopelia_models.study(None, ALL).findings
        found = {finding.value.name: finding.ours for finding in findings}
        self.assertEqual(found["CoCoPeLia dgemm on testbed 1, DR, median"], 0.25)  # of -25, 25 and 50 %
        self.assertEqual(found["cuBLASXt dgemm on testbed 1, BTS, median"], 0.5)
        self.assertEqual(found["daxpy on testbed 1, BTS, median"], 1)
        self.assertEqual(found["CoCoPeLia simulated, median of |error|"], 0.5)  # of 0, 25, 50 and 75 %
        self.assertEqual(found["CoCoPeLia simulated, 90% of |error|"], 0.75)


if __name__ == "__main__":
    unittest.main()
