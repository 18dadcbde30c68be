"""Thesis table 3.1: the link map's functions, by the example of three GPUs that its text gives.

GPU 0 to 1 at 1 GB/s, 0 to 2 at 3 GB/s and 2 to 1 at 4 GB/s: copies from 0 to 1 go over 2 if one hop is allowed. With 2
GB/s from 0 to 1, arithmetic separates the two rules for hops: with added times, 1/3 + 1/4 > 1/2, the hop does not pay;
with the narrowest link it does. This is a unit test and no verdict on the paper.
"""

import pandas

import tilerail as tr

from .harness import Check, Compared, Experiment, FOUR_GPUS, Outcome, Run

PRINTED, WIDER = 1, 2  # GB/s from GPU 0 to 1: as printed, and for different rules
SIZE, TILE = 4096, 1024
CASES = [(rate, hops, rule) for rate in (PRINTED, WIDER) for hops, rule in
         ((0, "bottleneck"), (1, "bottleneck"), (1, "added"))]


def machine(straight: int) -> tr.Machine:
    """Three GPUs with slow host links, which the thesis does not name."""
    three = tr.machine(FOUR_GPUS).set("gpus", 3)
    for link, rate in (("host<->*", 0.1), ("gpu0<->gpu1", straight), ("gpu0<->gpu2", 3), ("gpu1<->gpu2", 4)):
        three = three.set(f"link:{link}.bandwidth", f"{rate} GB/s")
    return three


def traffic(case: tuple[int, int, str]) -> pandas.DataFrame:
    """Copied tiles by link: A is on GPU 0, B and C are on GPU 1, which computes with GPU 2."""
    straight, hops, rule = case
    options = {"routing": f"link-map(max-hops={hops},rule={rule})"}
    found = tr.simulate(tr.gemm(SIZE, place="0:1:1"), machine(straight), "paralia", tile=TILE, options=options).timeline
    found = found[(found.kind == "copy") & (found.src != found.dst)].astype({"src": str, "dst": str})
    tiles = found.groupby(["src", "dst"]).bytes.sum() / (8 * TILE**2)
    return tiles.reset_index(name="tiles").assign(gb_per_s=straight, max_hops=hops, hop_rule=rule)


def draw(figure, rows):
    rows = rows.assign(case=[f"{rate} GB/s, " + (f"1 hop, {rule}" if hops else "no hop")
                             for rate, hops, rule in zip(rows.gb_per_s, rows.max_hops, rows.hop_rule)],
                       link=rows.src.str[3:] + " to " + rows.dst.str[3:])
    axes = figure.subplots()
    rows.pivot(index="link", columns="case", values="tiles").plot.bar(ax=axes, width=0.8, rot=0)
    axes.set(xlabel="", ylabel="tiles copied")
    axes.legend(title="")


def study(run: Run) -> Outcome:
    rows = pandas.concat(run.map(traffic, CASES), ignore_index=True)

    def over_gpu2(rate: int, rule: str) -> float:
        """The share of the transfers from GPU 0 to 1 that go over GPU 2."""
        of = rows[(rows.gb_per_s == rate) & (rows.src == "gpu0") & (rows.dst == "gpu1")]
        before, after = (of[(of.max_hops == hops) & (of.hop_rule == by)].tiles.sum()
                         for hops, by in ((0, "bottleneck"), (1, rule)))
        return 1 - after / before

    compared = Compared("thesis_table_3_1")
    compared.add("share of the transfers of 0 to 1 over gpu2", over_gpu2(PRINTED, "bottleneck"),
                 rows.assign(machine="three-gpus"))
    name = f"share over GPU 2 at {WIDER} GB/s"
    checks = [Check(f"{name}, narrowest link", over_gpu2(WIDER, "bottleneck"), 1.0, least=True),
              Check(f"{name}, added times", over_gpu2(WIDER, "added"), 0.0)]
    return Outcome(rows, compared.findings, checks, {}, lambda figure: draw(figure, rows))


EXPERIMENT = Experiment("thesis_table_3_1", __doc__, study, "PARALiA", whole=True)
