"""Gantt figures; skipped without matplotlib."""

import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import sample
from sample import shown
from test_timeline import Folder

from tilerail import TimelineError, compare_gantt, gantt, read_timeline

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
except ImportError:
    matplotlib = None


@unittest.skipIf(matplotlib is None, "matplotlib is missing")
class Figures(Folder):
    def axes(self):
        return Figure().add_subplot()

    def bars(self, ax):
        return sum(len(c.get_paths()) for c in ax.collections if isinstance(c, PolyCollection))

    def test_gantt_draws_every_bar_on_the_given_axes(self):
        ax = self.axes()
        self.assertIs(gantt(self.write(sample.csv_text()), ax), ax)
        self.assertEqual(self.bars(ax), 5)  # six operations, one of them a join
        self.assertEqual([t.get_text() for t in ax.get_yticklabels()],
                         ["compute 0", "from host", "compute 0", "from gpu0", "to host #2"])
        self.assertIn("5.5 ms", ax.get_title(loc="left"))
        self.assertEqual(ax.get_xlabel(), "time (ms)")
        self.assertGreaterEqual(ax.get_xlim()[1], 5.5)
        self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()],
                         ["GEMM", "AXPBY", "copy in (from a host)", "copy out (to a host)", "copy between GPUs"])
        self.assertEqual([t.get_text() for t in ax.texts], ["gpu0", "gpu1"])

    def test_a_bar_is_where_its_operation_was(self):
        ax = self.axes()
        gantt(self.write(sample.csv_text()), ax)
        product = next(c for c in ax.collections if isinstance(c, PolyCollection)).get_paths()[0].get_extents()
        self.assertAlmostEqual(product.x0, 1.0)  # ms
        self.assertAlmostEqual(product.x1, 3.0)
        self.assertAlmostEqual((product.y0 + product.y1) / 2, 0)  # the first row

    def test_names_are_no_mathematics(self):
        text = sample.csv_text().replace("gpu0", "g$p$u").replace("two-gpu", "t$w$o").replace("\"A[", "\"$A$[")
        figure = gantt(self.write(text), self.axes()).figure
        texts = " ".join(shown(figure))
        self.assertIn("g$p$u", texts)
        self.assertIn("t$w$o", texts)

    def test_gantt_makes_its_own_figure(self):
        from matplotlib import pyplot

        ax = gantt(read_timeline(self.write(sample.csv_text())))
        self.addCleanup(pyplot.close, ax.figure)
        self.assertEqual(self.bars(ax), 5)

    def test_an_empty_timeline_is_an_empty_figure(self):
        ax = gantt(self.write(sample.csv_text([])), self.axes())
        self.assertEqual(self.bars(ax), 0)

    def test_a_hundred_thousand_operations_are_a_few_thousand_bars(self):
        ax = gantt(self.write(sample.many(100_000, 1.0)), self.axes())
        self.assertGreater(self.bars(ax), 0)
        self.assertLess(self.bars(ax), 5000)

    def test_unknown_rows_are_refused(self):
        with self.assertRaises(ValueError):
            gantt(self.write(sample.csv_text()), self.axes(), rows="threads")

    def test_compare_puts_both_on_one_time_axis(self):
        text = sample.csv_text().replace("0.0055", "0.011")
        slow = self.write(text.replace("backend=sim", "backend=host"), "slow.csv")
        upper, lower = compare_gantt(self.write(sample.csv_text()), slow, Figure())
        self.assertEqual(upper.get_xlim(), lower.get_xlim())
        self.assertGreaterEqual(lower.get_xlim()[1], 11)
        self.assertIn("predicted: 5.5 ms, -50.0%", upper.get_title(loc="left"))
        self.assertIn("measured: 11 ms", lower.get_title(loc="left"))

    def test_two_simulations_are_no_prediction_and_measurement(self):
        timeline = self.write(sample.csv_text())
        for ax in compare_gantt(timeline, timeline, Figure()):
            self.assertNotRegex(ax.get_title(loc="left"), "predicted|measured")

    def test_two_runs_are_no_prediction_and_measurement(self):
        runs = [self.write(sample.csv_text().replace("backend=sim", f"backend={name}"), f"{name}.csv")
                for name in ("host", "cuda")]
        for ax in compare_gantt(*runs, Figure()):
            self.assertNotRegex(ax.get_title(loc="left"), "predicted|measured")

    def test_compare_refuses_other_plans(self):
        other = self.write(sample.csv_text().replace("0123456789abcdef", "f" * 16), "other.csv")
        with self.assertRaisesRegex(TimelineError, "plan_hash"):
            compare_gantt(self.write(sample.csv_text()), other, Figure())


