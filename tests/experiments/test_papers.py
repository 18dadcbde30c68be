"""Experiments of papers: numbers of the simulator; files, figures and the gallery agree."""

import argparse
import contextlib
import io
import unittest
import unittest.mock
from dataclasses import replace

import pandas

import tilerail as tr
from support import SOURCE, ExperimentTest, svg_texts
from tilerail.experiments import __main__ as command
from tilerail.experiments import clx_ai_link_map, cocopelia_models
from tilerail.experiments.__main__ import NAMES, Parser, experiment
from tilerail.experiments.harness import gallery, models, studies
from tilerail.experiments.harness.data import clx_ai_dataset, irregular_dataset, SHAPES, table
from tilerail.experiments.harness.drawing import FONT, STYLE
from tilerail.experiments.harness.gallery import PART, saved
from tilerail.experiments.harness.paralia import Variants
from tilerail.experiments.harness.studies import Run
from tilerail.experiments.harness.verdicts import Compared, published

CHEAP = "links_and_hops,thesis_fig_4_6"  # complete within seconds
LARGEST_FIGURE = 96 * 1024  # bytes; the largest has 379 measured points
FAKE = {"used_tile": 1024, "used": "0", "simulated_s": 1.0, "tflops": 1.0, "bound_s": 1.0, "busiest": ""}


class All(ExperimentTest):
    def setUp(self):
        super().setUp()
        self.words = ("all", "--only", CHEAP, "--page", self.folder / "docs/gallery.md")
        (self.folder / "docs").mkdir()

    def test_the_page_has_every_claim_with_its_verdict_and_the_figures_have_the_same_texts(self):
        out = self.succeed(*self.words)
        page = (self.folder / "docs/gallery.md").read_text()
        verdicts = pandas.read_csv(self.folder / "all.csv")
        self.assertGreater(len(verdicts), 1)
        for row in verdicts.itertuples():
            cells = (row.paper, row.claim, row.where, row.printed, row.ours, row.verdict)
            self.assertIn(f"| {' | '.join(cells)} |", page)
        for name in CHEAP.split(","):
            self.assertIn(f"    python -m tilerail.experiments {name}\n", page)
            texts = svg_texts(self.folder / f"docs/figures/gallery/{name}.svg")
            findings = saved(name, self.folder)[0]
            wanted = {value.name for value in published() if value.experiment == name and not value.reason}
            self.assertLessEqual(wanted, {each.value.name for each in findings})
            for each in findings:
                self.assertIn(f"{each.value.text(each.ours)} for {each.value.printed}", texts)
                self.assertIn(each.value.name, out)

    def test_results_of_this_version_are_kept_until_they_are_asked_for_again(self):
        self.succeed(*self.words)
        kept = self.folder / "thesis_fig_4_6/thesis_fig_4_6.csv"
        written = kept.stat().st_mtime_ns
        self.assertIn("thesis_fig_4_6: kept from an earlier run", self.succeed(*self.words))
        self.assertEqual(kept.stat().st_mtime_ns, written)
        self.assertNotIn("kept", self.succeed(*self.words, "--again"))
        self.assertNotEqual(kept.stat().st_mtime_ns, written)

    def test_results_of_other_inputs_and_damaged_files_are_not_kept(self):
        words = ("all", "--only", "thesis_fig_4_6")
        self.succeed(*words)
        self.assertIn("kept", self.succeed(*words))
        with unittest.mock.patch.object(gallery, "inputs", return_value="other machines"):
            self.assertNotIn("kept", self.succeed(*words))
        self.assertNotIn("kept", self.succeed(*words))
        (self.folder / "thesis_fig_4_6/thesis_fig_4_6.csv").write_bytes(b"\xff")
        self.assertNotIn("kept", self.succeed(*words))
        (self.folder / "thesis_fig_4_6/thesis_fig_4_6.svg").unlink()
        self.assertNotIn("kept", self.succeed(*words))

    def test_files_that_were_cut_are_not_kept(self):
        words = ("all", "--only", "thesis_fig_4_6")
        self.succeed(*words)
        for name in ("thesis_fig_4_6", "thesis_fig_4_6-verdicts"):
            path = self.folder / f"thesis_fig_4_6/{name}.csv"
            whole = path.read_text()
            for text in (whole[:-1], whole[:-5], whole[:whole.rstrip().rindex("\n") + 1]):
                path.write_text(text)
                self.assertNotIn("kept", self.succeed(*words))
                self.assertEqual(path.read_text(), whole)

    def test_failed_experiments_are_named_and_not_kept(self):
        def failing(name):
            return replace(experiment(name), study=lambda run: replace(experiment(name).study(run), code=1))

        words = ("all", "--only", "thesis_fig_4_6,links_and_hops")
        with unittest.mock.patch.object(command, "experiment", failing):
            code, _, error = self.run_command(*words, "-o", self.folder)
        self.assertEqual((code, error), (1, "tilerail: error: failed experiments:\n  thesis_fig_4_6: exit code 1\n"
                                            "  links_and_hops: exit code 1\n"))
        self.assertFalse((self.folder / "all.csv").exists())
        self.assertNotIn("kept", self.succeed(*words))

    def test_errors_of_an_experiment_are_named_and_the_others_run(self):
        words, occupied = ("all", "--only", "thesis_fig_4_6,links_and_hops"), self.folder / "thesis_fig_4_6"
        occupied.write_text("a file, not a folder")
        code, _, error = self.run_command(*words, "-o", self.folder)
        self.assertEqual((code, error), (1, "tilerail: error: failed experiments:\n"
                                            f"  thesis_fig_4_6: {occupied}: File exists\n"))
        occupied.unlink()
        self.assertIn("links_and_hops: kept", self.succeed(*words))
        for fault in (tr.InputError("tile"), tr.HardwareError("no GPU")):
            with unittest.mock.patch.object(command, "run_one", side_effect=fault):
                code, _, error = self.run_command(*words, "--again", "-o", self.folder)
            self.assertEqual((code, error.count(f": {fault}\n")), (1, 2), error)

    def test_the_gallery_of_the_documentation_has_the_results_of_the_program(self):
        self.succeed(*self.words)
        page = (SOURCE / "docs/gallery.md").read_text()
        for line in (self.folder / "docs/gallery.md").read_text().splitlines():
            if line.startswith(("| CoCoPeLia |", "| PARALiA", "| testbed", "| share over")):
                self.assertIn(line, page)

    def test_every_experiment_of_a_paper_has_a_small_figure_in_the_gallery(self):
        page = (SOURCE / "docs/gallery.md").read_text()
        for name in (name for name in NAMES if experiment(name).paper):
            self.assertIn(f"(figures/gallery/{name}.svg)", page)
            self.assertLess((SOURCE / f"docs/figures/gallery/{name}.svg").stat().st_size, LARGEST_FIGURE, name)


