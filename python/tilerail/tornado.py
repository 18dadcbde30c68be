"""The tornado figure of `tilerail whatif`: savings and costs of each part of a machine."""

import math
import os

from .study_table import number, read_table
from .units import plain, seconds_text, time_unit

COLUMNS = ("part", "now", "factor", "best_s", "bound_s", "base_s", "base_bound_s", "machine", "problem", "policy")
MOST_PARTS = 25
WIDTH, BAR_HEIGHT, MARGINS = 10.0, 0.34, 1.9  # inches
CHANGES = {  # factor: name, colour, height of the bar
    math.inf: ("without limit", "#9ecae1", 0.74),
    2.0: ("doubled", "#2171b5", 0.5),
    0.5: ("halved", "#e6550d", 0.5),
}
BOUND_DASHES = (0, (4, 3))
_TEXT = "#30363d"
_GRID = "#d5d8dc"


def _bars(rows, path):
    """By part: its current figure, and seconds by factor."""
    parts = {}
    for row in rows:
        if row["best_s"] == "":
            continue
        part = parts.setdefault(row["part"], (row["now"], {}))
        part[1][number(row, "factor", path)] = number(row, "best_s", path)
    return parts


def _widest(parts, base):
    """The parts with the largest effect, largest at the top."""
    order = sorted(parts, key=lambda name: -max(abs(seconds - base) for seconds in parts[name][1].values()))
    return order[:MOST_PARTS]


def tornado(path: str | os.PathLike, figure=None):
    """Draws the CSV of `tilerail whatif` and returns the matplotlib Axes. Bars to the left save time, bars to the right
    cost time; the dashed line is the bound of the unchanged machine. Raises TableError."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    rows = read_table(path, COLUMNS)
    base, bound = number(rows[0], "base_s", path), number(rows[0], "base_bound_s", path)
    parts = _bars(rows, path)
    names = _widest(parts, base)
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure()
    figure.set_size_inches(WIDTH, MARGINS + BAR_HEIGHT * max(3, len(names)))
    ax = figure.add_subplot()
    scale, unit = time_unit(base)
    for y, name in enumerate(names):
        for factor, (_, colour, height) in CHANGES.items():
            if factor in parts[name][1]:
                ax.barh(y, (parts[name][1][factor] - base) * scale, height, left=base * scale, color=colour)
    ax.axvline(base * scale, color=_TEXT, linewidth=1)
    ax.axvline(bound * scale, color=_TEXT, linewidth=0.9, linestyle=BOUND_DASHES)
    ax.set_yticks(range(len(names)), [plain(f"{name}\n{_short(parts[name][0])}") for name in names], fontsize=7.5, color=_TEXT)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.9)
    ax.set_xlabel(f"makespan ({unit}), the better of the plan kept and a new one", fontsize=9, color=_TEXT)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8, colors=_TEXT)
    ax.grid(axis="x", color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    first = rows[0]
    ax.set_title(plain(f"{first['problem']}\n{first['policy']} on {first['machine']}: {seconds_text(base)}, bound "
                       f"{seconds_text(bound)}"), loc="left", fontsize=9.5, color=_TEXT, pad=22)
    handles = [Patch(facecolor=colour, label=name) for name, colour, _ in CHANGES.values()]
    handles.append(Line2D([], [], color=_TEXT, linewidth=0.9, linestyle=BOUND_DASHES, label="bound"))
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncol=4, frameon=False, fontsize=8,
              borderaxespad=0.2, labelcolor=_TEXT)
    return ax


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
