"""Ranking on H200: does the simulator order policies and tiles as the hardware does?

Each problem is a group of alternatives. Kendall's tau-b compares the two orders. The regret is the loss from choosing
by simulation: measured time of the simulated best / measured best, minus 1.
"""

import math

import pandas

from tilerail import InputError

from .harness import Check, hardware, Outcome, Run

NAME, QUICK = "h200_ranking", 3
PROBLEMS = [(16384, 16384, 16384, "h:h:h"), (8192, 8192, 8192, "h:h:h"), (4096, 4096, 4096, "h:h:h"),
            (16384, 16384, 16384, "0:0:0"), (8192, 8192, 8192, "0:0:0"), (16384, 16384, 16384, "3:2:1"),
            (16384, 16384, 16384, "0:1:h"), (3000, 3000, 30000, "h:h:h"), (30000, 30000, 3000, "h:h:h"),
            (12288, 6144, 12288, "h:h:h")]
ALTERNATIVES = [("tilerail", 1024, ""), ("tilerail", 1536, ""), ("tilerail", 2048, ""), ("tilerail", 3072, ""),
                ("tilerail", 4096, ""), ("gemmex", 2048, ""), ("gemmex", 4096, "batch=off"),
                ("tilerail", 2048, "batch=off"), ("tilerail", 2048, "batch=chain(chunks=2)"), ("baseline", 4096, "")]
TAU_TARGET, REGRET_TARGET = 0.9, 0.01


def kendall_tau(a: list[float], b: list[float]) -> float:
    """Kendall's tau-b: 1 for equal orders, -1 for opposite ones; 0 if one list is all ties (Rank Correlation Methods,
    chapter 3)."""
    pairs = [((a[i] > a[j]) - (a[i] < a[j]), (b[i] > b[j]) - (b[i] < b[j])) for i in range(len(a)) for j in range(i)]
    untied = [sum(side != 0 for side in sides) for sides in zip(*pairs)] if pairs else [0, 0]
    return sum(x * y for x, y in pairs) / math.sqrt(untied[0] * untied[1]) if all(untied) else 0.0


def ranking(of: pandas.DataFrame) -> pandas.Series:
    if len(of) < 2:
        raise InputError("group", of.group.iloc[0], "has one case", "alternatives")
    simulated, measured = of.loc[of.predicted_s.idxmin()], of.loc[of.measured_s.idxmin()]
    return pandas.Series({"tau": kendall_tau(list(of.predicted_s), list(of.measured_s)),
                          "regret": simulated.measured_s / measured.measured_s - 1, "simulated best": simulated.label,
                          "measured best": measured.label, "best ms": 1e3 * measured.measured_s})


def draw(figure, rows: pandas.DataFrame, found: pandas.DataFrame) -> None:
    """A panel for each problem: its alternatives, simulated over measured ms."""
    columns = min(4, len(found))
    panels = figure.subplots(-(-len(found) // columns), columns, squeeze=False).flat
    for axes, (group, of) in zip(panels, rows.groupby("group", sort=False)):
        limit = 1.1e3 * max(of.measured_s.max(), of.predicted_s.max())
        axes.plot([0, limit], [0, limit], color="#adb5bd", lw=0.8)
        for label, row in of.set_index("label").iterrows():
            axes.plot(1e3 * row.measured_s, 1e3 * row.predicted_s, "o", ms=3, label=label)
        axes.set_title(f"{group}\ntau {found.tau[group]:+.2f}, regret {found.regret[group]:.1%}")
    figure.axes[0].legend()
    figure.supxlabel("measured ms")
    figure.supylabel("simulated ms")


def study(run: Run) -> Outcome:
    gpus = hardware.gpus_of(run.options)
    cases = [] if not gpus else [
        (m, n, k, hardware.on_fewer(place, gpus), gpus, policy, tile, fields, f"{policy} T={tile} {fields}".strip())
        for m, n, k, place in (PROBLEMS[:QUICK] if run.quick else PROBLEMS) for policy, tile, fields in ALTERNATIVES]
    cases = pandas.DataFrame(cases, columns=["m", "n", "k", "place", "gpus", "policy", "tile", "set", "label"])
    cases["group"] = [f"{m} x {n} x {k} {place}" for m, n, k, place in zip(cases.m, cases.n, cases.k, cases.place)]
    rows = hardware.results(run, NAME, cases)
    found = rows.groupby("group", sort=False)[list(rows.columns)].apply(ranking)
    checks = [Check("mean tau", found.tau.mean(), TAU_TARGET, least=True, share=False),
              Check("mean regret", found.regret.mean(), REGRET_TARGET)]
    return hardware.outcome(run, rows, checks, {"problems": found.round(4).reset_index()},
                            lambda figure: draw(figure, rows, found))


def arguments(parser) -> None:
    hardware.add_arguments(parser, 5)
