"""Figures with matplotlib: timelines, sweeps, what-ifs and machines.

Each function draws objects of the package or saved files on ``ax``, matplotlib's Axes (default: a new figure), and
returns the Axes. Raises InputError for other arguments and invalid files.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy
import pandas
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from . import _core
from .errors import InputError
from .frames import frame_of
from .machines import Machine, machine as machines
from .plans import Result
from .texts import instance_of, list_of, number_of, path_of, shown, text_of

if TYPE_CHECKING:
    Timeline = Result | pandas.DataFrame | str | os.PathLike
    Table = pandas.DataFrame | str | os.PathLike

# Kernels have warm colours, copies cold ones; the order of the legend.
COLOURS = {"gemm": "#e07b39", "syrk": "#c9563c", "trsm": "#d9a06b", "potrf": "#8c3b2a", "tsmqr": "#d98c3f",
           "ormqr": "#c26a5a", "tsqrt": "#a8452e", "geqrt": "#6e2b20", "axpby": "#f2c14e",
           "copy within a memory": "#8d99a6", "copy from a host": "#2f6db5", "copy between GPUs": "#8a63b0",
           "copy to a host": "#3a9d7c"}
MOST_ROWS = 56  # of a Gantt chart, with a row for each queue
MOST_LINES = 12
MOST_PARTS = 25
# Factor of speed: name, colour and height of its bar.
CHANGES = {math.inf: ("without limit", "#9ecae1", 0.74), 2.0: ("doubled", "#2171b5", 0.5),
           0.5: ("halved", "#e6550d", 0.5)}
_PROBLEM_KEYS = {"gemm", "gemv", "dot", "axpy", "m", "n", "k", "dtype"}
_HEAD = {"plan_hash", "problem", "hosts", "policy", "tile", "machine", "backend"}  # of timelines
_NUMBERS = re.compile("_s$|^(tflops|flops|factor)$")  # columns of numbers
_UNIT = re.compile(r"_((?:[kMGTP]i?)?B(?:/s)?|[mun]?s|k?W|x|[GTP]FLOP/s)$")
_GROUPS = ["#4e79a7", "#b07aa1", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#9c755f", "#ff9da7"]
_PIXELS = 1500  # across a Gantt chart; thinner bars are merged
_TEXT, _GRID = "#30363d", "#d5d8dc"
_DASHED = {"color": _TEXT, "linewidth": 0.9, "linestyle": "--"}


def read_timeline(path: str | os.PathLike) -> pandas.DataFrame:
    """A saved timeline (.csv) as ``Result.timeline`` has it."""
    return frame_of(*_core.read_timeline(path_of(path, "timeline")))


def _timeline_of(timeline: Timeline) -> pandas.DataFrame:
    if not isinstance(timeline, pandas.DataFrame):
        return timeline.timeline if isinstance(timeline, Result) else read_timeline(timeline)
    if lacking := _HEAD - timeline.attrs.keys():
        raise InputError("timeline", min(lacking), "is missing in attrs", "the timeline of a result, or its file")
    timeline = _checked(timeline, ("device", "queue", "kind", "src", "dst", "flops", "start_s", "end_s"), "timeline")
    for kind in set(timeline.kind.astype(str)) - {*COLOURS, "copy", "join"}:
        raise InputError("timeline", kind, "is not a kind of operation", "the timeline of a result, or its file")
    return timeline


def _table_of(table: Table, columns: tuple[str, ...]) -> pandas.DataFrame:
    """A table with at least these columns, and at least one row."""
    place = "table" if isinstance(table, pandas.DataFrame) else path_of(table, "table")
    if not isinstance(table, pandas.DataFrame):
        try:
            with open(place, encoding="utf-8", newline="") as file:  # pandas would fetch URLs
                table = pandas.read_csv(file)
        except (OSError, ValueError) as error:
            raise InputError("", None, f"cannot be read: {error}", place=place) from None
    if table.empty:
        raise InputError("", None, "has no rows", "at least one", place)
    return _checked(table, columns, place)


def _checked(table: pandas.DataFrame, columns: tuple[str, ...], place: str) -> pandas.DataFrame:
    """A table with at least these columns; columns of numbers contain only numbers."""
    for column in columns:
        if list(table.columns).count(column) != 1:
            raise InputError("", column, "is missing or repeated", "a table with this column", place)
    return table.assign(**{column: _numbers(table, column, place) for column in columns if _NUMBERS.search(column)})


def _numbers(table: pandas.DataFrame, column: str, place: str) -> pandas.Series:
    values = pandas.to_numeric(table[column], errors="coerce")
    for row, cell in table[column][values.isna() & table[column].notna()].items():
        raise InputError(f"row {row}: {column}", str(cell), "is not a number", place=place)
    return values


def _plain(text: str) -> str:
    """matplotlib draws text between two '$' as mathematics."""
    return text.replace("$", r"\$")


def _time_unit(seconds: float) -> tuple[float, str]:
    return (1, "s") if seconds >= 2 else (1e3, "ms") if seconds >= 2e-3 else (1e6, "us")


def _natural(name: str) -> tuple:
    """Sort key that compares numbers in names as numbers."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"([0-9]+)", name) if part)


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is None:
        return pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()
    return instance_of(ax, Axes, "ax", "Axes of matplotlib")


