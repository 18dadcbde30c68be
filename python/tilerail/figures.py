"""Gantt figures of timelines, with matplotlib."""

import os

from .rows import CATEGORIES, MOST_QUEUE_ROWS, Row, rows_of, thinned
from .timeline import Timeline, TimelineError, read_timeline
from .units import plain, problem_title, result_title, run_title, seconds_text, time_unit

WIDTH = 11.0  # inches
ROW_HEIGHT = 0.19
MARGINS = 1.5  # inches above and below the rows of one panel
DPI = 150
_PIXELS = WIDTH * DPI

_BAND = "#f3f4f6"
_GRID = "#d5d8dc"
_TEXT = "#30363d"


def _loaded(timeline: Timeline | str | os.PathLike) -> Timeline:
    return timeline if isinstance(timeline, Timeline) else read_timeline(timeline)


def _is_simulation(timeline: Timeline) -> bool:
    return timeline.metadata["backend"] in ("sim", "fluid")


def _rows(timeline: Timeline, rows: str) -> list[Row]:
    if rows not in ("auto", "queues", "devices"):
        raise ValueError(f"rows: {rows!r}; expected 'auto', 'queues' or 'devices'")
    return rows_of(timeline, rows == "devices" or (rows == "auto" and len(timeline.queues) > MOST_QUEUE_ROWS))


def figure_shape(timelines: list[Timeline], rows: str = "auto") -> dict:
    """Arguments for a matplotlib Figure with a panel per timeline, one below the other."""
    height = sum(MARGINS + ROW_HEIGHT * max(4, len(_rows(timeline, rows))) for timeline in timelines)
    return {"figsize": (WIDTH, height), "dpi": DPI, "layout": "constrained"}


def _draw_bars(ax, rows: list[Row], span: float, scale: float) -> list[str]:
    """Draws the bars and returns their categories."""
    from matplotlib.collections import PolyCollection

    resolution = span / _PIXELS
    used = []
    for category, (_, colour) in CATEGORIES.items():
        bars, lines = [], []
        for y, row in enumerate(rows):
            for start, end in thinned(row.bars.get(category, []), resolution):
                left, right = start * scale, max(end, start + resolution / 2) * scale
                bars.append([(left, y - 0.4), (right, y - 0.4), (right, y + 0.4), (left, y + 0.4)])
                lines.append(0.5 if end - start > 5 * resolution else 0.0)  # separates distinguishable neighbours
        if bars:
            used.append(category)
            ax.add_collection(PolyCollection(bars, facecolors=colour, edgecolors="white", linewidths=lines))
    return used


def _draw_devices(ax, rows: list[Row]) -> None:
    """Bands behind the rows of every other device, and the devices' names at the right."""
    first = 0
    for number, row in enumerate(rows):
        if number + 1 < len(rows) and rows[number + 1].device == row.device:
            continue
        shaded = len({other.device for other in rows[:first]}) % 2 == 0
        if shaded:
            ax.axhspan(first - 0.5, number + 0.5, color=_BAND, zorder=0, linewidth=0)
        ax.text(1.008, (first + number) / 2, plain(row.device), transform=ax.get_yaxis_transform(), va="center", ha="left",
                fontsize=9, fontweight="bold", color=_TEXT)
        first = number + 1


def _style(ax, rows: list[Row], unit: str) -> None:
    ax.set_yticks(range(len(rows)), [plain(row.label) for row in rows], fontsize=7.5, color=_TEXT)
    ax.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    ax.set_xlabel(f"time ({unit})", fontsize=9, color=_TEXT)
    ax.tick_params(axis="x", labelsize=8, colors=_TEXT)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(_GRID)


def gantt(timeline: Timeline | str | os.PathLike, ax=None, *, rows: str = "auto", span: float | None = None,
          title: str | None = None, legend: bool = True):
    """Draws a timeline, or the one in a CSV file, and returns the matplotlib Axes.

    A row is a queue, under its device; with `rows="devices"` (`"auto"`: above 56 queues) the queues of one role on a
    device share a row. `span` is the length of the time axis in seconds (the makespan if absent), `title` replaces the
    text above. Adjacent bars that are too thin are merged, so 10^5 operations are fast.
    Raises TimelineError for an invalid file.
    """
    from matplotlib.patches import Patch

    timeline = _loaded(timeline)
    chart = _rows(timeline, rows)
    makespan = timeline.makespan
    span = span or makespan or 1e-6
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(**figure_shape([timeline], rows)).add_subplot()
    scale, unit = time_unit(span)
    used = _draw_bars(ax, chart, span, scale)
    _draw_devices(ax, chart)
    _style(ax, chart, unit)
    ax.set_xlim(0, span * scale * 1.005)
    ax.axvline(makespan * scale, color=_TEXT, linewidth=0.8, linestyle=(0, (4, 3)))
    if title is None:
        title = plain(f"{problem_title(timeline)}: {result_title(timeline)}\n{run_title(timeline)}")
    ax.set_title(title, loc="left", fontsize=10, color=_TEXT, pad=24 if legend and used else 8, linespacing=1.4)
    if legend and used:
        handles = [Patch(facecolor=CATEGORIES[name][1], label=CATEGORIES[name][0]) for name in used]
        ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncol=len(handles), frameon=False,
                  fontsize=8, borderaxespad=0.2, handlelength=1.2, columnspacing=1.6, labelcolor=_TEXT)
    return ax


def compare_gantt(predicted: Timeline | str | os.PathLike, measured: Timeline | str | os.PathLike, figure=None, *,
                  rows: str = "auto"):
    """Draws a prediction above a measurement of the same plan, on one time axis, and returns the two Axes.

    Titles of two simulations, or two runs, contain only where each ran. Raises TimelineError if the timelines are of
    different plans.
    """
    predicted, measured = _loaded(predicted), _loaded(measured)
    predicted_hash, measured_hash = predicted.metadata["plan_hash"], measured.metadata["plan_hash"]
    if predicted_hash != measured_hash:
        raise TimelineError(f"plan_hash: predicted {predicted_hash!r}, measured {measured_hash!r}; expected one plan")
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(**figure_shape([predicted, measured], rows))
    span = max(predicted.makespan, measured.makespan)
    upper, lower = figure.subplots(2, 1, sharex=True)
    error = f", {predicted.makespan / measured.makespan - 1:+.1%}" if measured.makespan else ""
    result = f"{seconds_text(predicted.makespan)}{error}"
    of_prediction = _is_simulation(predicted) and not _is_simulation(measured)
    names = ("predicted: ", "measured: ") if of_prediction else ("", "")
    gantt(predicted, upper, rows=rows, span=span,
          title=plain(f"{problem_title(predicted)}\n{names[0]}{result}, {run_title(predicted)}"))
    gantt(measured, lower, rows=rows, span=span, legend=False,
          title=plain(f"{names[1]}{result_title(measured)}, {run_title(measured)}"))
    upper.set_xlabel("")
    return upper, lower
