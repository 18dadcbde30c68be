"""Ranking of runs."""

import itertools
import math
import unittest

import harness


class Ranks(unittest.TestCase):
    def test_tau_counts_pairs(self):
        for order in itertools.permutations([1.0, 2.0, 3.0, 4.0]):
            swapped = sum(a > b for a, b in itertools.combinations(order, 2))
            self.assertAlmostEqual(harness.kendall_tau([1, 2, 3, 4], list(order)), 1 - 2 * swapped / 6)
        self.assertEqual(harness.kendall_tau([1, 1], [1, 2]), 0)
        # Pairs: (1, 2) and (1, 3) are concordant, (2, 3) is a tie in the first list.
        self.assertAlmostEqual(harness.kendall_tau([1, 2, 2], [1, 2, 3]), 2 / math.sqrt(2 * 3))

    def test_regret_is_of_the_one_predicted_fastest(self):
        self.assertEqual(harness.regret([3, 1, 2], [5, 6, 4]), 0.5)
        self.assertEqual(harness.regret([1, 1], [4, 2]), 1)  # the first of equal values

    def test_quantiles_are_elements(self):
        values = [float(i) for i in range(100, 0, -1)]
        self.assertEqual([harness.quantile(values, share) for share in (0, 0.5, 0.95, 1)], [1, 51, 96, 100])
        self.assertEqual(harness.quantile([7], 0.95), 7)


if __name__ == "__main__":
    unittest.main()
