"""Emulated libraries on GPUs: times of `gemmex` and `xkblas` plans against the libraries themselves.

TileRail's plans run every problem measured with the libraries, on as many GPUs. See docs/experiments.md.
"""

import dataclasses
import math
import pathlib
import statistics

from harness import (COLOURS, HardwareParser, Peer, Problem, Results, Row, aligned, finish, read_peers, results_of,
                     run_experiment)

NAME = "h200_libraries"
REFERENCE = pathlib.Path(__file__).resolve().parent / "reference" / "hgx_h200_2_peers.csv"
TILES = {"PARALiA-GEMMex": (None,), "XKBLAS": (None, 1024, 2048, 4096)}  # as measured; None: the library's own
POLICIES = {"PARALiA-GEMMex": "gemmex", "XKBLAS": "xkblas"}
TARGET = 0.15  # of |plan / library - 1|, for PARALiA-GEMMex
QUICK_SIDE = 4096
LIMIT = 0.5  # for the figure


@dataclasses.dataclass(frozen=True)
class Beside:
    """A library's time, and the time of the plan with the best of the library's tiles."""

    problem: Problem
    peer: Peer
    row: Row

    @property
    def error(self) -> float:
        return self.row.positive("measured_s") / self.peer.seconds - 1

    @property
    def simulated(self) -> float:
        return self.row.positive("predicted_s") / self.row.positive("measured_s") - 1


def key_of(row: Row) -> tuple:
    return (row.whole("m"), row.whole("n"), row.whole("k"), row["dtype"], row["place"], row["policy"].split("+")[0])


def beside(peers: dict[Problem, list[Peer]], rows: list[Row]) -> list[Beside]:
    found = {}
    for row in rows:
        best = found.get(key_of(row))
        if best is None or row.positive("measured_s") < best.positive("measured_s"):
            found[key_of(row)] = row
    return [Beside(problem, peer, found[key]) for problem, all_peers in peers.items() for peer in all_peers
            if (key := (problem.m, problem.n, problem.k, problem.dtype, problem.place,
                        POLICIES[peer.library])) in found]


def print_rows(compared: list[Beside]) -> None:
    lines = [["problem", "library", "its ms", "plan's ms", "tile", "plan / library", "simulated", "check"]]
    for each in sorted(compared, key=lambda one: one.peer.library):
        lines.append([each.problem.name, each.peer.library, f"{each.peer.seconds * 1e3:.2f}",
                      f"{each.row.positive('measured_s') * 1e3:.2f}", each.row["tile"], f"{each.error:+.1%}",
                      f"{each.simulated:+.1%}", each.row["check"] or "-"])
    print(aligned(lines), end="\n\n")


def print_summary(compared: list[Beside]) -> None:
    lines = [["library", "problems", "median |plan / library - 1|", "largest", f"within {TARGET:.0%}"]]
    for library in sorted({each.peer.library for each in compared}):
        errors = [abs(each.error) for each in compared if each.peer.library == library]
        lines.append([library, str(len(errors)), f"{statistics.median(errors):.1%}", f"{max(errors):.1%}",
                      f"{sum(error <= TARGET for error in errors)} of {len(errors)}"])
    print(aligned(lines))


def draw(figure_type, results: Results, compared: list[Beside]):
    """Bars of plan / library - 1, with the target's band; None if `compared` is empty."""
    if not compared:
        return None
    figure = figure_type(figsize=(8, 1.2 + 0.3 * len(compared)), dpi=150, layout="constrained")
    axes = figure.subplots()
    axes.axvspan(-TARGET, TARGET, color="#e9ecef")
    for i, each in enumerate(sorted(compared, key=lambda one: one.peer.library)):
        axes.barh(i, math.copysign(min(abs(each.error), LIMIT), each.error), 0.7, color=COLOURS[each.peer.library])
        axes.annotate(f"{each.error:+.0%}", (0.01, i), fontsize=6, va="center")
    names = [f"{each.problem.name}, {each.peer.library}" for each in sorted(compared, key=lambda one: one.peer.library)]
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(-LIMIT, LIMIT)
    axes.set_xlabel("time of the emulated plan / time of the library - 1", fontsize=8)
    axes.set_title(results.machine, fontsize=9)
    return figure


def main() -> int:
    options = HardwareParser(__doc__, iterations=10).parse_args()
    peers = read_peers(REFERENCE)
    cases = [dataclasses.replace(problem.case(options.gpus), policy=POLICIES[peer.library], tile=tile)
             for problem, all_peers in peers.items() for peer in all_peers for tile in TILES[peer.library]
             if not options.from_saved and problem.gpus <= options.gpus
             and (not options.quick or max(problem.m, problem.n, problem.k) <= QUICK_SIDE)]
    results = results_of(NAME, options, cases)
    compared = beside(peers, results.rows)
    if compared:
        print_rows(compared)
        print_summary(compared)
    else:
        print("none of these problems was measured with a library" +
              (": --shrink changes them" if options.shrink > 1 else ""))
    return finish(NAME, options, results, lambda figure_type: draw(figure_type, results, compared))


if __name__ == "__main__":
    run_experiment(main)
