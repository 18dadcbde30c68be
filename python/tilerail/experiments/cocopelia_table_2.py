"""CoCoPeLia table II: the links of both testbeds, measured in the simulator as the paper measures them.

Latency and bandwidth of each direction alone, and while the other direction is busy. The table is an input of the
machine files, so this is a test of the files and no verdict on the paper.
"""

import pandas

from .harness import Compared, Experiment, link, Outcome, Run, TESTBED

DIRECTIONS = {"h2d": ("host", "gpu0"), "d2h": ("gpu0", "host")}


def values(testbed: str) -> dict[str, float]:
    """us, GB/s and slowdowns, by name."""
    found = {}
    for direction, (src, dst) in DIRECTIONS.items():
        latency, alone = link(TESTBED + testbed, src, dst)
        both = link(TESTBED + testbed, src, dst, both=True)[1]
        name = f"testbed {testbed}, {direction}"
        found |= {f"{name} latency": latency * 1e6, name: alone / 1e9, f"{name} both ways": both / 1e9,
                  f"{name} slowdown": alone / both}
    return found


def study(run: Run) -> Outcome:
    found = values("1") | values("2")
    found["testbed 2 over 1, bandwidth"] = found["testbed 2, h2d"] / found["testbed 1, h2d"]
    rows = pandas.DataFrame({"value": found.keys(), "ours": found.values()})
    rows["machine"] = [TESTBED + name[8] for name in rows.value]
    compared = Compared("cocopelia_table_2", "CoCoPeLia table II")
    for name, ours in found.items():
        compared.add(name, ours, rows, value=name)
    return Outcome(rows, compared.findings)


EXPERIMENT = Experiment("cocopelia_table_2", __doc__, study, "CoCoPeLia", whole=True,
                        why="the file of testbed 2 has the rates of large squares in the measured copies, the table a "
                            "regression over all sizes; the model shares the sum of both directions equally")
