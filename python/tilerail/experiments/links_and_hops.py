"""CoCoPeLia table II and thesis table 3.1: links of both testbeds, and hops of the link map, as unit tests.

Latency and bandwidth of each direction, alone and while the other direction is busy; table II is an input of the
machine files. Then three GPUs, as in the text of the thesis, with 1 GB/s from GPU 0 to 1, 3 GB/s from 0 to 2 and 4 GB/s
from 2 to 1. If one hop is allowed, copies from 0 to 1 go over 2. With 2 GB/s from 0 to 1, the two rules for hops
differ: by added times (1/3 + 1/4 > 1/2) the direct link is faster, by the narrowest link the hop.
"""

import pandas

import tilerail as tr

from .harness import Check, Compared, link, Outcome, Run, TESTBED, THREE_GPUS

DIRECTIONS = {"h2d": ("host", "gpu0"), "d2h": ("gpu0", "host")}
SIZE, TILE = 4096, 1024
PRINTED, WIDER = 1, 2  # GB/s from GPU 0 to 1: as printed, and for different rules
OVER_GPU2 = "share of the transfers of 0 to 1 over gpu2"


def links(testbed: str) -> dict[str, float]:
    """us, GB/s and slowdowns, by name."""
    found = {}
    for direction, (src, dst) in DIRECTIONS.items():
        latency, alone = link(TESTBED + testbed, src, dst)
        both = link(TESTBED + testbed, src, dst, both=True)[1]
        name = f"testbed {testbed}, {direction}"
        found |= {f"{name} latency": latency * 1e6, name: alone / 1e9, f"{name} both ways": both / 1e9,
                  f"{name} slowdown": alone / both}
    return found


def machine(straight: int) -> tr.Machine:
    """The three GPUs, with `straight` GB/s between GPUs 0 and 1."""
    return tr.machine(THREE_GPUS).set("link:gpu0<->gpu1.bandwidth", f"{straight} GB/s")


def direct_bytes(straight: int, hops: int, rule: str) -> int:
    """Copied from GPU 0 to 1: A is on GPU 0, B and C are on GPU 1, which computes with GPU 2."""
    options = {"routing": f"link-map(max-hops={hops},rule={rule})"}
    found = tr.simulate(tr.gemm(SIZE, place="0:1:1"), machine(straight), "paralia", tile=TILE, options=options).timeline
    return found.bytes[(found.kind == "copy") & (found.src == "gpu0") & (found.dst == "gpu1")].sum()


def over_gpu2(straight: int, rule: str) -> float:
    """The share of the transfers from GPU 0 to 1 that go over GPU 2."""
    return 1 - direct_bytes(straight, 1, rule) / direct_bytes(straight, 0, "bottleneck")


def study(run: Run) -> Outcome:
    found = links("1") | links("2")
    found["testbed 2 over 1, bandwidth"] = found["testbed 2, h2d"] / found["testbed 1, h2d"]
    found[OVER_GPU2] = over_gpu2(PRINTED, "bottleneck")
    rows = pandas.DataFrame({"value": found.keys(), "ours": found.values()})
    rows["machine"] = [TESTBED + name[8] if name.startswith("testbed") else THREE_GPUS.stem for name in rows.value]
    compared = Compared("links_and_hops", "CoCoPeLia table II")
    for name, ours in found.items():
        compared.add(name, ours, rows, value=name)
    name = f"share over GPU 2 at {WIDER} GB/s"
    checks = [Check(f"{name}, narrowest link", over_gpu2(WIDER, "bottleneck"), 1.0, least=True),
              Check(f"{name}, added times", over_gpu2(WIDER, "added"), 0.0)]
    return Outcome(rows, compared.findings, checks)
