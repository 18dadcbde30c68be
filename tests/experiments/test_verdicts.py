"""Printed numbers and ours: bands, verdicts on claims, and what counts as fitted."""

import math
import re
import tomllib
import unittest
import unittest.mock

import pandas

from support import SOURCE
from tilerail.experiments.__main__ import NAMES
from tilerail.experiments.harness import verdicts
from tilerail.experiments.harness.data import LIBRARIES, REFERENCE, cocopelia
from tilerail.experiments.harness.verdicts import Check, Finding, Printed, verdict_of
from tilerail.experiments.karolina_gemmex import measured_rows, real_tile

ORDER = re.compile(r"\b(faster|slower|better|smaller|higher|fastest|slowest|more efficient|most)\b")


def printed(low, high=None, unit="x", tolerance="0", reason="", name="f"):
    return Printed("P", "c", name, "table", low, low if high is None else high, unit, tolerance, "e", reason)


class Bands(unittest.TestCase):
    def test_a_tolerance_in_percent_is_of_the_value_and_another_one_is_added(self):
        self.assertEqual(printed(2.0, 4.0, "GB/s", "50%").band, (1.0, 6.0))
        self.assertEqual(printed(-0.5, -0.25, "%", "0.25").band, (-0.75, 0.0))

    def test_a_finding_is_within_up_to_the_edges_of_its_band(self):
        for ours, within, distance in ((2.5, True, 1), (1.5, True, -1), (2.0, True, 0), (3.5, False, 3)):
            finding = Finding(printed(2.0, tolerance="0.5"), ours, False)
            self.assertEqual((finding.within, finding.distance), (within, distance))

    def test_a_limit_has_no_edge_on_the_side_of_better_results(self):
        least, most = printed(0.5, math.inf, tolerance="0.25"), printed(-math.inf, 0.5, "gain", "0.25")
        self.assertEqual((least.printed, most.printed), ("at least 0.500 x", "at most 50.0 %"))
        for value, ours, within, distance in ((least, 9.0, True, 0), (least, 0.25, True, -1), (least, 0.0, False, -2),
                                              (most, -9.0, True, 0), (most, 0.75, True, 1), (most, 1.25, False, 3)):
            finding = Finding(value, ours, False)
            self.assertEqual((finding.within, finding.distance), (within, distance))
        for value in verdicts.published():
            self.assertFalse(math.isinf(value.low) and math.isinf(value.high), value)

    def test_texts_have_the_printed_digits_at_least_three_and_the_unit(self):
        for value, unit, text in ((12.98, "GB/s", "12.98 GB/s"), (1827, "", "1827"), (0.135, "gain", "13.5 %"),
                                  (2.5, "x", "2.50 x")):
            self.assertEqual(printed(value, unit=unit).printed, text)

    def test_every_printed_number_has_a_source_and_an_experiment_or_a_reason(self):
        values = verdicts.published()
        self.assertGreater(len(values), 300)
        self.assertLessEqual({value.experiment for value in values}, {"", *NAMES})
        names = [(value.experiment, value.name) for value in values]
        self.assertEqual(len(names), len(set(names)))
        for value in values:
            self.assertIn(value.paper, ("CoCoPeLia", "PARALiA", "PARALiA-GEMMex"))
            self.assertRegex(value.where, "^(from )?(CoCoPeLia|thesis) ")
            self.assertTrue(value.experiment or value.reason, value)
            self.assertLessEqual(value.low, value.high, value)

    def test_a_band_contains_no_effect_only_if_the_paper_prints_it(self):
        for value in (value for value in verdicts.published() if value.experiment):
            low, high = value.band
            self.assertTrue(low <= value.low and value.high <= high, value)
            nothing = verdicts.NO_EFFECT.get(value.unit, math.nan)
            self.assertLessEqual(low <= nothing <= high, value.low <= nothing <= value.high, value)

    def test_a_claim_of_an_order_is_judged_by_ratios_whose_bands_exclude_no_effect(self):
        found = [value for value in verdicts.published() if ORDER.search(value.claim) and not value.reason]
        self.assertGreater(len(found), 100)
        for value in found:
            self.assertIn(value.unit, ("x", "gain", "%"), value.claim)
            low, high = value.band
            self.assertFalse(low <= verdicts.NO_EFFECT.get(value.unit, math.nan) <= high, value)

    def test_a_ratio_is_the_quotient_of_the_printed_numbers_in_its_place(self):
        found = [value for value in verdicts.published() if value.where.startswith("from ")]
        self.assertGreater(len(found), 50)
        for value in found:
            pairs = re.findall(verdicts.QUOTIENT, value.where)
            parts = [float(a) / float(b) - (value.unit == "gain") for a, b in pairs]
            self.assertIn(len(parts), (1, 2), value.where)
            self.assertAlmostEqual(parts[0], value.low, delta=0.0006)
            self.assertAlmostEqual(parts[-1], value.high, delta=0.0006)


