"""CoCoPeLia's models, links measured in the simulator, and statistics."""

import unittest

import pandas

from tilerail.experiments import cocopelia_models
from tilerail.experiments.h200_ranking import kendall_tau
from tilerail.experiments.harness.models import MODELS, kernel, predictions
from tilerail.experiments.harness.studies import link, quantile

BED = "cocopelia-testbed-1"
RATES = 3.15e9, 3.29e9  # CoCoPeLia table II
LATENCIES = 2.4e-6, 2.2e-6


def predicted(place, tile, m=4096, routine="gemm"):
    sides = (m, 1, 1) if routine == "axpy" else (m, m, m)
    row = dict(zip("mnk", sides)) | {"machine": BED, "routine": routine, "dtype": "f64", "place": place, "tile": tile}
    return predictions(pandas.DataFrame([row])).iloc[0]


class Models(unittest.TestCase):
    def test_links_have_the_latency_and_the_rate_of_the_machine_file(self):
        for ends, rate, latency in zip((("host", "gpu0"), ("gpu0", "host")), RATES, LATENCIES):
            found = link(BED, *ends)
            self.assertAlmostEqual(found[0] / latency, 1, places=6)
            self.assertAlmostEqual(found[1] / rate, 1, places=6)

    def test_both_directions_share_their_sum(self):
        both = [link(BED, *ends, both=True)[1] for ends in (("host", "gpu0"), ("gpu0", "host"))]
        self.assertAlmostEqual(both[0] / both[1], 1, places=4)
        self.assertLess(both[0], RATES[0])

    def test_one_tile_is_copied_in_computed_and_copied_out(self):
        size = 8 * 4096**2
        copies = 3 * (LATENCIES[0] + size / RATES[0]) + LATENCIES[1] + size / RATES[1]
        alone = copies + kernel(BED, "gemm", "f64", 4096, 4096, 4096)
        for model in ("dataloc", "bts", "dr", "cso"):
            self.assertAlmostEqual(predicted("h:h:h", 4096)[f"{model}_s"] / alone, 1, places=6)

    def test_without_copies_all_models_but_the_baseline_are_kernels_alone(self):
        alone = 8 * kernel(BED, "gemm", "f64", 2048, 2048, 2048)
        found = predicted("0:0:0", 2048)
        for model in ("dataloc", "bts", "dr"):
            self.assertAlmostEqual(found[f"{model}_s"] / alone, 1, places=9)
        self.assertGreater(found.baseline_s, alone)

    def test_tiles_of_a_and_b_count_each(self):
        one, both = predicted("h:0:0", 1024).dr_s, predicted("h:h:0", 1024).dr_s
        none = predicted("0:0:0", 1024).dr_s
        self.assertAlmostEqual((both - none) / (one - none), 2, places=6)

    def test_vectors_have_one_dimension(self):
        found = predicted("h:h", 2**20, 2**23, "axpy")
        size = 2 * 8 * 2**23
        self.assertGreater(found.cso_s, size / RATES[0])
        self.assertLess(found.dataloc_s, 2 * size / RATES[0])
        self.assertEqual(list(found.index), [f"{model}_s" for model in MODELS])


class Orders(unittest.TestCase):
    def test_models_are_ordered_by_ratios_of_errors_and_of_gains(self):
        of = {"testbed": "2", "blas": "dgemm", "library": "CoCoPeLia", "m": 8192, "n": 8192, "k": 8192, "place": "h:h:h"}
        errors = pandas.DataFrame([of | {"kind": "cuBLASXt", "model": model, "error": error, "machine": "m"}
                                   for model, error in (("BTS", -0.1), ("CSO", -0.4))])
        library = pandas.DataFrame([of] * 3).assign(machine="m", tile=[1024, 2048, 4096], measured_s=[1.5, 1.8, 1.2])
        chosen = {f"{model}_s": 1024 for model in ("baseline", "dataloc", "bts", "cso", "simulated")} | {"dr_s": 4096}
        library = library.assign(**{column: 1.0 + (library.tile != tile) for column, tile in chosen.items()})
        ours = {each.value.name: each.ours for each in cocopelia_models.compare(errors, library)[0].findings}
        self.assertAlmostEqual(ours["cuBLASXt, BTS over CSO, median error"], 0.25)
        self.assertAlmostEqual(ours["dgemm, BTS over 2048, median"], 0.2)
        self.assertAlmostEqual(ours["dgemm, DR over BTS, medians of the gain over 2048"], 0.25)
        self.assertAlmostEqual(ours["dgemm, DR over best measured tile, medians of the gain over 2048"], 0)
        self.assertAlmostEqual(ours["dgemm, best tile over 2048, median"], 1)  # simulated, not 1.8 / 1.2


class Statistics(unittest.TestCase):
    def test_a_quantile_is_the_element_of_its_rank(self):
        self.assertEqual([quantile([4, 1, 3, 2], share) for share in (0, 0.25, 0.5, 0.99, 1)], [1, 2, 3, 4, 4])

    def test_tau_is_one_for_equal_orders_and_pairs_with_ties_count_less(self):
        self.assertEqual(kendall_tau([1, 2, 3], [4, 5, 6]), 1)
        self.assertEqual(kendall_tau([1, 2, 3], [3, 2, 1]), -1)
        self.assertEqual(kendall_tau([1, 2], [1, 1]), 0)
        # Pairs: (1, 2) tied in a; (1, 3) and (2, 3) agree: 2 / sqrt(2 x 3).
        self.assertAlmostEqual(kendall_tau([1, 1, 2], [1, 2, 3]), 2 / 6**0.5)


if __name__ == "__main__":
    unittest.main()
