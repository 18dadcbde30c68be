"""Experiments of papers: published values and verdicts, journals, all experiments with one command, and the gallery."""

import hashlib
import json
import os
import re
import unittest
import xml.dom.minidom
from statistics import fmean

import harness
from harness import Finding, Journal, Simulation, Tilerail, Value, target, verdict
from harness.libraries import policy_of
from support import SOURCE, ExperimentTest, csv_rows, table_after

CHEAP = "cocopelia_table_2,thesis_fig_4_6,thesis_table_3_1"  # complete within seconds
LARGEST_FIGURE = 64 * 1024  # bytes, in docs


def svg_texts(path):
    """The texts of a figure, in file order."""
    elements = xml.dom.minidom.parse(str(path)).getElementsByTagName("text")
    return ["".join(each.data for each in element.childNodes if each.nodeType == each.TEXT_NODE)
            for element in elements]


def published_values():
    """By experiment and name."""
    rows = harness.read_table(harness.REFERENCE / "published.csv", ["experiment", "name"])[1]
    return {name: harness.read_published(name) for name in {row["experiment"] for row in rows}}


class Values(unittest.TestCase):
    def test_a_tolerance_in_percent_is_of_the_value_and_another_one_is_added(self):
        self.assertEqual(Value("f", "table", 2.0, 4.0, "50%", "GB/s").band(), (1.0, 6.0))
        self.assertEqual(Value("f", "table", -0.5, -0.25, "0.25", "%").band(), (-0.75, 0.0))

    def test_a_band_ends_at_half_of_the_effect_of_a_factor_or_gain(self):
        for low, high, tolerance, unit, band in ((1.25, 1.25, "20%", "x", (1.125, 1.375)),
                                                 (0.75, 0.75, "0.5", "x", (0.625, 0.875)),
                                                 (1.5, 2.0, "1", "x", (1.25, 2.5)),
                                                 (4.0, 4.0, "25%", "x", (3.0, 5.0)),
                                                 (0.25, 0.25, "0.5", "gain", (0.125, 0.375)),
                                                 (-0.5, -0.5, "1", "gain", (-0.75, -0.25))):
            self.assertEqual(Value("f", "table", low, high, tolerance, unit).band(), band)

    def test_a_band_contains_no_effect_if_the_paper_prints_it(self):
        self.assertEqual(Value("f", "table", 1.0, 1.0, "0.25", "x").band(), (0.75, 1.25))
        self.assertEqual(Value("f", "table", 0.0, 0.5, "0.25", "gain").band(), (-0.25, 0.75))

    def test_a_published_value_has_the_digits_of_the_paper_and_a_measured_one_three(self):
        for number, unit, text in ((12.98, "GB/s", "12.98 GB/s"), (9.59, "GB/s", "9.59 GB/s"), (1827, "", "1827"),
                                   (2.5, "us", "2.5 us"), (0.135, "gain", "13.5%"), (0.99951, "x", "0.99951x"),
                                   (2.1828125, "x", "2.18x")):
            self.assertEqual(Value("f", "table", number, number, "0", unit).published(), text)

    def test_the_edges_of_a_band_are_printed_apart_from_no_effect(self):
        self.assertEqual(Value("f", "table", 1.01, 1.01, "0.04", "x").allowed(), "1.005..1.015x")

    def test_a_finding_is_within_up_to_the_edges_of_its_band(self):
        value = Value("f", "table", 2.0, 2.0, "0.5", "x")
        for ours, within, distance in ((2.5, True, 1), (1.5, True, -1), (2.0, True, 0), (3.5, False, 3)):
            finding = Finding(value, ours)
            self.assertEqual((finding.within, finding.distance()), (within, distance))

    def test_the_verdict_counts_and_names_the_farthest(self):
        near, far = target("near", 0.1, 0.05), target("far", 0.1, 0.3)
        self.assertEqual(verdict([near]), "1 of 1 values are within their tolerance.")
        self.assertEqual(verdict([near, target("nearer", 0.1, 0.11), far]),
                         "1 of 3 values are within their tolerance; the farthest is far: 30.0% for <= 10.0% (target).")

    def test_fitted_values_are_also_counted_apart(self):
        fitted = [target("near", 0.1, 0.05, True), target("far", 0.1, 0.3, True), target("other", 0.1, 0.05)]
        edge = Finding(Value("h2d", "table", 12.18, 12.18, "1%", "GB/s"), 12.3336)
        self.assertEqual(edge.cells()[4:], ["12.06..12.3 GB/s", "12.33 GB/s", "outside"])
        self.assertIn("2 of 3 values are within their tolerance (fitted: 1 of 2); the farthest",
                      verdict(fitted))
        self.assertEqual([each.cells()[2] for each in fitted], ["fitted", "fitted", "-"])

    def test_every_published_value_has_a_source_and_a_band(self):
        names = {path.stem for path in (SOURCE / "experiments").glob("*.py")}
        rows = harness.read_table(harness.REFERENCE / "published.csv", ["experiment", "name"])[1]
        self.assertGreater(len(rows), 150)
        self.assertLessEqual({row["experiment"] for row in rows}, names)
        for row in rows:
            value = harness.read_published(row["experiment"])[row["name"]]
            self.assertRegex(value.where, "^(CoCoPeLia|thesis) ")
            self.assertLessEqual(value.low, value.high)
            low, high = value.band()
            self.assertGreater(high, low, value.name)
            if (nothing := harness.NO_EFFECT.get(value.unit)) is not None:
                self.assertEqual(low <= nothing <= high, value.low <= nothing <= value.high, value.name)

    def test_a_tile_that_is_given_takes_the_place_of_the_librarys_own(self):
        for library in harness.LIBRARIES:
            words = policy_of(library, 512)
            self.assertEqual([words[i + 1] for i, word in enumerate(words) if word == "--tile"], ["512"])