class Verdicts(unittest.TestCase):
    def of(self, *ours, reason=""):
        return verdict_of([Finding(printed(2.0, tolerance="0.5", reason=reason), each, False) for each in ours])

    def test_one_of_four_words(self):
        self.assertEqual(self.of(2.0, 2.5), "reproduced")
        self.assertEqual(self.of(2.0, 3.0), "partly")
        self.assertEqual(self.of(3.0, 1.5), "partly")  # half of two times as fast
        self.assertEqual(self.of(3.0, 1.4), "no")
        self.assertEqual(self.of(3.0, 0.9), "no")
        self.assertEqual(self.of(), "cannot be told")
        self.assertEqual(self.of(2.0, 2.0, reason="misprint"), "cannot be told")

    def test_partly_needs_half_of_the_effect_in_each_number_or_half_of_the_numbers_in_their_bands(self):
        def of(value, *ours):
            return verdict_of([Finding(value, each, False) for each in ours])

        self.assertEqual(of(printed(2.0), 2.0, 1.0), "partly")
        self.assertEqual(of(printed(2.0), 2.0, 1.0, 1.0), "no")
        self.assertEqual([of(printed(1.2, 1.6), ours) for ours in (1.1, 1.09)], ["partly", "no"])
        self.assertEqual([of(printed(0.2, 0.6), ours) for ours in (0.1, 0.79, 0.81)], ["partly", "partly", "no"])
        self.assertEqual([of(printed(0.1, unit="gain"), ours) for ours in (0.05, 0.04)], ["partly", "no"])
        self.assertEqual([of(printed(-0.3, -0.2, "error"), ours) for ours in (-0.9, -0.1, -0.09, 0.2)],
                         ["partly", "partly", "no", "no"])
        self.assertEqual(of(printed(-0.3, -0.2, "%"), -0.19), "no")
        self.assertEqual(of(printed(7.0, unit="GB/s"), 6.9), "no")

    def test_numbers_with_a_reason_are_left_out_of_the_verdict(self):
        values = [printed(2.0, name="a"), printed(3.0, name="b", reason="misprint"), printed(4.0, name="c")]
        with unittest.mock.patch.object(verdicts, "published", return_value=tuple(values)):
            found = [Finding(value, ours, True) for value, ours in zip(values, (2.0, 9.0, 4.0))]
            line = verdicts.claim_table(found, ["e"]).iloc[0]
            self.assertEqual((line.verdict, line.ours, line.printed, line.fitted, line.reason),
                             ("reproduced", "2.00 x, 4.00 x; 1 of 3 left out", "2.00 x, 4.00 x", "2 of 2", "misprint"))
            self.assertEqual(verdicts.claim_table(found[1:2], ["e"]).iloc[0].verdict, "cannot be told")

    def test_all_numbers_of_a_claim_that_compares_with_xkblas_on_karolina_are_left_out(self):
        found = [value for value in verdicts.published() if value.paper == "PARALiA-GEMMex" and value.experiment
                 and re.search("XKBLAS|fastest", value.claim + value.name)]
        self.assertGreater(len({value.claim for value in found}), 10)
        for value in found:
            self.assertRegex(value.reason, "XKBLAS (is simulated|fails)", value)

    def test_a_claim_is_a_row_and_inputs_are_none(self):
        value = next(each for each in verdicts.published() if each.experiment == "thesis_fig_4_6")
        table = verdicts.claim_table([Finding(value, value.low, True)], ["thesis_fig_4_6", "links_and_hops"])
        line = table[table.claim == value.claim].iloc[0]
        self.assertEqual((line.verdict, line.fitted), ("reproduced", "1 of 1"))
        self.assertNotIn("", set(table.claim))

    def test_checks_have_targets_and_no_verdicts(self):
        self.assertTrue(Check("error", 0.1, 0.1).reached)
        self.assertFalse(Check("share", 0.1, 0.2, least=True).reached)
        self.assertIsNone(Check("error", 0.1).reached)


