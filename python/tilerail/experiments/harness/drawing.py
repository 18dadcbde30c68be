"""Figures of experiments: the study's drawing, and next to it each printed number with its band and our value."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib
import pandas
from matplotlib.figure import Figure

from .data import LIBRARIES, MEASURED_COLOUR, rates
from .studies import Outcome
from .verdicts import Finding

FONT = 8  # points
BAND, INSIDE, OUTSIDE = "#d8efd3", "#2a9d8f", "#d62828"
SHOWN, WIDTHS = 24, 3  # findings in a figure, and half widths shown on each side of a band's middle
STYLE = {"font.size": FONT, "axes.titlesize": FONT, "legend.fontsize": FONT, "xtick.labelsize": FONT,
         "ytick.labelsize": FONT, "axes.labelsize": FONT, "svg.fonttype": "none", "svg.hashsalt": "tilerail"}


def colour(name: str) -> str:
    return MEASURED_COLOUR if name == "measured" else f"#{LIBRARIES.colour.get(name, '2a9d8f')}"


def draw_findings(axes, findings: list[Finding]) -> None:
    """A line for each: the band has the same width for all, values outside are red."""
    shown = sorted(findings, key=lambda each: -abs(each.distance))[:SHOWN]
    shown = [each for each in findings if each in shown]
    axes.axvspan(-1, 1, color=BAND, linewidth=0)
    axes.axvline(0, color="#8ab17d", linewidth=0.8)
    for line, each in enumerate(reversed(shown)):
        place = max(-WIDTHS, min(WIDTHS, each.distance))
        axes.plot([place], [line], "o", ms=4, color=INSIDE if each.within else OUTSIDE)
        axes.text(WIDTHS * 1.06, line, f"{each.value.text(each.ours)} for {each.value.printed}", va="center")
    axes.set_yticks(range(len(shown)), [each.value.name for each in reversed(shown)])
    axes.set(xlim=(-WIDTHS * 1.03, WIDTHS * 1.03), ylim=(-0.7, len(shown) - 0.3))
    axes.set_xticks([-1, 1], ["", ""])
    left = len(findings) - len(shown)
    axes.set_title("ours for printed, and the band (green)" + (f"; {left} nearer ones left out" if left else ""))


def draw_errors(axes, groups: dict[str, pandas.Series], tolerance: float, title: str) -> None:
    """A box of each group's errors (5 to 95 %), on the band of the target."""
    axes.axhspan(-tolerance, tolerance, color=BAND, linewidth=0)
    axes.axhline(0, color="#8ab17d", linewidth=0.8)
    drawn = axes.boxplot(list(groups.values()), widths=0.6, patch_artist=True, whis=(5, 95), showfliers=False,
                         medianprops={"color": MEASURED_COLOUR})
    for box, name in zip(drawn["boxes"], groups):
        box.set_facecolor(colour(re.split(r"[\n,]", name)[0]))
    axes.set_xticks(range(1, len(groups) + 1), list(groups), rotation=40, ha="right")
    axes.set_ylabel("simulated over measured, minus 1")
    axes.set_title(title)


def draw_violins(figure, panels: dict[str, dict[str, pandas.Series]]) -> None:
    """A panel for each title, and in it the distribution of each group's errors, up to 100 %."""
    for axes, (title, groups) in zip(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels.items()):
        axes.violinplot([100 * errors.clip(-1, 1) for errors in groups.values()], showmedians=True, points=30)
        axes.axhline(0, color="#adb5bd", linewidth=0.8)
        axes.set_xticks(range(1, len(groups) + 1), list(groups))
        axes.set_title(title)
    figure.axes[0].set_ylabel("predicted over measured, minus 1, %")


def draw_rates(figure, panels, of: list[str], x: str, rows: pandas.DataFrame, measured: pandas.DataFrame) -> None:
    """A panel for each group with equal values in these columns: lines of simulated TFLOP/s over a column, and dots of
    measured ones."""
    points = dict(list(measured.groupby([*of, "library"])))
    for axes, (key, group) in zip(panels, rows.groupby(of, sort=False)):
        for library, line in group.groupby("library", sort=False):
            axes.plot(line[x], line.tflops, "-", lw=1, color=colour(library), label=library)
            dots = points.get((*key, library), measured.iloc[:0])
            axes.plot(dots[x], rates(dots), "o", ms=3, color=colour(library))
        axes.set_title(", ".join(map(str, key)))
    panels[0].legend(title="simulated; dots: measured")
    figure.supylabel("TFLOP/s")


def figure_of(outcome: Outcome, size: tuple[float, float], note: str) -> Figure | None:
    """None if there is nothing to draw. ``note`` stands above, for a part of the problems."""
    left, right = size[0] if outcome.draw else 0.0, 7.5 if outcome.findings else 0.0
    if not left + right:
        return None
    figure = Figure(figsize=(left + right, max(size[1] if left else 0, 1 + 0.18 * min(SHOWN, len(outcome.findings)))),
                    layout="constrained")
    parts = figure.subfigures(1, 2, width_ratios=[left, right]) if left and right else [figure, figure]
    if outcome.draw:
        outcome.draw(parts[0])
    if outcome.findings:
        draw_findings(parts[1].subplots(), outcome.findings)
    if note:
        figure.suptitle(note, color=OUTSIDE)
    return figure


def _smaller(svg: str) -> str:
    """Without comments, indentation, names, and digits of coordinates below a tenth of a point; texts stay."""
    def rounded(tag: re.Match) -> str:
        return re.sub(r' (?:d|x|y)="[^"]*"', lambda cell: re.sub(r"\d+\.\d+", lambda n: f"{float(n[0]):.1f}", cell[0]),
                      tag[0])

    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<(?:path|use|text) [^>]*>", rounded, svg)
    svg = re.sub(r"'DejaVu Sans',[^;\"]*sans-serif", "sans-serif", svg)
    svg = re.sub(r' id="(?:text|line2d|patch|axes|xtick|ytick|matplotlib\.axis|[A-Za-z]*Collection)_\d+"', "", svg)
    styles = {style: number for number, style in enumerate(dict.fromkeys(re.findall(r' style="([^"]*)"', svg)))}
    classes = "".join(f".s{number}{{{style}}}\n" for style, number in styles.items())
    svg = re.sub(r' style="([^"]*)"', lambda match: f' class="s{styles[match[1]]}"', svg)
    return re.sub(r"\n\s*", "\n", svg.replace("</style>", classes + "</style>", 1))


def save(outcome: Outcome, size: tuple[float, float], note: str, stem: Path) -> list[str]:
    """Saves the figure as PNG and SVG; equal figures give equal bytes."""
    with matplotlib.rc_context(STYLE):
        figure = figure_of(outcome, size, note)
        if figure is None:
            return []
        figure.savefig(stem.with_suffix(".png"), dpi=150)
        content = io.BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None}, dpi=40)
    stem.with_suffix(".svg").write_text(_smaller(content.getvalue().decode()), encoding="utf-8")
    return [str(stem.with_suffix(kind)) for kind in (".png", ".svg")]