class Figures(ExperimentTest):
    """Tests that need matplotlib."""

    def setUp(self):
        super().setUp()
        if not harness.plotting():
            self.skipTest("matplotlib is missing")

    def test_numbers_in_texts_keep_their_digits(self):
        texts = ["9.41 GB/s for 9.59 GB/s", "f (0.123456, 2.718281) of 3.14159", "a, 12.3456 12.3456, \"1.999\"",
                 "M 10.125 L 20.375", "<path d=\"M 1.2345 5.4321\"/>", "x=\"1.2345\" y=\"0.9876\""]
        figure = harness.plotting()(figsize=(4, 3))
        axes = figure.subplots()
        axes.plot([0, 1, 2], [0.123456, 0.234567, 0.1])
        for line, text in enumerate(texts):
            axes.text(0.1, line / len(texts), text)
        harness.save_figure(figure, str(self.folder / "f.svg"))
        found = svg_texts(self.folder / "f.svg")
        for text in texts:
            self.assertIn(text, found)

    def test_coordinates_of_paths_are_rounded_and_not_cut(self):
        figure = harness.plotting()(figsize=(1, 1), dpi=72)  # 72 points
        axes = figure.add_axes([0, 0, 1, 1])
        axes.axis("off")
        axes.set(xlim=(0, 72), ylim=(0, 72))
        axes.plot([10.26, 20.04], [72 - 30.19, 72 - 40.11])
        harness.save_figure(figure, str(self.folder / "f.svg"))
        self.assertIn("M 10.3 30.2 \nL 20.0 40.1 ", (self.folder / "f.svg").read_text())


