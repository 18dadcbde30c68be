"""Tables on stdout, and output files of experiments."""

import csv
import io
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tilerail.command import write_whole  # noqa: E402
from tilerail.timeline import TimelineError  # noqa: E402

from .program import Failure  # noqa: E402


def _save(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    try:
        write_whole(path, content)
    except TimelineError as error:
        raise Failure(str(error)) from None


def save_text(path: str, text: str) -> None:
    _save(path, text.encode())


def aligned(rows: list[list[str]]) -> str:
    """Columns two spaces apart: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def write_csv(path: str, header: dict[str, str], columns: list[str], rows: list[list]) -> None:
    """Writes `header` above the column names, as lines '# key: value'."""
    text = io.StringIO()
    for key, value in header.items():
        text.write(f"# {key}: {value}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    _save(path, text.getvalue().encode())


def plotting():
    """matplotlib.figure.Figure, or None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure


def _rounded(coordinates: re.Match) -> str:
    """Rounds to a tenth of a point: screens show no more."""
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.1f}", coordinates[0])


def _smaller(svg: str) -> str:
    """Removes matplotlib's comments, its indentation, repeated names and styles, and digits of coordinates. Keeps
    text."""
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<(?:path|use|text) [^>]*>", lambda tag: re.sub(r' (?:d|x|y)="[^"]*"', _rounded, tag[0]), svg)
    svg = re.sub(r"'DejaVu Sans',[^;\"]*sans-serif", "sans-serif", svg)
    svg = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", svg)
    svg = re.sub(r' id="(?:text|line2d|patch|axes|xtick|ytick|matplotlib\.axis|[A-Za-z]*Collection)_\d+"', "", svg)
    for _ in range(4):  # empty groups, and groups of one element
        svg = re.sub(r"<g>\s*(<(?:text|use|path)\b[^>]*(?:/>|>[^<]*</text>))\s*</g>", r"\1",
                     svg.replace("<g/>", "").replace("\n\n", "\n"))
    styles = dict.fromkeys(re.findall(r' style="([^"]*)"', svg))
    classes = "".join(f".s{number}{{{style}}}\n" for number, style in enumerate(styles))
    numbers = {style: number for number, style in enumerate(styles)}
    svg = re.sub(r' style="([^"]*)"', lambda match: f' class="s{numbers[match[1]]}"', svg)
    return re.sub(r"\n\s*", "\n", svg.replace("</style>", classes + "</style>", 1))


def save_figure(figure, path: str) -> None:
    """Saves equal figures as equal bytes."""
    import matplotlib

    content, kind = io.BytesIO(), os.path.splitext(path)[1][1:]
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tilerail"}):
        of_kind = {"metadata": {"Date": None}, "dpi": 40} if kind == "svg" else {}  # dots of the embedded images
        figure.savefig(content, format=kind, **of_kind)
    _save(path, _smaller(content.getvalue().decode()).encode() if kind == "svg" else content.getvalue())
