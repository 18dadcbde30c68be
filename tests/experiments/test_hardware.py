"""The experiments on GPUs: from recorded results, with bad arguments, and with tiny cases on the host."""

import os
import unittest

import pandas

from support import SOURCE, ExperimentTest
from tilerail.experiments import h200_accuracy, h200_scaling
from tilerail.experiments.harness import hardware

RECORDED = {"h200_accuracy": "hgx-h200-4/h200_accuracy.csv",
            "h200_libraries": "hgx-h200-2/2026-11-23/h200_libraries.csv",
            "h200_models": "hgx-h200-1/h200_models.csv", "h200_peers": "hgx-h200-4/h200_peers.csv",
            "h200_ranking": "hgx-h200-4/h200_ranking.csv", "h200_scaling": "hgx-h200-4/h200_scaling.csv"}
MACHINE = SOURCE / "topologies/two-gpu.toml"
HOST = ("--topology", MACHINE, "--backend", "host", "--shrink", 128, "--iters", 1, "--warmup", 1)


class Recorded(ExperimentTest):
    def test_results_of_earlier_runs_give_tables_and_figures(self):
        for name, path in RECORDED.items():
            out = self.succeed(name, "--from-saved", SOURCE / "experiments/results" / path)
            self.assertGreater((self.folder / f"{name}.png").stat().st_size, 10000)
            self.assertIn("written: ", out)
            self.assertFalse((self.folder / f"{name}.csv").exists(), "recorded results are not written again")

    def test_errors_are_those_of_the_recorded_rows(self):
        path = SOURCE / "experiments/results" / RECORDED["h200_accuracy"]
        out = self.succeed("h200_accuracy", "--from-saved", path)
        rows = pandas.read_csv(path, comment="#")
        errors = (rows.predicted_s / rows.measured_s - 1).abs().sort_values(ignore_index=True)
        self.assertRegex(out, rf"median of \|error\| +{errors[len(errors) // 2]:.1%}")
        self.assertRegex(out, rf"largest of \|error\| +{errors.max():.1%}")

    def save(self, **changes):
        rows = pandas.read_csv(SOURCE / "experiments/results" / RECORDED["h200_scaling"], comment="#", dtype=str)
        rows.assign(**changes).to_csv(self.folder / "saved.csv", index=False)

    def test_a_wrong_result_is_named_and_ends_with_code_1(self):
        self.save(check="FAILED")
        code, out, _ = self.run_command("h200_scaling", "--from-saved", self.folder / "saved.csv", "-o", self.folder)
        self.assertEqual(code, 1)
        self.assertIn("wrong results\n", out)

    def test_bad_results_are_refused_with_their_place(self):
        self.save(measured_s="fast")
        words = ["h200_scaling", "--from-saved", self.folder / "saved.csv"]
        self.assert_refused(words, "measured_s: 'fast' is not a number")
        (self.folder / "saved.csv").write_text("m,n\n1,2\n")
        self.assert_refused(words, "has no column 'place'")


class Arguments(ExperimentTest):
    def test_bad_arguments_are_refused(self):
        for words, quoted in (([], "expected --topology FILE to measure, or --from-saved CSV"),
                              (["--topology", MACHINE, "--from-saved", "x.csv"], "or --from-saved"),
                              (["--topology", "none.toml"], "'none.toml' does not exist"),
                              (["--topology", MACHINE, "--gpus", "3"], "--gpus: '3' is out of range; expected 1 to 2"),
                              (["--topology", MACHINE, "--backend", "moon"], "invalid choice: 'moon'"),
                              (["--from-saved", "none.csv"], "none.csv: No such file")):
            for name in ("h200_scaling", "h200_accuracy"):
                self.assert_refused([name, *words], quoted)

    def test_shrunk_cases_divide_sizes_and_tiles_and_lose_the_name_of_the_problem(self):
        cases = pandas.DataFrame([{"m": 1000, "n": 640, "k": 50, "tile": 128, "label": "x"},
                                  {"m": 1, "n": 1, "k": 1, "tile": "", "label": ""}])
        found = hardware._shrunk(cases, 64)
        self.assertEqual(found.values.tolist(), [[15, 10, 1, 2, "x / 64"], [1, 1, 1, "", ""]])

    def test_matrices_of_missing_gpus_move_to_existing_ones(self):
        self.assertEqual(hardware.on_fewer("4:2:h", 4), "0:2:h")


class Cases(unittest.TestCase):
    def test_random_cases_are_the_same_for_a_seed_and_cover_types_and_policies(self):
        types = set(h200_accuracy.DTYPES)
        cases = h200_accuracy.cases_of(h200_accuracy.COUNT, types, 8, 1)
        self.assertTrue(cases.equals(h200_accuracy.cases_of(h200_accuracy.COUNT, types, 8, 1)))
        self.assertFalse(cases.equals(h200_accuracy.cases_of(h200_accuracy.COUNT, types, 8, 2)))
        self.assertEqual(set(cases.gpus), set(range(1, 9)))
        self.assertEqual((set(cases["dtype"]), set(cases.policy)), (types, set(h200_accuracy.POLICIES)))
        self.assertTrue((cases.m * cases.n * cases.k <= h200_accuracy.LARGEST_WORK).all())

    def test_more_gpus_are_slower_when_their_least_time_is_above_the_fastest_median_of_fewer(self):
        rows = pandas.DataFrame({"gpus": [1, 2, 3, 4], "measured_s": [4, 2, 3, 1.9],
                                 "measured_min_s": [3.9, 1.9, 2.01, 1.8]})
        self.assertEqual(h200_scaling.slower_than(rows), ["", "", "slower than with 2", ""])


class Host(ExperimentTest):
    @unittest.skipUnless(os.environ.get("TILERAIL_HAS_SIM", "1") == "1", "this build has no SimGrid")
    def test_cases_are_measured_saved_and_give_the_same_tables_again(self):
        for name in ("h200_accuracy", "h200_models"):
            given = ("--gpus", 1) if name == "h200_models" else ()
            out = self.succeed(name, *HOST, "--quick", *given)
            rows = self.rows(name)
            self.assertEqual(set(rows.check), {"passed"})
            self.assertTrue((rows.measured_s > 0).all())
            (self.folder / f"{name}.csv").rename(self.folder / "saved.csv")
            again = self.succeed(name, "--from-saved", self.folder / "saved.csv", "--quick")
            self.assertEqual(again.split("written: ")[0], out.split("written: ")[0])


if __name__ == "__main__":
    unittest.main()