class Fitted(unittest.TestCase):
    def test_every_fit_names_a_figure_a_dataset_and_rows_that_are_there(self):
        policies = set(LIBRARIES.policy)
        for fit in verdicts.fits():
            path = SOURCE / f"topologies/{fit['name']}.toml"
            if fit["kind"] == "policy":
                self.assertIn(fit["name"], policies)
            elif path.exists():
                self.assertIn(fit["figure"].split(" (")[0], tomllib.loads(path.read_text())["sources"])
            is_printed = fit["dataset"].startswith(("thesis ", "CoCoPeLia "))
            self.assertTrue(is_printed or (REFERENCE / f"{fit['dataset']}.csv").exists(), fit)

    def test_every_fitted_source_of_the_papers_machines_is_listed(self):
        listed = {(fit["name"], fit["figure"].split(" (")[0]) for fit in verdicts.fits()}
        for name in ("karolina-hgx-a100", "cocopelia-testbed-1", "cocopelia-testbed-2"):
            sources = tomllib.loads((SOURCE / f"topologies/{name}.toml").read_text())["sources"]
            for key in (key for key, source in sources.items() if source["kind"] == "fitted"):
                self.assertIn((name, key), listed)

    def test_rows_are_fitted_on_the_machine_and_with_the_library_of_a_fit(self):
        row = {"machine": "karolina-hgx-a100", "library": "PARALiA", "place": "0:0:0", "dtype": "f64"}
        def fitted(**changes):
            return bool(verdicts.fitted_rows(pandas.DataFrame([row | changes]), "karolina_dgemm").any())

        self.assertTrue(fitted(), "run-time costs of PARALiA")
        self.assertFalse(fitted(dtype="f32"))
        self.assertTrue(fitted(added="yes"), "rows that were added later")
        self.assertFalse(fitted(library="PARALiA-GEMMex"), "columns were fitted to rows from the host")
        self.assertTrue(fitted(library="PARALiA-GEMMex", place="h:h:h"))
        self.assertFalse(fitted(library="PARALiA-GEMMex", place="h:h:h", machine="clx-ai"))
        self.assertFalse(fitted(library="XKBLAS", place="h:h:h"))

    def test_the_part_of_cocopelias_rows_that_is_not_fitted_is_told_apart(self):
        rows = cocopelia("CoCoPeLia")
        mask = verdicts.fitted_rows(rows)
        cubes = rows[(rows.testbed == "1") & (rows.blas == "sgemm") & (rows.m == rows.k) & (rows.place == "h:h:h")]
        self.assertGreater(len(cubes), 0)
        self.assertFalse(mask[cubes.index].any())
        self.assertTrue(0 < mask.sum() < len(rows))


class Tiles(unittest.TestCase):
    def test_a_mean_over_runs_of_two_tiles_stands_for_the_nearer_one(self):
        self.assertEqual(real_tile(2234.18, 8192), 2048)
        self.assertEqual(real_tile(3909.82, 16384), 4096)
        self.assertEqual(real_tile(5454.55, 6000), 6000)  # (9 x 6000 + 2 x 3000) / 11
        self.assertEqual(real_tile(1500, 3000), 1500)

    def test_tiles_of_cublasxt_are_a_quarter_of_the_least_size(self):
        rows = measured_rows()
        rows = rows[rows.library == "cuBLASXt"]
        self.assertTrue((rows.tile == (rows[["m", "n", "k"]].min(axis=1) // 4).clip(upper=8192)).all())


if __name__ == "__main__":
    unittest.main()