@unittest.skipIf(matplotlib is None, "matplotlib is missing")
class GanttCommand(Folder):
    def draw(self, *arguments):
        return self.run_command("gantt", *arguments)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_png_and_svg(self):
        path = self.write(sample.csv_text())
        png, svg = os.path.join(self.folder, "f.png"), os.path.join(self.folder, "f.SVG")
        self.assertEqual(self.draw(path, "-o", png), (0, "", ""))
        self.assertEqual(self.draw(path, "-o", svg), (0, "", ""))
        self.assertTrue(self.read(png).startswith(b"\x89PNG"))
        self.assertTrue(xml.etree.ElementTree.fromstring(self.read(svg)).tag.endswith("svg"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["f.SVG", "f.png", "t.csv"])

    def test_a_dash_is_stdout(self):
        path, svg = self.write(sample.csv_text()), os.path.join(self.folder, "f.svg")
        self.draw(path, "-o", svg)
        drawn = subprocess.run([sys.executable, "-m", "tilerail", "gantt", path, "-o", "-", "--format", "svg"],
                               capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual((drawn.returncode, drawn.stdout, drawn.stderr), (0, self.read(svg), b""))
        self.assertIn("--format", self.draw(path, "-o", "-", "--format", "gif")[2])

    def test_the_same_input_gives_the_same_svg_without_a_date(self):
        path = self.write(sample.csv_text())
        a, b = os.path.join(self.folder, "a.svg"), os.path.join(self.folder, "b.svg")
        self.draw(path, "-o", a)
        self.draw(path, "-o", b)
        self.assertEqual(self.read(a), self.read(b))
        self.assertNotIn(b"<dc:date>", self.read(a))

    def test_two_timelines_make_a_comparison(self):
        path, svg = self.write(sample.csv_text()), os.path.join(self.folder, "f.svg")
        self.assertEqual(self.draw(path, path, "-o", svg), (0, "", ""))
        self.assertIn(b"<!-- 5.5 ms", self.read(svg))

    def test_a_failure_leaves_the_old_figure(self):
        figure = self.write("old", "f.svg")
        bad = self.write(sample.csv_text()[:-5])
        code, _, err = self.draw(bad, "-o", figure)
        self.assertEqual(code, 2)
        self.assertRegex(err, r"\Atilerail: .*t\.csv:18: the line is cut off[^\n]*\n\Z")
        self.assertEqual(self.read(figure), b"old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["f.svg", "t.csv"])

    def test_bad_outputs(self):
        path = self.write(sample.csv_text())
        for output, message in ((os.path.join(self.folder, "no", "f.png"), "No such file"),
                                ("f.gif", "expected a name that ends in .png or .svg"),
                                (self.folder + os.sep + ".svg.d", "ends in")):
            with self.subTest(output):
                code, out, err = self.draw(path, "-o", output)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(message, err)
                self.assertEqual(err.count("\n"), 1)
        os.mkdir(os.path.join(self.folder, "d.svg"))
        self.assertIn("Is a directory", self.draw(path, "-o", os.path.join(self.folder, "d.svg"))[2])

    def test_three_timelines_are_too_many(self):
        path = self.write(sample.csv_text())
        self.assertIn("3 timelines", self.draw(path, path, path, "-o", os.path.join(self.folder, "f.svg"))[2])


if __name__ == "__main__":
    unittest.main()