def _style(ax: Axes, grid: str, title: str = "", handles: list = ()) -> None:
    """With a legend of these handles between title and axes."""
    ax.grid(axis=grid, color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8, colors=_TEXT)
    if title:
        ax.set_title(_plain(title), loc="left", fontsize=10, pad=24)
    if handles:
        ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncol=len(handles), frameon=False,
                  fontsize=8, borderaxespad=0.2, handlelength=1.4)


def _directions(frame: pandas.DataFrame) -> pandas.Series:
    """The kind of each operation; copies by direction."""
    src, dst = frame.src.astype(str), frame.dst.astype(str)
    hosts = frame.attrs["hosts"]
    ways = numpy.select([src == dst, dst.isin(hosts), src.isin(hosts)],
                        ["copy within a memory", "copy to a host", "copy from a host"], "copy between GPUs")
    kinds = frame.kind.astype(str)
    return kinds.where(kinds != "copy", ways)


def _rows_of(frame: pandas.DataFrame) -> list[tuple[str, str, pandas.DataFrame]]:
    """Device, label and operations of each row, by device: kernels, copies in, copies out."""
    ops = frame[(frame.kind != "join") & (frame.end_s > frame.start_s)].copy()
    ops["category"] = _directions(ops)
    device, queue = ops.device.astype(str), ops.queue.astype(str)
    label = queue
    if queue.nunique() > MOST_ROWS:
        label = ops.category.where(ops.category.str.startswith("copy"), "kernels")
    rank = numpy.select([ops.src.astype(str) == ops.dst.astype(str), ops.dst.astype(str) == device], [0, 1], 2)
    groups = {(_natural(of), order, _natural(name)): (of, name.removeprefix(of + " "), group)
              for (of, order, name), group in ops.groupby([device, rank, label], observed=True)} if len(ops) else {}
    return [groups[key] for key in sorted(groups)]


