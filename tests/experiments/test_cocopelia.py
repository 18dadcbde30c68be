"""The models of CoCoPeLia on its testbeds."""

import csv
import unittest

from support import ExperimentTest, csv_rows, table_after


class CocopeliaModels(ExperimentTest):
    def test_errors_are_of_the_predictions_and_saved_ones_give_the_same_table(self):
        text = self.succeed("run", "cocopelia_models", "--", "--quick", "--step", 1024)
        lines = table_after(text, "testbed and routine")
        self.assertEqual([(line[0][-1], line[1], line[2]) for line in lines],
                         [(testbed, routine, model) for testbed in "12" for routine in ("dgemm", "sgemm", "daxpy")
                          for model in ("cso", "bts", "dr")[:2 if routine == "daxpy" else 3]])
        saved = self.folder / "out/cocopelia_models/cocopelia_models.csv"
        _, all_rows = csv_rows(saved)
        rows = [row for row in all_rows if row["searched"] == "0"]
        errors = sorted(float(row["dr_s"]) / float(row["simulated_s"]) - 1 for row in rows
                        if (row["testbed"], row["routine"]) == ("cocopelia-testbed-1", "dgemm"))
        self.assertEqual(len(errors), int(lines[2][3]))
        half = len(errors) // 2
        median = (errors[half] + errors[-half - 1]) / 2
        self.assertAlmostEqual(float(lines[2][5].rstrip("%")), 100 * median, delta=0.051)
        for column, share in ((4, 0.05), (6, 0.95)):  # errors of cases, as `tilerail compare` has them
            self.assertAlmostEqual(float(lines[2][column].rstrip("%")), 100 * errors[int(share * len(errors))], delta=0.051)
        for row in rows:
            sizes = "M" if row["routine"] == "daxpy" else "MNK"
            self.assertLessEqual(1.5 * int(row["tile"]), min(int(row[size]) for size in sizes))
            self.assertNotIn(row["place"], ("0:0:0", "0:0"))
        axpy = sorted(float(row["bts_s"]) / float(row["simulated_s"]) - 1 for row in rows
                      if (row["testbed"], row["routine"]) == ("cocopelia-testbed-1", "daxpy"))
        self.assertEqual(len(axpy), 15)  # 8M in tiles of 1M to 5M, in three places
        self.assertAlmostEqual(float(lines[7][5].rstrip("%")), 100 * axpy[7], delta=0.051)
        problems = {}
        for row in all_rows:
            if row["routine"] == "daxpy":
                continue
            key = tuple(row[column] for column in ("testbed", "routine", "M", "N", "K", "place"))
            problems.setdefault(key, []).append(row)
        ways = table_after(text, "tile chosen by")
        self.assertEqual([line[0] for line in ways], ["baseline", "dataloc", "bts", "dr", "cso", "T", "search"])
        self.assertEqual({line[-5] for line in ways}, {str(len(problems))})
        of_axpy = table_after(text, "tile of daxpy by")
        self.assertEqual([line[0] for line in of_axpy], ["baseline", "dataloc", "bts", "dr", "cso", "search"])
        self.assertEqual({line[-5] for line in of_axpy}, {"6"})
        losses = []
        for tried in problems.values():
            chosen = min((row for row in tried if row["searched"] == "0"), key=lambda row: float(row["cso_s"]))
            losses.append(float(chosen["simulated_s"]) / min(float(row["simulated_s"]) for row in tried) - 1)
        self.assertAlmostEqual(float(ways[4][-2].rstrip("%")), 100 * max(losses), delta=0.051)
        again = self.succeed("run", "cocopelia_models", "-o", "o", "--", "--from-saved", saved)
        self.assertEqual(table_after(again, "testbed and routine"), lines)
        self.assertEqual(table_after(again, "tile chosen by"), ways)


if __name__ == "__main__":
    unittest.main()
