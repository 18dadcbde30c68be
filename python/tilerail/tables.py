"""Text tables of a timeline."""

import os

from .rows import display_order
from .timeline import Timeline, read_timeline
from .units import bytes_text, problem_title, result_title, run_title, seconds_text


def aligned(lines: list[list[str]]) -> str:
    """Columns two spaces apart, as wide as their widest cell; the first is left-aligned, the others right-aligned."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rows = []
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        rows.append("  ".join(cells).rstrip())
    return "\n".join(rows) + "\n"


def summary_table(timeline: Timeline | str | os.PathLike) -> str:
    """Use of each queue: operations, time busy, its share of the makespan, time from ready to start, bytes."""
    if not isinstance(timeline, Timeline):
        timeline = read_timeline(timeline)
    count = len(timeline.queues)
    ops, moved = [0] * count, [0] * count
    busy, waited = [0.0] * count, [0.0] * count
    for q, size, ready, start, end in zip(
        timeline.queue, timeline.bytes, timeline.ready, timeline.start, timeline.end
    ):
        ops[q] += 1
        moved[q] += size
        busy[q] += end - start
        waited[q] += max(0.0, start - ready)
    makespan = timeline.makespan
    lines = [["queue", "ops", "busy", "of makespan", "waited", "bytes"]]
    for q in display_order(timeline):
        share = f"{busy[q] / makespan:.1%}" if makespan else "-"
        name = timeline.queues[q].name
        lines.append([name, str(ops[q]), seconds_text(busy[q]), share, seconds_text(waited[q]), bytes_text(moved[q])])
    head = f"{problem_title(timeline)}\n{run_title(timeline)}\n{len(timeline)} operations, {result_title(timeline)}\n\n"
    return head + aligned(lines)
