"""Figures of the package: drawn objects, saved files, and `python -m tilerail`."""

import contextlib
import io
import json
import pathlib
import re
import unittest
import xml.etree.ElementTree

import numpy
from matplotlib import pyplot
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

import tilerail as tr
from support import PackageTest
from tilerail.__main__ import main


def axes():
    return Figure().add_subplot()


def shown(ax) -> set[str]:
    """The drawn texts. Fails if one is parsed as mathematics."""
    texts = set()
    ax.figure.draw_without_rendering()
    for text in ax.figure.findobj(Text):
        words, is_math = text._preprocess_math(text.get_text())
        assert not is_math, text.get_text()
        texts.add(words)
    return texts


def bars(ax) -> numpy.ndarray:
    """Left ends, widths and rows of the bars of operations."""
    found = [each for each in ax.collections if isinstance(each, PolyCollection)]
    boxes = [path.get_extents() for each in found for path in each.get_paths()]
    return numpy.array([(box.x0, box.width, (box.y0 + box.y1) / 2) for box in boxes])


class PlotTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(pyplot.close, "all")
        self.timeline = self.folder / "timeline.csv"
        self.result.save(self.timeline)

    def swept(self, machine=None, **options):
        return tr.sweep(tr.gemm(64), machine or self.machine, "gemmex", effort="fast", **options)

    def parts(self, *names, machine=None):
        return tr.whatif(tr.gemm(64), machine or self.machine, "gemmex", effort="fast", only=names)


class Gantt(PlotTest):
    def test_each_kind_of_kernel_has_a_colour(self):
        kinds = (pathlib.Path(__file__).parents[2] / "plan/op_kinds.cpp").read_text()
        kernels = re.findall(r'\{"(\w+)", .*\w+_flops\}', kinds)
        self.assertGreater(len(kernels), 2)
        self.assertLessEqual(set(kernels), tr.plot.COLOURS.keys())

    def test_each_operation_has_a_bar_where_it_was(self):
        ax = axes()
        self.assertIs(tr.plot.gantt(self.result, ax), ax)
        table = self.result.timeline
        work = table[(table.kind != "join") & (table.end_s > table.start_s)]
        scale = 1e6  # the axis is in us
        numpy.testing.assert_allclose(numpy.sort(bars(ax)[:, 0]), numpy.sort(work.start_s * scale))
        numpy.testing.assert_allclose(bars(ax)[:, 1].sum(), (work.end_s - work.start_s).sum() * scale)
        labels = [label.get_text() for label in ax.get_yticklabels()]
        self.assertEqual(len(labels), work.queue.nunique())
        self.assertEqual(labels[0], "compute 0")
        self.assertLessEqual({"gemm", "copy from a host", "gpu0", "gpu1", "time (us)"}, shown(ax))
        self.assertIn(f"{self.result.tflops:.4g} TFLOP/s", ax.get_title(loc="left"))

    def test_a_saved_timeline_gives_the_same_figure(self):
        saved = tr.plot.read_timeline(self.timeline)
        self.assertEqual(saved.attrs, self.result.timeline.attrs)
        expected = bars(tr.plot.gantt(self.result, axes()))
        for timeline in (saved, self.timeline):
            numpy.testing.assert_array_equal(bars(tr.plot.gantt(timeline, axes())), expected)

    def test_thin_bars_are_merged(self):
        table = self.result.timeline
        many = table.iloc[[0] * 100_000].reset_index(drop=True)
        many["start_s"] = numpy.arange(100_000) * 1e-6
        many["end_s"] = many.start_s + 1e-6
        self.assertEqual(len(bars(tr.plot.gantt(many, axes()))), 1)
        many.loc[50_000:, ["start_s", "end_s"]] += 1e-3
        self.assertEqual(len(bars(tr.plot.gantt(many, axes()))), 2)

    def test_an_empty_timeline_has_no_bars(self):
        empty = self.result.timeline.iloc[:0]
        for ax in (tr.plot.gantt(empty, axes()), *tr.plot.compare(empty, empty)):
            self.assertEqual(len(bars(ax)), 0)

    def test_timelines_without_columns_or_with_unknown_kinds_are_refused(self):
        table = self.result.timeline
        for other, quoted in ((table.drop(columns="queue"), "'queue' is missing"),
                              (table.assign(kind="fft"), "'fft' is not a kind"),
                              (table.assign(end_s="late"), "end_s: 'late' is not a number")):
            self.refused(lambda: tr.plot.gantt(other, axes()), quoted)

    def test_a_comparison_has_one_time_axis_and_one_plan(self):
        slow = self.result.timeline.assign(start_s=lambda table: table.start_s * 2, end_s=lambda table: table.end_s * 2)
        upper, lower = tr.plot.compare(self.result, slow)
        self.assertEqual(upper.get_xlim(), lower.get_xlim())
        self.assertIn("-50.0%", upper.get_title(loc="left"))
        other = tr.simulate(tr.gemm(64), self.machine, "gemmex", tile=16)
        self.refused(lambda: tr.plot.compare(self.result, other), "another plan")