def _merged(start: numpy.ndarray, end: numpy.ndarray, resolution: float) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Fewer bars that look the same: merges overlapping bars, and neighbours with a gap of less than half of
    ``resolution`` (seconds per pixel) if one of them is thin."""
    order = numpy.argsort(start, kind="stable")
    start, end = start[order], end[order]
    gap = start[1:] - numpy.maximum.accumulate(end)[:-1]
    thin = end - start < 2 * resolution
    joined = (gap < resolution / 2) & (thin[1:] | thin[:-1] | (gap < 0))
    first = numpy.flatnonzero(numpy.concatenate([[True], ~joined]))
    return start[first], numpy.maximum.reduceat(end, first)


def _makespan(frame: pandas.DataFrame) -> float:
    return frame.end_s.max() if len(frame) else 0.0


def _title_of(frame: pandas.DataFrame) -> str:
    facts, makespan = frame.attrs, _makespan(frame)
    flops = frame.flops[frame.kind != "axpby"].sum() or frame.flops.sum()
    scale, unit = _time_unit(makespan)
    rate = f", {flops / makespan / 1e12:.4g} TFLOP/s" if makespan and flops else ""
    return (f"{facts['policy']}, tile {facts['tile']}, on {facts['machine']} ({facts['backend']}): "
            f"{makespan * scale:.4g} {unit}{rate}")


def gantt(timeline: Timeline, ax: Axes | None = None, *, span: float | None = None, title: str | None = None) -> Axes:
    """Operations over time, with a row for each queue under its device; above 56 queues, a row for the kernels of a
    device and for each direction of its copies.

    ``timeline``: a Result, its ``timeline``, or a CSV file. ``span``: length of the time axis in seconds (default: the
    makespan). ``title``: instead of the problem and the run. Bars too thin for the figure are merged.
    """
    frame = _timeline_of(timeline)
    rows, makespan = _rows_of(frame), _makespan(frame)
    span = number_of((makespan or 1e-6) if span is None else span, "span")
    if not 1e-12 <= span <= 1e12:
        raise InputError("span", shown(span), "is out of range", "seconds from 1e-12 to 1e12")
    title = text_of(f"{frame.attrs['problem']}\n{_title_of(frame)}" if title is None else title, "title")
    scale, unit = _time_unit(span)
    ax = _axes(ax, 11, 1.5 + 0.19 * max(4, len(rows)))
    resolution, used = span / _PIXELS, set()
    for y, (_, _, ops) in enumerate(rows):
        for category, bars in ops.groupby("category"):
            start, end = _merged(bars.start_s.to_numpy(), bars.end_s.to_numpy(), resolution)
            width = numpy.maximum(end - start, resolution / 2)
            ax.broken_barh(numpy.stack([start, width], 1) * scale, (y - 0.4, 0.8), facecolors=COLOURS[category],
                           edgecolors="white", linewidths=numpy.where(width > 5 * resolution, 0.5, 0.0))
            used.add(category)
    devices = [device for device, _, _ in rows]
    for number, device in enumerate(dict.fromkeys(devices)):
        first, count = devices.index(device), devices.count(device)
        if number % 2 == 0:
            ax.axhspan(first - 0.5, first + count - 0.5, color="#f3f4f6", zorder=0, linewidth=0)
        ax.text(1.008, first + (count - 1) / 2, _plain(device), transform=ax.get_yaxis_transform(), va="center",
                fontsize=9, fontweight="bold", color=_TEXT)
    ax.axvline(makespan * scale, **_DASHED)
    ax.set_yticks(range(len(rows)), [_plain(label) for _, label, _ in rows])
    ax.set(xlim=(0, span * scale * 1.005), ylim=(max(len(rows), 1) - 0.4, -0.6), xlabel=f"time ({unit})")
    _style(ax, "x", title, [Patch(color=colour, label=name) for name, colour in COLOURS.items() if name in used])
    return ax


def compare(predicted: Timeline, measured: Timeline, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """The Gantt chart of a prediction above a measurement of the same plan, on one time axis."""
    frames = [_timeline_of(predicted), _timeline_of(measured)]
    hashes = [frame.attrs["plan_hash"] for frame in frames]
    if hashes[0] != hashes[1]:
        raise InputError("measured", hashes[1], f"is another plan than {hashes[0]}", "timelines of one plan")
    spans = [_makespan(frame) for frame in frames]
    if axes is None:
        rows = sum(len(_rows_of(frame)) for frame in frames)
        axes = pyplot.figure(figsize=(11, 3 + 0.19 * rows), layout="constrained").subplots(2, 1)
    axes = list_of(axes)
    if len(axes) != 2 or not all(isinstance(ax, Axes) for ax in axes):
        raise InputError("axes", shown(axes), expected="two Axes of matplotlib")
    error = f", {spans[0] / spans[1] - 1:+.1%}" if spans[1] > 0 else ""
    titles = [f"{frames[0].attrs['problem']}\n{_title_of(frames[0])}{error}", _title_of(frames[1])]
    for frame, ax, title in zip(frames, axes, titles):
        gantt(frame, ax, span=max(spans) or None, title=title)
    return axes[0], axes[1]


def _label(column: str) -> str:
    return _plain(_UNIT.sub(r" (\1)", column))


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def sweep(table: Table, ax: Axes | None = None) -> Axes:
    """Makespans over the varied key with most numbers, or names if no key has numbers; a line for each combination of
    the other keys, at most 12. Rates in TFLOP/s if the size or the type of the problem varies. Dashed: the bound.

    ``table``: the result of ``tilerail.sweep``, or the CSV of ``tilerail sweep``. Points without a result are left out.
    """
    table = _table_of(table, ("point", "machine", "makespan_s", "tflops", "bound_s"))
    done = table[table.makespan_s.notna()]
    if done.empty:
        raise InputError("sweep", None, "every point failed", "a result")
    names = list(table.columns)
    keys = [name for name in names[names.index("point") + 1:names.index("machine")] if table[name].nunique() > 1]
    numbers = [key for key in keys if pandas.api.types.is_numeric_dtype(table[key])]
    across = max(numbers or keys, key=lambda key: table[key].nunique(), default="machine")
    others = [key for key in keys if key != across]
    series = [", ".join(f"{key}={_value(value)}" for key, value in zip(others, values))
              for values in done[others].astype(object).to_numpy()]
    lines = list(done.groupby(numpy.array(series), sort=False))
    if len(lines) > MOST_LINES:
        raise InputError("sweep", None, f"would have {len(lines)} lines", f"at most {MOST_LINES}")
    rates = any(key in _PROBLEM_KEYS for column in keys for key in column.split(" & "))
    scale, unit = _time_unit(done.makespan_s.max())
    ax = _axes(ax, 7.6, 4.6)
    for number, (name, part) in enumerate(lines):
        part = part.sort_values(across) if numbers else part
        result = part.tflops if rates else part.makespan_s * scale
        bound = result * part.makespan_s / part.bound_s if rates else part.bound_s * scale
        ax.plot(part[across], result, "o-", color=f"C{number}", markersize=4, label=_plain(name) or None)
        ax.plot(part[across], bound.where(part.bound_s > 0), "--", color=f"C{number}", linewidth=0.9)
    ax.plot([], [], **_DASHED, label="bound")
    values = done[across].unique()
    if numbers and min(values) > 0 and max(values) >= 8 * min(values):
        ax.set_xscale("log", base=2)
        ax.set_xticks(values, [f"{value:g}" for value in values], minor=False)
    ax.set_ylim(bottom=0)
    ax.set(xlabel=_label(across), ylabel="TFLOP/s" if rates else f"makespan ({unit})")
    ax.legend(fontsize=8, frameon=False)
    _style(ax, "both")
    return ax


def tornado(table: Table, ax: Axes | None = None) -> Axes:
    """Makespans with each part of a machine twice as fast, half as fast and without limit, the largest effect on top.
    Bars to the left save time; dashed: the bound of the unchanged machine.

    ``table``: the result of ``tilerail.whatif``, or the CSV of ``tilerail whatif``.
    """
    table = _table_of(table, ("part", "now", "factor", "best_s", "base_s", "base_bound_s", "machine", "problem",
                              "policy"))
    first, done = table.iloc[0], table[table.best_s.notna()]
    effect = (done.best_s - done.base_s).abs().groupby(done.part).max().sort_values(ascending=False, kind="stable")
    parts = list(effect.index[:MOST_PARTS])
    scale, unit = _time_unit(first.base_s)
    ax = _axes(ax, 10, 1.9 + 0.34 * max(3, len(parts)))
    for factor, (_, colour, height) in CHANGES.items():
        rows = done[(done.factor == factor) & done.part.isin(parts)]
        ax.barh([parts.index(part) for part in rows.part], (rows.best_s - rows.base_s) * scale, height,
                left=first.base_s * scale, color=colour)
    ax.axvline(first.base_s * scale, color=_TEXT, linewidth=1)
    ax.axvline(first.base_bound_s * scale, **_DASHED)
    now = dict(zip(done.part, done.now.fillna("")))
    ax.set_yticks(range(len(parts)), [_plain(f"{part}\n{str(now[part])[:40]}") for part in parts])
    ax.set(ylim=(max(len(parts), 1) - 0.4, -0.9),
           xlabel=f"makespan ({unit}), the better of the plan kept and a new one")
    handles = [Patch(color=colour, label=name) for name, colour, _ in CHANGES.values()]
    handles.append(Line2D([], [], **_DASHED, label="bound, unchanged"))
    _style(ax, "x", f"{first.problem}\n{first.policy} on {first.machine}", handles)
    return ax


def _depths(kinds: Mapping[str, str], near: Mapping[str, set[str]]) -> dict[str, int]:
    """Row by vertex: 0 for hosts, their distance for switches, then GPUs, and last the switches that join only GPUs."""
    depth = {name: 0 for name, kind in kinds.items() if kind == "host"}
    layer = list(depth)
    while layer:
        layer = sorted({b for a in layer for b in near[a] if kinds[b] == "switch" and b not in depth})
        depth.update(dict.fromkeys(layer, max(depth.values(), default=0) + 1))
    gpus = max(depth.values(), default=0) + 1
    return {name: gpus if kind == "gpu" else depth.get(name, gpus + 1) for name, kind in kinds.items()}


def layout(machine: Machine | str | os.PathLike) -> dict[str, tuple[float, float]]:
    """Position of each memory and switch: GPUs at distance 1, others above the middle of their lower neighbours."""
    machine = machines(machine)
    links = machine.links
    kinds = dict(zip(machine.memories.name, machine.memories.kind))
    kinds |= {name: "switch" for name in dict.fromkeys([*links["from"], *links.to]) if name not in kinds}
    near: dict[str, set[str]] = {name: set() for name in kinds}
    for a, b in zip(links["from"], links.to):
        near[a].add(b)
        near[b].add(a)
    depth = _depths(kinds, near)
    gpus = [name for name, kind in kinds.items() if kind == "gpu"]
    row_of_gpus = depth[gpus[0]] if gpus else max(depth.values()) + 1
    x = {name: float(number) for number, name in enumerate(gpus)}
    for level in sorted(set(depth.values()) - {row_of_gpus}, reverse=True):
        row = [name for name in kinds if depth[name] == level]
        for name in row:
            below = [x[other] for other in near[name] if other in x and (depth[other] > level or level > row_of_gpus)]
            x[name] = sum(below) / len(below) if below else (len(gpus) - 1) / 2
        row.sort(key=lambda name: x[name])
        middle = sum(x[name] for name in row) / len(row)
        for before, name in zip(row, row[1:]):
            x[name] = max(x[name], x[before] + 1)
        shift = middle - sum(x[name] for name in row) / len(row)
        x.update({name: x[name] + shift for name in row})
    return {name: (x[name], -1.6 * depth[name]) for name in kinds}


def _use_of(use: Result | Mapping[str, float] | None, machine: Machine) -> dict[str, float]:
    """Share by link, of the machine's links."""
    if use is None:
        return {}
    if isinstance(use, Result):
        use = dict(zip(use.links.name, use.links.utilisation.fillna(0)))
    shares = dict(instance_of(use, Mapping, "use", "a result, or shares by link"))
    for name, share in shares.items():
        if name not in set(machine.links.name):
            raise InputError("use", text_of(name, "use"), f"is not a link of {machine.name}", "one of its links")
        if not -1e-9 <= number_of(share, f"use: {name}") <= 1 + 1e-6:  # sums of rounded times
            raise InputError(f"use: {name}", shown(share), "is out of range", "a share from 0 to 1")
    return shares