class Journals(ExperimentTest):
    """The same program does not repeat completed runs."""

    def fake(self):
        """A program whose makespan grows with each call."""
        program = self.folder / "fake"
        program.write_text(f'#!/bin/sh\necho x >> "{self.folder}/log"\n'
                           f'echo "{{\\"makespan_s\\": $(wc -l < "{self.folder}/log"), \\"links\\": [1]}}"\n')
        program.chmod(0o755)
        return program

    def simulate(self, program, *sizes):
        tilerail = Tilerail(str(program), 1, Journal(self.folder / "j/journal", str(program)))
        found = tilerail.simulate(Simulation(size, "two-gpu", "h:h:h", ()) for size in sizes)
        return [each["makespan_s"] for each in found.values()]

    def calls(self):
        return len((self.folder / "log").read_text().split())

    def test_a_second_run_takes_up_what_the_first_one_left(self):
        program = self.fake()
        first = self.simulate(program, "512", "1024")
        self.assertEqual(sorted(first), [1, 2])
        self.assertEqual(self.simulate(program, "512", "1024", "2048"), [*first, 3])
        self.assertEqual(self.calls(), 3)
        entry = json.loads((self.folder / "j/journal").read_text().splitlines()[0].partition(" ")[2])
        self.assertEqual(entry["result"], {"makespan_s": first[0]}, "only what experiments ask for is kept")

    def test_what_a_run_did_not_ask_for_stays(self):
        program, path = self.fake(), self.folder / "j/journal"
        self.simulate(program, "512", "1024")
        for size, stays in (("512", True), ("1024", False)):
            journal = Journal(path, str(program))
            Tilerail(str(program), 1, journal).simulate([Simulation(size, "two-gpu", "h:h:h", ())])
            journal.remove()
            self.assertEqual(path.exists(), stays)
        self.assertEqual(self.calls(), 2)

    def test_what_another_run_adds_meanwhile_stays(self):
        program, path = self.fake(), self.folder / "j/journal"
        first = Journal(path, str(program))
        Tilerail(str(program), 1, first).simulate([Simulation("512", "two-gpu", "h:h:h", ())])
        other = Journal(path, str(program))
        Tilerail(str(program), 1, other).simulate([Simulation("1024", "two-gpu", "h:h:h", ())])
        self.assertEqual((first.count(), other.count()), (2, 2), "both are in the file")
        first.remove()
        self.assertEqual(other.count(), 1)
        self.simulate(program, "1024")
        self.assertEqual(self.calls(), 2, "it is still there")

    def test_lines_with_a_right_mark_that_are_no_results_count_for_nothing(self):
        program, path = self.fake(), self.folder / "j/journal"
        path.parent.mkdir()
        path.write_text("".join(f"{hashlib.sha256(text.encode()).hexdigest()[:8]} {text}\n"
                                for text in ("[1, 2]", "no JSON", "{}")))
        self.assertEqual(Journal(path, str(program)).count(), 0)

    def test_lines_that_were_cut_off_and_other_programs_count_for_nothing(self):
        program = self.fake()
        self.simulate(program, "512", "1024")
        journal = self.folder / "j/journal"
        lines = journal.read_text().splitlines()
        journal.write_text(lines[0] + "\n" + lines[1][:40])
        self.simulate(program, "512", "1024")
        self.assertEqual(self.calls(), 3)
        self.simulate(program, "512", "1024")
        self.assertEqual(self.calls(), 3, "the line after the torn one is whole")
        first, *others = journal.read_bytes().splitlines(True)
        journal.write_bytes(first.replace(b'"result"', b'"rexult"') + b"".join(others) + b"\xff\xfe\n")
        self.simulate(program, "512", "1024")
        self.assertEqual(self.calls(), 4, "a line that was changed is no result")
        os.utime(program, ns=(1, 1))
        self.simulate(program, "512", "1024")
        self.assertEqual(self.calls(), 6)


class All(ExperimentTest):
    def test_some_experiments_leave_tables_figures_verdicts_and_a_page(self):
        text = self.succeed("run", "all", "--quick", "-o", "o", "--", "--only", CHEAP, "--page", "docs/page.md")
        page = (self.folder / "docs/page.md").read_text()
        self.assertIn("Some experiments of the papers: ", page)
        remarks, rows = csv_rows(self.folder / "o/some.csv")
        self.assertEqual(remarks["command"], f"tilerail experiment run all --quick -- --only {CHEAP}")
        self.assertFalse((self.folder / "o/all.journal").exists())
        for name in CHEAP.split(","):
            remarks, _ = csv_rows(self.folder / f"o/{name}/{name}.csv")
            self.assertEqual(remarks["command"], f"tilerail experiment run {name} --quick")
            self.assertIn(f": {remarks['verdict'].split(' Of a part')[0]}\n", text)
            self.assertIn(remarks["verdict"].split(";")[0].split(" Of a part")[0], page)
            mine = [row for row in rows if row["experiment"] == name]
            within = [row for row in mine if row["verdict"] == "within"]
            fitted = sum(row["fitted"] == "fitted" for row in within)
            self.assertIn(f"| {name} | {len(within)} | {len(mine)} | {fitted} |\n", page)
            figure = self.folder / f"docs/figures/gallery/{name}.svg"
            if figure.exists():  # with matplotlib
                texts = svg_texts(figure)
                for row in mine:
                    self.assertIn(row["value"], texts)
                    self.assertIn(f"{row['ours']} for {row['published']}", texts)
                self.assertIn(f"(figures/gallery/{name}.svg)", page)

    def test_a_missing_experiment_is_refused(self):
        self.assert_refused(["run", "all", "--", "--only", "fig_99"], "'fig_99' is not one of cocopelia_fig_1, ")
        self.assert_refused(["run", "all", "--", "--only", ""], "'' has an empty name")

    def test_a_folder_in_place_of_the_page_is_refused_at_once(self):
        self.assert_refused(["run", "all", "--", "--page", "."], "--page: '.' is a folder; expected a file")
        self.assertEqual(list(self.folder.iterdir()), [])


