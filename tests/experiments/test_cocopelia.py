"""CoCoPeLia's experiments: its models, its library and others, against measurements on its testbeds."""

import unittest

from harness.cocopelia import by_problem, one_gpu_rows
from support import ExperimentTest, csv_rows


def median(values):
    """The median as defined in `tilerail compare`."""
    return sorted(values)[int(0.5 * len(values))]


def found_in(text, name):
    """Our value in the line of a finding, which is in the last table."""
    return [line for line in text.splitlines() if line.startswith(name + "  ")][-1].split()[-2]


class Measured(unittest.TestCase):
    def test_every_line_is_a_problem_with_its_tiles(self):
        rows = one_gpu_rows(("CoCoPeLia", "cuBLASXt", "BLASX", "CoCoPeLia-selected", "cuBLASXt-best"))
        self.assertEqual(len(rows), 10680)
        self.assertEqual(len(set(rows)), len(rows))
        self.assertEqual({row.tile for row in rows if row.library == "BLASX"}, {2048})
        for problem, tried in by_problem([row for row in rows if row.library == "cuBLASXt"]).items():
            self.assertEqual(len({row.tile for row in tried}), len(tried), problem)


class CocopeliaModels(ExperimentTest):
    def test_errors_are_of_the_predictions_over_the_measured_times(self):
        text = self.succeed("run", "cocopelia_models", "--quick", "-o", ".")
        _, rows = csv_rows(self.folder / "cocopelia_models.csv")
        for row in rows:
            self.assertIn("h", row["place"])
            least = int(row["m"]) if row["routine"] == "daxpy" else min(int(row[side]) for side in "mnk")
            self.assertLessEqual(1.5 * int(row["tile"]), least)
        for kind, model in (("CoCoPeLia", "dr"), ("cuBLASXt", "bts")):
            errors = [float(row[f"{model}_s"]) / float(row["measured_s"]) - 1 for row in rows
                      if (row["library"], row["routine"], row["testbed"]) == (kind, "dgemm", "1")
                      and int(row["tile"]) >= 1024]
            self.assertEqual(found_in(text, f"{kind} dgemm on testbed 1, {model.upper()}, median"),
                             f"{median(errors):.1%}")
        off = [abs(float(row["simulated_s"]) / float(row["measured_s"]) - 1) for row in rows
               if row["library"] == "CoCoPeLia" and row["routine"] != "daxpy"]
        self.assertEqual(found_in(text, "CoCoPeLia simulated, median of |error|"), f"{median(off):.1%}")


class CublasXtOverTiles(ExperimentTest):
    def test_the_loss_is_that_of_the_tile_that_the_simulator_takes(self):
        text = self.succeed("run", "cocopelia_fig_1", "--quick", "-o", ".")
        problems = {}
        for row in csv_rows(self.folder / "cocopelia_fig_1.csv")[1]:
            if (row["testbed"], row["routine"]) == ("1", "dgemm"):
                problems.setdefault((row["m"], row["n"], row["k"], row["place"]), []).append(row)
        losses = []
        for tried in problems.values():
            taken = min(tried, key=lambda row: float(row["simulated_s"]))
            if len(tried) > 1:
                losses.append(float(taken["measured_s"]) / min(float(row["measured_s"]) for row in tried) - 1)
        self.assertEqual(found_in(text, "testbed 1 dgemm, loss by our tile"), f"{median(losses):.1%}")


class ThreeLibraries(ExperimentTest):
    def test_the_gain_is_over_the_better_of_the_two_others(self):
        text = self.succeed("run", "cocopelia_fig_7", "--quick", "-o", ".")
        problems = {}
        for row in csv_rows(self.folder / "cocopelia_fig_7.csv")[1]:
            if (row["testbed"], row["routine"], row["place"]) == ("1", "dgemm", "h:h:h"):
                problems.setdefault((row["m"], row["n"], row["k"]), {})[row["library"]] = float(row["simulated_s"])
        product, count = 1.0, 0
        for times in problems.values():
            if len(times) == 3:
                product *= min(times["cuBLASXt-best"], times["BLASX"]) / times["CoCoPeLia-selected"]
                count += 1
        self.assertGreater(count, 0)
        self.assertEqual(found_in(text, "testbed 1 dgemm, full"), f"{product ** (1 / count) - 1:.1%}")


if __name__ == "__main__":
    unittest.main()
