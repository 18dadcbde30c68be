"""Quantities in readable units."""

import re

from .timeline import Timeline


def _scaled(value: float, steps: list[tuple[float, str]]) -> str:
    for factor, unit in steps:
        if value >= factor:
            break
    return f"{value / factor:.4g} {unit}"


def seconds_text(seconds: float) -> str:
    return _scaled(seconds, [(1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]) if seconds else "0 s"


def bytes_text(size: float) -> str:
    return _scaled(size, [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")]) if size else "0 B"


def time_unit(seconds: float) -> tuple[float, str]:
    """Factor from seconds, and name, of a readable unit for an axis of this length."""
    return (1, "s") if seconds >= 2 else (1e3, "ms") if seconds >= 2e-3 else (1e6, "us")


def problem_title(timeline: Timeline) -> str:
    """ "GEMM 4096 x 4096 x 4096 f64", or the unchanged text for other routines."""
    problem = timeline.metadata["problem"]
    fields = dict(re.findall(r"(\w+)=(\S+)", problem))
    if not problem.startswith("gemm ") or not {"m", "n", "k", "dtype", "trans", "place"} <= fields.keys():
        return problem
    trans = "" if fields["trans"] == "NN" else " " + fields["trans"]
    return f"GEMM {fields['m']} x {fields['n']} x {fields['k']} {fields['dtype']}{trans}, A:B:C on {fields['place']}"


def result_title(timeline: Timeline) -> str:
    """ "58.31 ms, 150.9 TFLOP/s" """
    # As in `tilerail simulate`: flops of products or, without any (axpy, C = beta C), of additions.
    products = sum(flops for kind, flops in zip(timeline.kind, timeline.flops) if kind != "axpby")
    makespan, flops = timeline.makespan, products or sum(timeline.flops)
    rate = f", {flops / makespan / 1e12:.4g} TFLOP/s" if makespan and flops else ""
    return f"{seconds_text(makespan)}{rate}"


def run_title(timeline: Timeline) -> str:
    """ "gemmex, tile 2048, on two-gpu (sim)" """
    metadata = timeline.metadata
    return f"{metadata['policy']}, tile {metadata['tile']}, on {metadata['machine']} ({metadata['backend']})"


def plain(text: str) -> str:
    """Escapes '$' for figures, because matplotlib parses text between two '$' as mathematics."""
    return text.replace("$", r"\$")
