"""CoCoPeLia table II: links of both testbeds in the machine files, against the published figures.

Latency and bandwidth of each direction alone, and its bandwidth and slowdown while the other direction is busy. See
docs/experiments.md.
"""

import csv

from harness import Outcome, Paper, beside_published, run_experiment

NAME = "cocopelia_table_2"
TESTBEDS = {"testbed 1": "cocopelia-testbed-1", "testbed 2": "cocopelia-testbed-2"}
WAYS = {"h2d": ("host", "gpu0"), "d2h": ("gpu0", "host")}


def link_values(tilerail, machine: str) -> dict[str, float]:
    """Microseconds, GB/s and slowdowns of the links between the host and GPU 0."""
    table = list(csv.DictReader(tilerail.run(["topo", "show", machine, "--link-map", "-"]).splitlines()))
    values = {}
    for way, (src, dst) in WAYS.items():
        rows = [row for row in table if (row["src"], row["dst"]) == (src, dst)]
        alone = next(row for row in rows if not row["slowdown"])
        slowdown = next((float(row["slowdown"]) for row in rows if (row["with_src"], row["with_dst"]) == (dst, src)), 1)
        rate = float(alone["bytes_per_s"]) / 1e9
        values |= {f"{way} latency": float(alone["latency_s"]) * 1e6, way: rate, f"{way} both ways": rate / slowdown,
                   f"{way} slowdown": slowdown}
    return values


def is_taken(value: str) -> bool:
    """Whether the machine file contains the table's own figure, according to its sources."""
    return value.startswith("testbed 1") or value.endswith("latency")


def study(tilerail, options) -> Outcome:
    ours = {f"{name}, {value}": number for name, machine in TESTBEDS.items()
            for value, number in link_values(tilerail, machine).items()}
    findings = beside_published(NAME, ours, is_taken)
    rows = [[each.value.name, each.value.low, repr(each.ours), each.value.unit] for each in findings]
    return Outcome(", ".join(TESTBEDS.values()), ["value", "published", "ours", "unit"], rows, findings, [], None)


PAPER = Paper(NAME, __doc__, study, quick_is_whole=True, height=2.6,
              why="the machine files contain rates of large squares in the raw measurements, the table a regression "
                  "over all sizes")

if __name__ == "__main__":
    run_experiment(PAPER.main)