class Gallery(ExperimentTest):
    page = (SOURCE / "docs/gallery.md").read_text()

    def test_it_has_what_the_program_finds_now(self):
        self.succeed("run", "all", "-o", "o", "--", "--only", CHEAP, "--page", "p/page.md")
        for part in re.split(r"\n##+ ", (self.folder / "p/page.md").read_text())[1:]:
            self.assertIn(part.strip(), self.page)

    def test_every_experiment_of_a_paper_is_shown_by_a_small_figure(self):
        names = set(re.findall(r"!\[(\w+)\]\(figures/gallery/\1\.svg\)", self.page))
        papers = {path.stem for path in (SOURCE / "experiments").glob("*.py") if "PAPER = Paper(" in path.read_text()}
        self.assertEqual(names, papers)
        for name in names:
            self.assertLess((SOURCE / f"docs/figures/gallery/{name}.svg").stat().st_size, LARGEST_FIGURE, name)

    def test_every_command_of_the_pages_names_an_experiment(self):
        there = {path.stem for path in (SOURCE / "experiments").glob("*.py")}
        for page in ("docs/gallery.md", "docs/experiments.md", "docs/over_bound.md", "README.md"):
            named = re.findall(r"tilerail experiment run (\w+)", (SOURCE / page).read_text())
            self.assertLessEqual(set(named) - {"NAME"}, there, page)
        listed = re.findall(r"^(\w+) ", self.succeed("list"), re.MULTILINE)
        self.assertEqual(set(listed), there)

    def test_its_figures_show_what_was_published_with_all_digits(self):
        shown = 0
        for path in (SOURCE / "docs/figures/gallery").glob("*.svg"):
            texts = svg_texts(path)
            comparisons = [text.partition(" for ")[2] for text in texts if re.match("-?[0-9.]+.* for ", text)]
            values = published_values().get(path.stem, {})
            for name in values.keys() & set(texts):
                self.assertIn(values[name].published(), comparisons, f"{path.stem}: {name}")
                shown += 1
        self.assertGreater(shown, 60)


class TestbedLinks(ExperimentTest):
    def test_links_of_the_machine_files_stand_next_to_table_2(self):
        text = self.succeed("run", "cocopelia_table_2", "-o", ".")
        rows = {row["value"]: row for row in csv_rows(self.folder / "cocopelia_table_2.csv")[1]}
        self.assertEqual(len(rows), 16)
        for way in ("h2d", "d2h"):
            alone, both = (float(rows[f"testbed 2, {way}{kind}"]["ours"]) for kind in ("", " both ways"))
            self.assertAlmostEqual(alone / both, float(rows[f"testbed 2, {way} slowdown"]["ours"]))
        verdicts = {" ".join(line[:-6]): line[-1] for line in table_after(text, "value ")}
        self.assertEqual(len(verdicts), 16)


class FirstKernels(ExperimentTest):
    def test_idle_time_precedes_the_first_kernel_of_each_gpu(self):
        text = self.succeed("run", "thesis_fig_4_6", "-o", ".")
        rows = csv_rows(self.folder / "thesis_fig_4_6.csv")[1]
        self.assertEqual(len(rows), 3 * 2 * 4)  # tiles, routes, GPUs
        seconds = {(row["tile"], row["route"], row["gpu"]): float(row["first_kernel_s"]) for row in rows}
        saved = {}
        for (tile, route, gpu), each in seconds.items():
            if route == "reactive":
                saved.setdefault(tile, []).append(1 - seconds[tile, "batched", gpu] / each)
        for name, found in (("best GPU", map(max, saved.values())), ("mean of the GPUs", map(fmean, saved.values()))):
            line = next(line for line in text.splitlines() if line.startswith(f"less idle time, {name}"))
            self.assertIn(f" {fmean(found):.1%} ", line)
        waits = table_after(text, "wait for the first kernel")
        self.assertEqual(len(waits), 3 * 2)


class Hops(ExperimentTest):
    def test_every_tile_of_the_example_is_counted(self):
        self.succeed("run", "thesis_table_3_1", "-o", ".")
        rows = csv_rows(self.folder / "thesis_table_3_1.csv")[1]
        cases = {(row["gb_per_s"], row["max_hops"], row["hop_rule"]) for row in rows}
        self.assertEqual(len(cases), 6)
        direct = {}
        for case in cases:
            of = [row for row in rows if (row["gb_per_s"], row["max_hops"], row["hop_rule"]) == case]
            self.assertGreaterEqual(sum(float(row["tiles"]) for row in of if row["dst"] == "gpu1"), 8)  # half of A
            direct[case] = next(float(row["tiles"]) for row in of if (row["src"], row["dst"]) == ("gpu0", "gpu1"))
        self.assertEqual({case for case in cases if direct[case] == 0},
                         {("1", "1", "bottleneck"), ("2", "1", "bottleneck")})
        self.assertFalse([row for row in rows if "host" in (row["src"], row["dst"])])


if __name__ == "__main__":
    unittest.main()