def _draw_links(ax: Axes, machine: Machine, where: dict, use: dict[str, float]) -> dict[str, Any]:
    """A line for all links between two vertices, labelled with GB/s. Returns the line of each link."""
    links = machine.links.assign(ends=[tuple(sorted(ends)) for ends in zip(machine.links["from"], machine.links.to)])
    most, drawn, labelled = links.bandwidth_bytes_per_s.max(), {}, set()
    for (a, b), cable in links.groupby("ends", sort=False):
        ways = cable.groupby("from").bandwidth_bytes_per_s.sum()
        ways = ways.sort_index(key=lambda ends: [-where[end][1] for end in ends])
        rate = " /\n".join(f"{way / 1e9:.4g}" for way in (ways if ways.nunique() > 1 else ways[:1]))
        (xa, ya), (xb, yb) = sorted((where[a], where[b]), key=lambda at: -at[1])
        t = numpy.linspace(0, 1, 21)
        arc = min(0.35 + 0.1 * abs(xa - xb), 1.2) if ya == yb else 0  # within a row
        share = max((use.get(name, 0.0) for name in cable.name), default=0.0)
        colour = matplotlib.colormaps["YlOrRd"](0.15 + 0.85 * share) if use else "#8a939c"
        line, = ax.plot(xa + (xb - xa) * t, ya + (yb - ya) * t - arc * numpy.sin(math.pi * t), color=colour, zorder=2,
                        solid_capstyle="round", linewidth=1 + 4 * math.sqrt(ways.max() / most))
        drawn |= dict.fromkeys(cable.name, line)
        text = rate + (f"\n{share:.0%}" if share else "")
        if len(where) <= 24 or share or (ya, yb, text) not in labelled:  # large machines: each rate once
            at = 10 if ya == yb else 12
            ax.text(line.get_xdata()[at], line.get_ydata()[at], text, fontsize=8, ha="center", va="center", zorder=4,
                    color=_TEXT, bbox={"boxstyle": "round,pad=0.12", "color": "white", "alpha": 0.85})
        labelled.add((ya, yb, text))
    return drawn


