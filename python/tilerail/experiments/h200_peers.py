"""Peers on eight H200: TileRail against the fastest other library on every measured problem.

Policy `tilerail` chooses everything.
"""

import numpy
import pandas

from .harness import Check, hardware, MEASURED_COLOUR, Outcome, Run

NAME, QUICK_SIDE, LONGEST_BAR = "h200_peers", 8192, 2.7
EACH_TARGET, MEAN_TARGET = 1.00, 0.80  # our median / the fastest peer's


def cases(options, gpus: int, quick: bool) -> pandas.DataFrame:
    problems = hardware.peers("hgx_h200_peers").drop(columns=["library", "seconds"]).drop_duplicates()
    problems = problems[(problems.gpus <= gpus) | options.fewer_gpus]
    if quick:
        problems = problems[(problems.m == problems.k) & (problems.m <= QUICK_SIDE)]
    used = problems.gpus.clip(1, max(1, gpus))
    return problems.assign(gpus=used, place=[hardware.on_fewer(*each) for each in zip(problems.place, used)])


def draw(figure, found: pandas.DataFrame, peers: pandas.DataFrame) -> None:
    """Times over the fastest peer's."""
    times = peers.pivot(index="label", columns="library", values="seconds").loc[found.label]
    times = times.assign(TileRail=found.set_index("label").measured_s).div(found.set_index("label").fastest, axis=0)
    axes = times.plot.barh(ax=figure.subplots(), width=0.8)
    axes.axvline(1, color=MEASURED_COLOUR, lw=0.8)
    axes.set(xlim=(0, LONGEST_BAR), ylabel="", xlabel=f"time / time of the fastest peer (cut at {LONGEST_BAR})")
    axes.invert_yaxis()


def study(run: Run) -> Outcome:
    wanted = cases(run.options, hardware.gpus_of(run.options), run.quick)
    rows, peers = hardware.results(run, NAME, wanted, simulated=False), hardware.peers("hgx_h200_peers")
    best = peers.loc[peers.groupby("label").seconds.idxmin(), ["label", "library", "seconds", "gpus"]]
    found = rows.merge(best.rename(columns={"library": "peer", "seconds": "fastest", "gpus": "of"}), on="label")
    found["ratio"] = found.measured_s / found.fastest
    found["first call, more ms"] = 1e3 * (found.plan_s + found.first_s - found.measured_s)
    checks, names = [], {True: "with the GPUs of the peers", False: "with fewer GPUs"}
    for same, part in found.groupby(found.gpus == found.of):
        mean = numpy.exp(numpy.log(part.ratio).mean())
        checks += [Check(f"{names[same]}: geometric mean of {len(part)}", mean, MEAN_TARGET, share=False),
                   Check(f"{names[same]}: largest", part.ratio.max(), EACH_TARGET, share=False)]
    shown = found[["label", "peer", "fastest", "measured_s", "first call, more ms", "tile", "devices", "ratio"]]
    missing = sorted(set(best.label) - set(found.label))
    return hardware.outcome(run, rows, checks, {"ours over the fastest peer": shown.round(4),
                            "problems that were not run": pandas.DataFrame({"problem": missing})},
                            (lambda figure: draw(figure, found, peers)) if len(found) else None)


def arguments(parser) -> None:
    hardware.add_arguments(parser)
    parser.add_argument("--fewer-gpus", action="store_true", help="run problems of more GPUs with the existing GPUs")