class Tables(PlotTest):
    def test_lines_go_through_the_points_and_the_bounds(self):
        table = self.swept(vary={"link:host<->*.bandwidth": "3..24 x2 GB/s", "tile": [16, 32]})
        ax = tr.plot.sweep(table, axes())
        for number, tile in enumerate((16, 32)):
            part = table[table.tile == tile]
            result, bound = ax.get_lines()[2 * number:2 * number + 2]
            numpy.testing.assert_allclose(result.get_xdata(), [3, 6, 12, 24])
            numpy.testing.assert_allclose(result.get_ydata(), part.makespan_s * 1e6)
            numpy.testing.assert_allclose(bound.get_ydata(), part.bound_s * 1e6)
        self.assertLessEqual({"link:host<->*.bandwidth (GB/s)", "makespan (us)", "tile=16", "bound"}, shown(ax))
        self.assertEqual(ax.get_xscale(), "log")

    def test_problems_of_several_sizes_are_compared_by_rate(self):
        table = self.swept(vary={"gemm": [64, 128]})
        ax = tr.plot.sweep(table, axes())
        self.assertEqual(ax.get_ylabel(), "TFLOP/s")
        numpy.testing.assert_allclose(ax.get_lines()[0].get_ydata(), table.tflops)

    def test_names_stand_side_by_side(self):
        ax = tr.plot.sweep(self.swept(vary={"policy": ["gemmex", "tilerail"]}), axes())
        self.assertLessEqual({"gemmex", "tilerail"}, shown(ax))

    def test_tables_that_cannot_be_drawn_are_refused(self):
        table = self.swept(vary={"tile": [16, 32]})
        (self.folder / "other.csv").write_text("a,b\n1,2\n")
        table.to_csv(self.folder / "sweep.csv")
        url = (self.folder / "sweep.csv").as_uri()
        many = {"tile": range(4, 17), "transa": ["N", "T"], "transb": ["N", "T"], "dtype": ["f64", "f32"],
                "order": ["fifo", "eta"]}
        for other, quoted in [(table.assign(makespan_s=None), "every point failed"), (table[:0], "has no rows"),
                              (self.folder / "other.csv", "'point' is missing"),
                              (self.folder / "no.csv", "cannot be read"), (url, "No such file"),
                              (table.assign(tflops="fast"), "tflops: 'fast' is not a number"),
                              (self.swept(vary=many), "would have 16 lines")]:
            self.refused(lambda: tr.plot.sweep(other, axes()), quoted)

    def test_a_tornado_begins_at_the_makespan_with_the_largest_effect_on_top(self):
        table = self.parts("link:host*", "kernels:*")
        ax = tr.plot.tornado(table, axes())
        effect = (table.best_s - table.base_s).abs().groupby(table.part).max()
        self.assertEqual([label.get_text().split("\n")[0] for label in ax.get_yticklabels()],
                         list(effect.sort_values(ascending=False).index))
        ends = {round(bar.get_x() + bar.get_width(), 3) for bar in ax.patches}
        self.assertEqual(ends, {round(seconds * 1e6, 3) for seconds in table.best_s})
        self.assertLessEqual({"without limit", "doubled", "halved", "bound, unchanged"}, shown(ax))


