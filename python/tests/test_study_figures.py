"""Figures of `tilerail whatif` and `tilerail sweep`; skipped without matplotlib."""

import itertools
import unittest

from sample import shown
from test_timeline import Folder

from tilerail.study_table import TableError
from tilerail.sweep_figure import axes_of, shape_of, sweep_figure
from tilerail.tornado import tornado

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure
except ImportError:
    matplotlib = None

HEADER = "point,{axes}machine,routine,m,n,k,dtype,place,makespan_s,tflops,bound_s,error"


def table(failed=(), **axes):
    """A sweep over these values: each point takes its number in ms, with half of it as bound."""
    lines = [HEADER.format(axes="".join(f"{name}," for name in axes))]
    points = list(itertools.product(*axes.values()))
    for number, values in enumerate(points):
        result = ",,," if number in failed else f"{(number + 1) / 1e3},{number + 1},{(number + 1) / 2e3},"
        given = "".join(f"{value}," for value in values)
        error = "error" if number in failed else ""
        lines.append(f"{number},{given}m,gemm,64,64,64,f64,h:h:h,{result}{error}")
    return "\n".join(lines) + "\n"


def rows(**axes):
    lines = table(**axes).splitlines()
    return [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]


NUMBERS, FEW, NAMES = range(1, 7), (32, 64), ("gemmex", "baseline")


class Shapes(unittest.TestCase):
    def kind(self, **axes):
        return shape_of(axes_of(rows(**axes)))[0]

    def test_the_kind_follows_from_what_was_varied(self):
        self.assertEqual(self.kind(tile=NUMBERS), "lines")
        self.assertEqual(self.kind(tile=NUMBERS, policy=NAMES), "lines")
        self.assertEqual(self.kind(rate=NUMBERS, tile=FEW), "lines")
        self.assertEqual(self.kind(rate=NUMBERS, tile=NUMBERS), "heat")
        self.assertEqual(self.kind(rate=NUMBERS, tile=NUMBERS, policy=NAMES), "heat")
        self.assertEqual(self.kind(policy=NAMES), "bars")
        self.assertEqual(self.kind(policy=NAMES, where=("h", "0")), "bars")

    def test_a_key_of_one_value_is_no_axis(self):
        self.assertEqual([axis.name for axis in axes_of(rows(tile=[64], rate=NUMBERS))], ["rate"])

    def test_numbers_are_in_order_and_names_as_they_come(self):
        tile, policy = axes_of(rows(tile=[64, 8, 512], policy=["z", "a"]))
        self.assertEqual((tile.values, policy.values), ([8, 64, 512], ["z", "a"]))
        self.assertTrue(tile.logarithmic)

    def test_units_leave_the_name(self):
        self.assertEqual(axes_of(rows(**{"capacity_GB/s": NUMBERS}))[0].label, "capacity (GB/s)")
        self.assertEqual(axes_of(rows(memory_fraction=NUMBERS))[0].label, "memory_fraction")


