"""The figure of `tilerail sweep`, by the varied keys: lines over one number, a heat map over two, bars over names. A
second number with two values gives two lines."""

import math
import os

from .study_table import TableError, number, read_table
from .units import plain, time_unit

COLUMNS = ("point", "machine", "makespan_s", "tflops", "bound_s", "error")
UNITS = {"x", "s", "ms", "us", "ns", "W", "kW", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "B/s", "kB/s",
         "MB/s", "GB/s", "TB/s", "GiB/s", "MiB/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"}
PROBLEM_KEYS = {"gemm", "gemv", "dot", "axpy", "m", "n", "k", "dtype"}
MOST_LINES, MOST_PANELS, MOST_BARS = 12, 12, 60
PANEL = (5.2, 3.9)  # inches
_TEXT = "#30363d"
_GRID = "#d5d8dc"


class Axis:
    """A varied column: its values in the order of the points, as numbers if all are numeric."""

    def __init__(self, name: str, rows: list[dict[str, str]]):
        self.name = name
        texts = list(dict.fromkeys(row[name] for row in rows))
        try:
            self.values = sorted(float(text) for text in texts)
            self.numeric = True
        except ValueError:
            self.values, self.numeric = texts, False

    def of(self, row):
        return float(row[self.name]) if self.numeric else row[self.name]

    def text(self, value) -> str:
        return f"{value:g}" if self.numeric else plain(str(value))

    @property
    def label(self) -> str:
        """ "capacity_GB/s" as "capacity (GB/s)" """
        name, _, unit = self.name.rpartition("_")
        return plain(f"{name} ({unit})" if name and unit in UNITS else self.name)

    @property
    def whole(self) -> bool:
        return self.numeric and all(value == int(value) for value in self.values)

    @property
    def logarithmic(self) -> bool:
        return self.numeric and self.values[0] > 0 and self.values[-1] >= 8 * self.values[0]


def axes_of(rows: list[dict[str, str]]) -> list[Axis]:
    """Columns between `point` and `machine` with several values."""
    names = list(rows[0])
    found = [Axis(name, rows) for name in names[names.index("point") + 1:names.index("machine")]]
    return [axis for axis in found if len(axis.values) > 1]


class Quantity:
    """The quantity on the vertical axis: a rate if problems differ, else a time."""

    def __init__(self, rows, axes, path):
        self.rate = any(key.strip() in PROBLEM_KEYS for axis in axes for key in axis.name.split("&"))
        self.column = "tflops" if self.rate else "makespan_s"
        self.path = path
        longest = max(number(row, self.column, path) for row in rows)
        self.scale, unit = (1.0, "TFLOP/s") if self.rate else time_unit(longest)
        self.label = unit if self.rate else f"makespan ({unit})"

    def of(self, row) -> float:
        return number(row, self.column, self.path) * self.scale

    def bound_of(self, row) -> float:
        """The least time, or its rate; NaN without a bound."""
        bound, makespan = (number(row, column, self.path) for column in ("bound_s", "makespan_s"))
        if bound <= 0:
            return math.nan
        return number(row, "tflops", self.path) * makespan / bound if self.rate else bound * self.scale


def _style(ax, grid="both") -> None:
    ax.grid(axis=grid, color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8, colors=_TEXT)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _name_of(row, axes) -> str:
    return ", ".join(f"{axis.label}={axis.text(axis.of(row))}" if axis.numeric else axis.text(axis.of(row)) for axis in axes)


def _by(rows, axes):
    """The rows by the values of these axes, in their order."""
    found = {}
    for row in sorted(rows, key=lambda row: [axis.values.index(axis.of(row)) for axis in axes]):
        found.setdefault(_name_of(row, axes), []).append(row)
    return found


def _lines(ax, rows, axis, others, quantity) -> None:
    from matplotlib import colormaps

    series = _by(rows, others)
    colours = colormaps["tab10" if len(series) <= 10 else "tab20"].colors
    for (name, members), colour in zip(series.items(), colours):
        members.sort(key=axis.of)
        x = [axis.of(row) for row in members]
        ax.plot(x, [quantity.of(row) for row in members], "o-", color=colour, markersize=4, linewidth=1.4,
                label=name or None)
        ax.plot(x, [quantity.bound_of(row) for row in members], "--", color=colour, linewidth=0.9, alpha=0.7)
    ax.plot([], [], "--", color=_TEXT, linewidth=0.9, label="bound")
    if axis.logarithmic:
        ax.set_xscale("log", base=2)
        if len(axis.values) <= MOST_LINES:
            ax.set_xticks(axis.values, [axis.text(value) for value in axis.values])
            ax.minorticks_off()
    elif axis.whole:
        ax.xaxis.get_major_locator().set_params(integer=True)
    values = [quantity.of(row) for row in rows]
    if min(values) > 0 and max(values) >= 20 * min(values):
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel(axis.label, fontsize=9, color=_TEXT)
    ax.set_ylabel(quantity.label, fontsize=9, color=_TEXT)
    ax.legend(fontsize=7, frameon=False)
    _style(ax)


