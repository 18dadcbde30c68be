"""Numbers in pages equal the results in experiments/results."""

import csv
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["TILERAIL_SOURCE"])
ACCURACY = {  # start of a row of docs/experiments.md: its results, and their type unless all
    "H200, seed 77 | 11-24": ("hgx-h200-1/2026-11-24/h200_accuracy.csv", ""),
    "H200, seed 77 | 11-25": ("hgx-h200-1/2026-11-25/h200_accuracy.csv", ""),
    "H200, seed 77, f64 | 11-24": ("hgx-h200-1/2026-11-24/h200_accuracy.csv", "f64"),
    "H200, seed 77, f64 | 11-25": ("hgx-h200-1/2026-11-25/h200_accuracy.csv", "f64"),
    "H200, seed 123, none of them seen before | 11-25": ("hgx-h200-1/2026-11-25/h200_accuracy_seed_123.csv", ""),
    "H200, seed 123, f64 | 11-25": ("hgx-h200-1/2026-11-25/h200_accuracy_seed_123.csv", "f64"),
    "H100, seed 77 | 11-24": ("hgx-h100-1/2026-11-24/h200_accuracy.csv", ""),
    "H100, seed 91, none of them seen before | 11-25": ("hgx-h100-1/2026-11-25/h200_accuracy.csv", ""),
    "seed 301, plans of several GPUs operation by operation | 2": (
        "hgx-h100-2/2026-11-25/h200_accuracy_seed_301.csv", ""),
    "seed 401 | 2": ("hgx-h100-2/2026-11-25/h200_accuracy_seed_401.csv", ""),
    "seed 501 | 1": ("hgx-h100-1/2026-11-25/h200_accuracy_seed_501.csv", ""),
}


def accuracy(path, dtype):
    """Number of cases, and in %: median, 95th percentile and largest |error|, and share of cases in their interval."""
    lines = (SOURCE / "experiments/results" / path).read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    rows = [row for row in rows if dtype in ("", row["dtype"])]
    errors = sorted(abs(float(row["predicted_s"]) / float(row["measured_s"]) - 1) for row in rows)
    quantiles = [errors[min(len(errors) - 1, int(share * len(errors)))] for share in (0.5, 0.95, 1)]
    inside = sum(row["in_interval"] == "yes" for row in rows) / len(rows)
    return [str(len(rows)), *(f"{100 * value:.1f}" for value in quantiles), f"{100 * inside:.0f}"]


class Accuracy(unittest.TestCase):
    def test_is_the_accuracy_of_the_kept_results(self):
        page = (SOURCE / "docs/experiments.md").read_text()
        for row, results in ACCURACY.items():
            self.assertIn(f"| {row} | {' | '.join(accuracy(*results))} |\n", page)

    def test_coverage_of_intervals_is_the_least_and_the_largest_of_the_whole_sets(self):
        shares = [int(accuracy(path, "")[-1]) for path, dtype in ACCURACY.values() if not dtype]
        text = f"{min(shares)} to {max(shares)} %"
        for page in ("README.md", "docs/model.md", "docs/glossary.md"):
            self.assertRegex(re.sub(r"\s+", " ", (SOURCE / page).read_text()), rf"(?i)measured coverage[:*]+ \[?{text}")


if __name__ == "__main__":
    unittest.main()