@unittest.skipIf(matplotlib is None, "matplotlib is missing")
class SweepFigures(Folder):
    def drawn(self, **arguments):
        figure = Figure(layout="constrained")
        sweep_figure(self.write(table(**arguments)), figure)
        return figure

    def test_lines_go_through_the_points_and_have_a_bound(self):
        lines = self.drawn(tile=NUMBERS, policy=NAMES).axes[0].get_lines()
        self.assertEqual([list(line.get_xdata()) for line in lines[:4]], [list(NUMBERS)] * 4)
        self.assertEqual(list(lines[0].get_ydata()), [1, 3, 5, 7, 9, 11])  # ms
        self.assertEqual(list(lines[1].get_ydata()), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])

    def test_whole_numbers_have_no_ticks_between_them(self):
        for values in ((1, 2, 3), (64, 65, 66), NUMBERS):
            ticks = self.drawn(gpus=values).axes[0].get_xticks()
            self.assertTrue(all(tick == int(tick) for tick in ticks), ticks)
        self.assertFalse(all(tick == int(tick) for tick in self.drawn(share=(0.5, 1.0, 1.5)).axes[0].get_xticks()))

    def test_a_heat_map_has_a_cell_a_point_and_says_what_failed(self):
        figure = self.drawn(rate=(1, 2, 3), tile=(1, 2, 3, 4), failed=(5,))
        ax = figure.axes[0]
        self.assertEqual(len(ax.texts), 12)
        self.assertIn("failed", [text.get_text() for text in ax.texts])

    def test_a_panel_for_each_name_beside_two_numbers(self):
        figure = self.drawn(rate=(1, 2, 3), tile=(1, 2, 3), policy=NAMES)
        self.assertEqual([ax.get_title() for ax in figure.axes][:2], list(NAMES))

    def test_bars_stand_for_the_points(self):
        ax = self.drawn(policy=NAMES, where=("h", "0")).axes[0]
        self.assertEqual(sorted(patch.get_height() for patch in ax.patches), [1, 2, 3, 4])

    def test_problems_of_several_sizes_are_compared_by_rate(self):
        self.assertEqual(self.drawn(gemm=NUMBERS).axes[0].get_ylabel(), "TFLOP/s")

    def test_names_are_no_mathematics(self):
        figure = self.drawn(**{"link:a$b$c.rate": NUMBERS, "policy": ("x$y$z", "w")})
        texts = shown(figure)
        self.assertIn("link:a$b$c.rate", texts)
        self.assertIn("x$y$z", texts)
        for axes in ({"policy": ("x$y$z", "w")}, {"a": (1, 2, 3), "b": (1, 2, 3), "policy": ("x$y$z", "w")}):
            self.assertIn("x$y$z", shown(self.drawn(**axes)))

    def test_what_cannot_be_drawn_is_refused(self):
        for text, quoted in [("", "no column 'point'"), ("m,n\n1,2\n", "no column 'point'"),
                             (HEADER.format(axes="") + "\n", "no rows"),
                             (table(tile=(1, 2), failed=(0, 1)), "every point failed"),
                             (table(policy=[f"p{i}" for i in range(9)], where=[f"q{i}" for i in range(9)]), "panels")]:
            with self.subTest(quoted), self.assertRaisesRegex(TableError, quoted):
                sweep_figure(self.write(text), Figure())


@unittest.skipIf(matplotlib is None, "matplotlib is missing")
class Tornado(Folder):
    HEADER = "part,now,factor,best_s,bound_s,base_s,base_bound_s,machine,problem,policy\n"

    def test_bars_go_from_the_machine_as_it_is_and_the_longest_is_on_top(self):
        lines = "".join(f"{part},24 GB/s,{factor},{best},0,0.1,0.05,m,p,q\n" for part, factor, best in [
            ("small", 2, 0.09), ("small", 0.5, 0.11), ("large", 2, 0.05), ("large", "inf", 0.04), ("failed", 2, "")])
        ax = tornado(self.write(self.HEADER + lines), Figure())
        self.assertEqual([label.get_text().splitlines()[0] for label in ax.get_yticklabels()], ["large", "small"])
        self.assertEqual({round(bar.get_x() + min(0, bar.get_width()), 6) for bar in ax.patches}, {40, 50, 90, 100})

    def test_the_legend_names_all_that_is_drawn(self):
        ax = tornado(self.write(self.HEADER + "a,1 GB/s,2,0.05,0,0.1,0.05,m,p,q\n"), Figure())
        self.assertEqual([text.get_text() for text in ax.get_legend().get_texts()],
                         ["without limit", "doubled", "halved", "bound"])
        self.assertIn(50, [line.get_xdata()[0] for line in ax.get_lines()])  # ms

    def test_names_are_no_mathematics(self):
        figure = Figure()
        tornado(self.write(self.HEADER + "link:a$b$c,1 GB/s,2,0.05,0,0.1,0.05,m$n$o,p,q\n"), figure)
        texts = " ".join(shown(figure))
        self.assertIn("link:a$b$c", texts)
        self.assertIn("m$n$o", texts)

    def test_another_table_is_refused(self):
        with self.assertRaisesRegex(TableError, "no column 'part'"):
            tornado(self.write(table(tile=NUMBERS)), Figure())


if __name__ == "__main__":
    unittest.main()