def _heat(ax, rows, across, up, quantity, limits):
    grid = [[math.nan] * len(across.values) for _ in up.values]
    for row in rows:
        grid[up.values.index(up.of(row))][across.values.index(across.of(row))] = quantity.of(row)
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis" if quantity.rate else "viridis_r",
                      vmin=limits[0], vmax=limits[1])
    if len(across.values) * len(up.values) <= 150:
        for y, line in enumerate(grid):
            for x, value in enumerate(line):
                ax.text(x, y, "failed" if math.isnan(value) else f"{value:.3g}", ha="center", va="center", fontsize=6.5,
                        color="white" if not math.isnan(value) else _TEXT)
    for axis, ticks, label in ((across, ax.set_xticks, ax.set_xlabel), (up, ax.set_yticks, ax.set_ylabel)):
        step = max(1, len(axis.values) // 12)
        ticks(range(0, len(axis.values), step), [axis.text(value) for value in axis.values[::step]])
        label(axis.label, fontsize=9, color=_TEXT)
    ax.tick_params(labelsize=7.5, colors=_TEXT)
    return image


def _bars(ax, rows, axes, quantity) -> None:
    """Groups by all axes but the last, which determines the colour of a bar."""
    from matplotlib import colormaps

    *groups, inner = axes if axes else [None]
    names = list(_by(rows, groups)) if groups else [""]
    values = inner.values if inner else [""]
    width = 0.8 / len(values)
    for i, value in enumerate(values):
        chosen = [row for row in rows if not inner or inner.of(row) == value]
        members = {(_name_of(row, groups) if groups else ""): row for row in chosen}
        x = [names.index(name) + (i - (len(values) - 1) / 2) * width for name in members]
        ax.bar(x, [quantity.of(row) for row in members.values()], width * 0.94, color=colormaps["tab10"].colors[i % 10],
               label=inner.text(value) if inner else None)
        for at, row in zip(x, members.values()):
            ax.hlines(quantity.bound_of(row), at - width / 2, at + width / 2, color=_TEXT, linewidth=1.1)
    ax.hlines([], 0, 0, color=_TEXT, linewidth=1.1, label="bound")
    ax.set_xticks(range(len(names)), names, rotation=30 if max(map(len, names)) > 12 else 0, ha="right" if
                  max(map(len, names)) > 12 else "center")
    ax.set_ylabel(quantity.label, fontsize=9, color=_TEXT)
    ax.legend(fontsize=7, frameon=False, title=plain(inner.name) if inner else None, title_fontsize=7)
    _style(ax, "y")


def shape_of(axes: list[Axis]) -> tuple[str, list[Axis], list[Axis]]:
    """The kind of figure, "lines", "heat" or "bars"; the axes within a panel; the axes that differ between panels."""
    numbers = [axis for axis in axes if axis.numeric]
    names = [axis for axis in axes if not axis.numeric]
    count = math.prod(len(axis.values) for axis in names)
    if len(numbers) == 1 and count <= MOST_LINES:
        return "lines", numbers + names, []
    if len(numbers) >= 2:
        few = min(numbers, key=lambda axis: len(axis.values))
        if len(numbers) == 2 and len(few.values) == 2 and count * len(few.values) <= MOST_LINES:
            return "lines", [axis for axis in numbers if axis is not few] + [few] + names, []
        across = sorted(numbers, key=lambda axis: -len(axis.values))[:2]
        return "heat", across, [axis for axis in axes if axis not in across]
    if len(numbers) == 1:
        return "lines", numbers, names
    return "bars", names, []


def _check_size(path, axes, kind, panels: int, points: int) -> None:
    if panels > MOST_PANELS or (kind == "bars" and points > MOST_BARS):
        raise TableError(f"{path}: {len(axes)} axes give {panels} panels of {points} points; expected at most "
                         f"{MOST_PANELS}, and {MOST_BARS} bars: vary fewer keys, or draw the table by yourself")


def sweep_figure(path: str | os.PathLike, figure=None) -> None:
    """Draws the CSV of `tilerail sweep` into a matplotlib Figure, without failed points. Raises TableError."""
    rows = read_table(path, COLUMNS)
    axes = axes_of(rows)
    done = [row for row in rows if not row["error"]]
    if not done:
        raise TableError(f"{path}: every point failed; there is nothing to draw")
    kind, inside, between = shape_of(axes)
    panels = _by(done, between)
    _check_size(path, axes, kind, len(panels), len(done))
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(layout="constrained")
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure.set_size_inches(max(7.0, PANEL[0] * columns), PANEL[1] * lines + 0.6)
    quantity = Quantity(done, axes, path)
    values = [quantity.of(row) for row in done]
    image = None
    grid = figure.subplots(lines, columns, squeeze=False)
    for number_, (name, members) in enumerate(panels.items()):
        ax = grid[number_ // columns][number_ % columns]
        if kind == "lines":
            _lines(ax, members, inside[0], inside[1:], quantity)
        elif kind == "heat":
            image = _heat(ax, members, inside[0], inside[1], quantity, (min(values), max(values)))
        else:
            _bars(ax, members, inside, quantity)
        ax.set_title(name, fontsize=8.5, color=_TEXT)
    for empty in range(len(panels), lines * columns):
        grid[empty // columns][empty % columns].set_axis_off()
    if image is not None:
        figure.colorbar(image, ax=grid.ravel().tolist(), label=quantity.label)
    figure.suptitle(plain(_title(rows[0], axes)), fontsize=10, color=_TEXT, x=0.01, ha="left")


def _title(first, axes) -> str:
    """The common properties of all points."""
    varied = {key.strip() for axis in axes for key in axis.name.split("&")}
    parts = []
    if not varied & {"gemm", "m", "n", "k"}:
        parts.append(f"{first['routine']} {first['m']} x {first['n']} x {first['k']}")
    parts += [first[key] for key in ("dtype", "place") if key not in varied]
    parts.append(f"on {first['machine'].split('+')[0]}" if "topology" not in varied else "")
    return " ".join(part for part in parts if part)