class Machines(PlotTest):
    def test_hosts_are_above_switches_above_gpus_above_switches_of_gpus(self):
        where = tr.plot.layout(tr.machine("karolina-hgx-a100"))
        rows = [where[name][1] for name in ("host", "plx0", "gpu0", "nvswitch")]
        self.assertEqual(rows, sorted(set(rows), reverse=True))
        self.assertEqual(where["plx1"][0], (where["gpu2"][0] + where["gpu3"][0]) / 2)

    def test_each_link_has_its_rate_and_each_group_its_bound(self):
        ax = tr.plot.machine("karolina-hgx-a100", axes())
        texts = [text.get_text() for text in ax.texts]
        self.assertEqual(texts.count("260"), 8)
        self.assertEqual(texts.count("22 /\n24"), 8)  # down / up
        self.assertLessEqual({"host", "plx3", "gpu7", "nvswitch", "host to GPUs: 88 GB/s"}, shown(ax))

    def test_used_links_have_their_share(self):
        texts = shown(tr.plot.machine(self.machine, axes(), use={"host->pcie0": 0.5}))
        self.assertIn("12\n50%", texts)
        tr.plot.machine(self.machine, axes(), use=self.result)
        self.refused(lambda: tr.plot.machine(self.machine, use={"a->b": 0.5}), "'a->b' is not a link of two-gpu")

    def test_names_are_not_mathematics(self):
        text = tr.machine("pcie-tree-8").to_toml().replace('group]]\nname = "', 'group]]\nname = "$x$')
        machine = tr.machine.from_toml(text).set("name", "t$w$o")
        result = tr.simulate(tr.gemm(64), machine, "gemmex", tile=32)
        for ax in (tr.plot.machine(machine, axes()), tr.plot.gantt(result, axes())):
            self.assertIn("t$w$o", " ".join(shown(ax)))
        group = f"group:{machine.groups.name[0]}"
        parts = self.parts(group, machine=machine)
        swept = self.swept(machine, vary={f"{group}.both_busy": ["x1", "x2"]})
        for ax in (tr.plot.tornado(parts, axes()), tr.plot.sweep(swept, axes()), tr.plot.machine(machine, axes())):
            self.assertIn("$x$", " ".join(shown(ax)))

    def test_machines_without_links_are_drawn(self):
        host = self.machine.to_toml().split("[[link]]")[0]
        self.assertEqual(len(tr.plot.layout(tr.machine.from_toml(host[:host.index('[[memory]]\nname = "gpu0"')]))), 1)


class Command(PlotTest):
    def run_main(self, *arguments):
        """Exit code and stderr."""
        error = io.StringIO()
        with contextlib.redirect_stderr(error), contextlib.suppress(SystemExit):
            return main([str(argument) for argument in arguments]), error.getvalue()
        return 2, error.getvalue()

    def test_each_saved_file_is_drawn_the_same_every_time(self):
        sweep, whatif, machine, use = (self.folder / name for name in ("s.csv", "w.csv", "machine.toml", "use.json"))
        self.swept(vary={"tile": [16, 32]}).to_csv(sweep, index=False)
        self.parts("issue").to_csv(whatif, index=False)
        self.machine.save(machine)
        use.write_text(json.dumps(self.result.summary))
        for arguments in (["gantt", self.timeline], ["gantt", self.timeline, self.timeline], ["sweep", sweep],
                          ["whatif", whatif], ["machine", machine, "--use", use]):
            with self.subTest(arguments):
                drawn = []
                for name in ("a.svg", "b.SVG", "c.png", "d.pdf"):
                    self.assertEqual(self.run_main(*arguments, "-o", self.folder / name), (0, ""))
                    drawn.append((self.folder / name).read_bytes())
                self.assertEqual(drawn[0], drawn[1])
                self.assertTrue(xml.etree.ElementTree.fromstring(drawn[0]).tag.endswith("svg"))
                self.assertTrue(drawn[2].startswith(b"\x89PNG") and drawn[3].startswith(b"%PDF"))

    def test_bad_input_is_an_error_of_one_line_and_changes_no_file(self):
        old, use = self.folder / "old.svg", self.folder / "use.json"
        old.write_text("old")
        for text in ("[]", '{"links": [3]}', '{"links": [{"name": "host->pcie0", "utilisation": 1.5}]}'):
            use.write_text(text)
            error = self.run_main("machine", "two-gpu", "--use", use, "-o", old)[1]
            self.assertRegex(error, "is not a result|is out of range")
        for arguments, quoted in [(["gantt", "no.csv", "-o", old], "'no.csv' cannot be read"),
                                  (["gantt", use, "-o", old], "use.json"), (["machine", "nine", "-o", old], "'nine'"),
                                  (["gantt", self.timeline, "-o", "f.gif"], "expected .svg, .png or .pdf"),
                                  (["gantt", self.timeline, "-o", self.folder / "no/f.svg"], "cannot be written")]:
            with self.subTest(quoted):
                code, error = self.run_main(*arguments)
                self.assertEqual(code, 2)
                self.assertRegex(error, r"\Atilerail: error: [^\n]+\n\Z")
                self.assertIn(quoted, error)
        self.assertIn("required", self.run_main("gantt", self.timeline)[1])
        self.assertEqual(old.read_text(), "old")


if __name__ == "__main__":
    unittest.main()
