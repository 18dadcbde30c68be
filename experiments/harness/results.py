"""Tables on stdout, and the files that an experiment leaves."""

import csv
import io
import os
import pathlib
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
    """`header` stands above the column names, as lines '# key: value'."""
    text = io.StringIO()
    for key, value in header.items():
        text.write(f"# {key}: {value}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    _save(path, text.getvalue().encode())


def plotting():
    """matplotlib.figure.Figure, or None where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure


def save_figure(figure, path: str) -> None:
    """The same bytes for the same figure."""
    import matplotlib

    content, kind = io.BytesIO(), os.path.splitext(path)[1][1:]
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tilerail"}):
        figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else None)
    _save(path, content.getvalue())