class Quick(ExperimentTest):
    def test_a_part_of_the_problems_says_so_in_the_figure_and_its_type_can_be_read(self):
        self.succeed("thesis_fig_4_8", "--quick")
        self.assertIn(PART, svg_texts(self.folder / "thesis_fig_4_8.svg"))
        self.assertGreaterEqual(FONT, 8)
        self.assertEqual({size for key, size in STYLE.items() if key.endswith("size")}, {FONT})

    def test_factors_of_figure_4_8_are_ratios_of_mean_rates_of_the_simulator(self):
        self.succeed("thesis_fig_4_8", "--quick")
        rows = self.rows("thesis_fig_4_8")
        row = rows[(rows.step == "bandwidth") & (rows.place == "h:h:h")].iloc[0]
        again = tr.simulate(tr.gemm(row.m, place="h:h:h"), "karolina-hgx-a100", "gemmex",
                            options=dict(word.split("=") for word in row.options.split()))
        self.assertEqual(again.makespan, row.simulated_s)
        means = rows.groupby(["step", "place"]).tflops.mean()
        ours = self.rows("thesis_fig_4_8-verdicts").set_index("name").ours
        self.assertAlmostEqual(ours["bandwidth, h:h:h"], means["bandwidth", "h:h:h"] / means["cache+overlap", "h:h:h"])

    def test_speed_ups_of_figure_4_11_are_ratios_of_times(self):
        self.succeed("thesis_fig_4_11", "--quick")
        rows = self.rows("thesis_fig_4_11").set_index(["library", "place", "gpus"]).simulated_s
        found = self.rows("thesis_fig_4_11-verdicts").set_index("name").ours
        self.assertEqual(len(found[found.index.str.contains("GPUs over 1")]), 4 * 2 * 3)
        self.assertAlmostEqual(found["XKBLAS, 8192 0:0:0, 4 GPUs over 1"],
                               rows["XKBLAS", "0:0:0", 1] / rows["XKBLAS", "0:0:0", 4])

        self.assertAlmostEqual(found["PARALiA-GEMMex over PARALiA, 8192 0:0:0, speed-up by 8 GPUs"],
                               rows["PARALiA-GEMMex", "0:0:0", 1] / rows["PARALiA-GEMMex", "0:0:0", 8] /
                               (rows["PARALiA", "0:0:0", 1] / rows["PARALiA", "0:0:0", 8]))

    def test_models_are_compared_with_measured_rows(self):
        self.succeed("cocopelia_models", "--quick")
        rows = self.rows("cocopelia_models")
        self.assertTrue((rows[["measured_s", "dr_s", "cso_s"]] > 0).all(axis=None))
        self.assertTrue((rows[rows.kind == "CoCoPeLia"].simulated_s > 0).all())

    def test_orders_of_table_3_4_are_ratios_of_mean_rates(self):
        self.succeed("clx_ai_paralia", "--quick", "--places", "h:h:h,0:1:2")
        ours = self.rows("clx_ai_paralia-verdicts").set_index("name").ours
        for one, other in (("BLASX", "XKBLAS"), ("select(PERF)", "comm_opt"), ("select(PDP)", "comm_opt")):
            self.assertAlmostEqual(ours[f"{one} over {other}, mean rate, all"],
                                   ours[f"{one}, rate, all"] / ours[f"{other}, rate, all"])
        gain = {shape: ours[f"select(EDP) over comm_opt, mean efficiency, {shape}"] for shape in SHAPES}
        self.assertAlmostEqual(ours["gain by EDP, thin by fat over fat by thin"],
                               gain["thin by fat"] / gain["fat by thin"])


    def test_problems_that_options_choose_are_marked_as_a_part_and_give_no_verdicts(self):
        about = experiment("thesis_fig_4_6")
        whole = about.study(Run(argparse.Namespace(quick=False)))
        for part in (False, True):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                gallery.report(about, replace(whole, part=part), quick=False)
            self.assertEqual((PART in out.getvalue(), "reproduced" in out.getvalue()), (part, not part))
        gallery.save(about, replace(whole, part=True), self.folder, "command", quick=False)
        self.assertIn(PART, svg_texts(self.folder / "thesis_fig_4_6.svg"))

    def test_placements_and_machines_that_are_left_out_make_a_part(self):
        def is_part(name, *words):
            parser = Parser(name, "")
            experiment(name).arguments(parser)
            return experiment(name).study(Run(parser.parse_args(["--jobs", "1", *words]))).part

        with unittest.mock.patch.object(studies, "simulated", return_value=FAKE):
            self.assertTrue(is_part("clx_ai_paralia", "--places", "h:h:h"))
            self.assertFalse(is_part("clx_ai_paralia"))
        self.assertTrue(is_part("over_bound", "--machines", "two-gpu", "--sizes", "512"))


