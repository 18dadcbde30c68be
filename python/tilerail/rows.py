"""Rows of a Gantt chart, from a timeline."""

import re
from dataclasses import dataclass, field

from .timeline import Queue, Timeline

# In drawing order: later categories cover earlier ones. Kernels have warm colours, copies cold ones.
CATEGORIES = {
    "gemm": ("GEMM", "#e07b39"),
    "syrk": ("SYRK", "#c9563c"),
    "trsm": ("TRSM", "#d9a06b"),
    "potrf": ("POTRF", "#8c3b2a"),
    "tsmqr": ("TSMQR", "#d98c3f"),
    "ormqr": ("ORMQR", "#c26a5a"),
    "tsqrt": ("TSQRT", "#a8452e"),
    "geqrt": ("GEQRT", "#6e2b20"),
    "axpby": ("AXPBY", "#f2c14e"),
    "in": ("copy in (from a host)", "#2f6db5"),
    "out": ("copy out (to a host)", "#3a9d7c"),
    "peer": ("copy between GPUs", "#8a63b0"),
    "local": ("copy within a GPU", "#8d99a6"),
}

# More rows would be indistinguishable: above this limit, queues of one role on one device share a row.
MOST_QUEUE_ROWS = 56

_ROLES = {"kernel": "kernels", "local": "within", "in": "from host", "peer": "from GPUs", "out": "to host"}


@dataclass
class Row:
    """Bars of one queue, or of all queues of one role on a device: (start, end) in seconds, by category."""

    device: str
    label: str
    bars: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


def natural(name: str) -> list:
    """Sort key that compares numbers in names as numbers."""
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"([0-9]+)", name) if part]


def role(queue: Queue, hosts: list[str]) -> str:
    """kernel or local (both within one memory), in, peer or out."""
    if queue.src == queue.dst:
        return "local" if "->" in queue.name else "kernel"
    if queue.dst in hosts:
        return "out"
    return "in" if queue.src in hosts else "peer"


def display_order(timeline: Timeline) -> list[int]:
    """Indices of the queues by device, then kernels, copies within the device, in, between GPUs, out."""
    hosts, order = timeline.hosts, list(_ROLES)

    def key(number: int):
        queue = timeline.queues[number]
        return natural(queue.device), order.index(role(queue, hosts)), natural(queue.name)

    return sorted(range(len(timeline.queues)), key=key)


def _label(queue: Queue, kind: str) -> str:
    if kind == "kernel":
        return queue.name.removeprefix(queue.device).strip()
    second = queue.name.partition(" ")[2]
    label = {"local": "within", "out": f"to {queue.dst}"}.get(kind, f"from {queue.src}")
    return f"{label} {second}".strip()


def rows_of(timeline: Timeline, merged: bool) -> list[Row]:
    """Rows in display order. `merged`: all queues of one role on a device share a row."""
    roles = [role(queue, timeline.hosts) for queue in timeline.queues]
    rows: dict[tuple, Row] = {}
    row_of: list[Row | None] = [None] * len(roles)
    for q in display_order(timeline):
        queue = timeline.queues[q]
        label = _ROLES[roles[q]] if merged else _label(queue, roles[q])
        key = (queue.device, roles[q]) if merged else (queue.device, queue.name)
        row_of[q] = rows.setdefault(key, Row(queue.device, label))
    for kind, q, start, end in zip(timeline.kind, timeline.queue, timeline.start, timeline.end):
        if kind == "join" or end == start:
            continue
        category = kind if kind != "copy" else "local" if roles[q] == "kernel" else roles[q]
        row_of[q].bars.setdefault(category, []).append((start, end))
    return list(rows.values())


def thinned(bars: list[tuple[float, float]], resolution: float) -> list[tuple[float, float]]:
    """The same picture with fewer bars: merges neighbours closer than half of `resolution` (seconds per pixel) if one
    of them is too thin to be visible. At most a few bars per pixel remain."""
    result: list[tuple[float, float]] = []
    thin = 2 * resolution
    for start, end in sorted(bars):
        if result:
            last_start, last_end = result[-1]
            close = start - last_end < resolution / 2
            if close and (last_end - last_start < thin or end - start < thin or start < last_end):
                result[-1] = (last_start, max(last_end, end))
                continue
        result.append((start, end))
    return result