def machine(machine: Machine | str | os.PathLike, ax: Axes | None = None, *,
            use: Result | Mapping[str, float] | None = None) -> Axes:
    """Hosts above, then switches, GPUs, and switches that join only GPUs; each link with its GB/s, and a background for
    links that share a bound.

    ``machine``: a Machine, a file or a name. ``use`` colours links: a Result on this machine, or shares from 0 to 1 by
    link.
    """
    made = machines(machine)
    where, memories, groups = layout(made), made.memories.set_index("name"), made.groups
    xs, ys = zip(*where.values())
    shares = _use_of(use, made)
    ax = _axes(ax, max(6, 0.9 * (max(xs) - min(xs) + 2)), max(4, 0.9 * (max(ys) - min(ys)) + 2.5))
    drawn = _draw_links(ax, made, where, shares)
    bound = groups.capacity_bytes_per_s.fillna(groups.both_busy_bytes_per_s)
    handles = []
    for number, (rate, same) in enumerate(groups.groupby(bound, sort=False)):
        colour = _GROUPS[number % len(_GROUPS)]
        for line in dict.fromkeys(drawn[link] for links in same.links for link in links):
            ax.plot(*line.get_data(), color=colour, linewidth=18 - 2 * (number % 8), alpha=0.25, zorder=1,
                    solid_capstyle="butt")
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        handles.append(Line2D([], [], color=colour, linewidth=8, alpha=0.4,
                              label=_plain(f"{same.name.iloc[0]}{more}: {rate / 1e9:.4g} GB/s")))
    for name, (x, y) in where.items():
        kind = memories.kind.get(name, "switch")
        colour = {"host": "#dfe8d8", "gpu": "#fbe3c3", "switch": "#e8eaed"}[kind]
        ax.text(x, y, _plain(name), fontsize=8, ha="center", va="center", zorder=6, color=_TEXT,
                bbox={"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": _TEXT, "linewidth": 0.8})
    lowest = min([min(ys), *(line.get_ydata().min() for line in drawn.values())])
    ax.set(xlim=(min(xs) - 0.7, max(xs) + 0.7), ylim=(lowest - 0.4, max(ys) + 0.5))
    ax.set_axis_off()
    ax.set_title(_plain(f"{made.name}: GB/s of each link (down / up if they differ)"), loc="left", fontsize=10)
    if handles:
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False, fontsize=8, ncol=2,
                  title="links that share a bound", title_fontsize=8)
    if shares:
        ax.figure.colorbar(matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0, 1), "YlOrRd"), ax=ax, shrink=0.5,
                           label="use of the link")
    return ax