class Complete(unittest.TestCase):
    def test_every_printed_number_that_names_an_experiment_is_computed_by_it(self):
        computed = set()
        def add(compared, name, ours, rows, **of):
            computed.add((compared.experiment, name))

        def predicted(rows):
            return pandas.DataFrame(1.0, rows.index, [f"{model}_s" for model in models.MODELS])

        patch = unittest.mock.patch.object
        with patch(studies, "simulated", return_value=FAKE), patch(Compared, "add", add), \
                patch(cocopelia_models, "predictions", predicted), patch(clx_ai_link_map, "link", return_value=(1, 1)):
            for name in (name for name in NAMES if experiment(name).paper):
                parser = Parser(name, "")
                experiment(name).arguments(parser)
                experiment(name).study(Run(parser.parse_args(["--jobs", "1"])))
        named = {(value.experiment, value.name) for value in published() if value.experiment}
        self.assertEqual(named - computed, set())


class Datasets(unittest.TestCase):
    def test_datasets_have_as_many_problems_as_the_thesis_says(self):
        for rows, count in ((clx_ai_dataset(1, "m"), 630), (clx_ai_dataset(2, "m"), 250), (irregular_dataset(), 305)):
            self.assertEqual((len(rows), len(rows.drop_duplicates())), (count, count))

    def test_measured_rows_of_the_libraries_are_problems_of_the_dataset(self):
        rows = table("clx_ai_libraries")
        measured = set(zip(rows.M, rows.N, rows.K, rows.loc_A + ":" + rows.loc_B + ":" + rows.loc_C))
        problems = clx_ai_dataset(1, "m")
        self.assertLessEqual(measured, set(zip(*(problems[side].astype(str) for side in "mnk"), problems.place)))


class Means(unittest.TestCase):
    def setUp(self):
        rows = [("A", 1, 1.0, 1, "0"), ("A", 2, 4.0, 8, "0"), ("B", 1, 2.0, 1, "0,1"), ("B", 2, 16.0, 8, "0,1")]
        self.rows = pandas.DataFrame(rows, columns=["library", "m", "simulated_s", "flops", "used"]).assign(
            n=1, k=1, place="h:h:h", shape="square")

    def test_a_mean_is_of_all_flops_over_all_seconds_or_joules(self):
        of = Variants(self.rows)
        self.assertAlmostEqual(of.mean("A", "simulated_s"), 9 / 5 / 1e9)
        self.assertAlmostEqual(of.ratio("A", "B", "joules"), 36 / 5)  # B draws the watts of two GPUs for 18 s

    def test_a_factor_is_a_geometric_mean(self):
        self.assertAlmostEqual(Variants(self.rows).factor("A", "B", "simulated_s"), (2 * 4) ** 0.5)

    def test_small_problems_are_those_with_the_fewest_flops(self):
        parts = Variants(self.rows, small=1).parts()
        self.assertEqual({name: set(part.rows.m) for name, part in parts.items()},
                         {"small": {1}, "large": {2}, "all": {1, 2}})


if __name__ == "__main__":
    unittest.main()
