"""Peers on eight H200: TileRail against the fastest other library on every measured problem.

Policy `tilerail` chooses everything. See docs/experiments.md.
"""

import dataclasses
import pathlib
import statistics

from harness import (GIVEN_GPUS, HardwareParser, Peer, Problem, Results, Row, aligned, finish, over_bound_of,
                     read_peers, results_of, run_experiment)

NAME = "h200_peers"
REFERENCE = pathlib.Path(__file__).resolve().parent / "reference" / "hgx_h200_peers.csv"
EACH_TARGET, MEAN_TARGET = 1.00, 0.80  # our median / the fastest peer's
QUICK_SIDE = 8192
LONGEST_BAR = 2.7


@dataclasses.dataclass(frozen=True)
class Compared:
    problem: Problem
    peers: list[Peer]
    row: Row

    @property
    def ratio(self) -> float:
        return self.row.positive("measured_s") / self.peers[0].seconds

    @property
    def overhead(self) -> float | None:
        """Extra time of the first call over the median of later ones, with planning. None if not measured."""
        if not self.row["first_s"]:
            return None
        return self.row.number("plan_s") + self.row.positive("first_s") - self.row.positive("measured_s")

    @property
    def all_gpus(self) -> bool:
        return self.row.whole(GIVEN_GPUS) == self.problem.gpus


def print_compared(compared: list[Compared]) -> None:
    rows = [["problem", "fastest peer", "ms", "ours ms", "min ms", "first call", "tile", "GPUs used", "ours / peer",
             "over bound", "check", "remark"]]
    for each in compared:
        row = each.row
        first = "-" if each.overhead is None else f"{each.overhead * 1e3:+.2f}"
        remark = "" if each.all_gpus else f"given only {row[GIVEN_GPUS]} GPUs"
        rows.append([each.problem.name, each.peers[0].library, f"{each.peers[0].seconds * 1e3:.2f}",
                     f"{row.positive('measured_s') * 1e3:.2f}", f"{row.positive('measured_min_s') * 1e3:.2f}", first,
                     row["tile"], row["devices"], f"{each.ratio:.3f}", over_bound_of(row), row["check"] or "-", remark])
    print(aligned(rows), end="\n\n")


def print_means(compared: list[Compared]) -> None:
    rows = [["ours / fastest peer", "problems", "geometric mean", f"target {MEAN_TARGET:.2f}", "largest",
             f"target {EACH_TARGET:.2f}"]]
    for name, all_gpus in (("with the GPUs of the peers", True), ("with fewer GPUs", False)):
        ratios = [each.ratio for each in compared if each.all_gpus == all_gpus]
        if not ratios:
            continue
        rows.append([name, str(len(ratios))])
        for value, target in ((statistics.geometric_mean(ratios), MEAN_TARGET), (max(ratios), EACH_TARGET)):
            rows[-1] += [f"{value:.3f}", "reached" if value <= target else "missed"]
    print(aligned(rows))


def print_other(other: list[Row], missing: list[Problem]) -> None:
    if other:
        print("\nno problem of the peers, and not compared:")
        for row in other:
            print(f"  {row['label']}: {row['m']} x {row['n']} x {row['k']}, {row.positive('measured_s') * 1e3:.2f} ms")
    if missing:
        print("\nnot run (because of --quick, or of too few GPUs; see --fewer-gpus):")
        for problem in missing:
            print(f"  {problem.name}")


def draw(figure_type, results: Results, compared: list[Compared]):
    """Bars of all times / the fastest peer's; None if `compared` is empty."""
    if not compared:
        return None
    figure = figure_type(figsize=(8, 1.2 + 0.42 * len(compared)), dpi=150, layout="constrained")
    axes = figure.subplots()
    libraries = sorted({peer.library for each in compared for peer in each.peers})
    colours = dict(zip(["TileRail", *libraries], ("#2a9d8f", "#e9c46a", "#f4a261", "#8d99ae", "#287299", "#9b5de5")))
    height = 0.8 / len(colours)
    for j, each in enumerate(compared):
        times = {"TileRail": each.row.positive("measured_s"), **{peer.library: peer.seconds for peer in each.peers}}
        there = [library for library in colours if library in times]
        for i, library in enumerate(there):
            place, length = j + (i - (len(there) - 1) / 2) * height, times[library] / each.peers[0].seconds
            axes.barh(place, length, height, color=colours[library])
            axes.annotate(f"{length:.2f}", (min(length, LONGEST_BAR - 0.2), place), (2, 0), fontsize=5, va="center",
                          textcoords="offset points")
    axes.axvline(1, color="#30363d", linewidth=0.8)
    axes.set_xlim(0, LONGEST_BAR)
    names = [each.problem.name + ("" if each.all_gpus else f"\n(ours on {each.row[GIVEN_GPUS]})") for each in compared]
    axes.set_yticks(range(len(compared)), names, fontsize=7)
    axes.set_ylim(len(compared) - 0.5, -0.5)
    axes.set_xlabel(f"time / time of the fastest peer (cut at {LONGEST_BAR})", fontsize=8)
    axes.set_title(results.machine, fontsize=9)
    bars = [axes.barh(0, 0, color=colour) for colour in colours.values()]
    axes.legend(bars, colours, fontsize=7, loc="lower right")
    return figure


def main() -> int:
    parser = HardwareParser(__doc__, iterations=10)
    parser.add_argument("--fewer-gpus", action="store_true",
                        help="run problems of more GPUs with the existing GPUs, and mark them")
    options = parser.parse_args()
    peers = read_peers(REFERENCE)
    wanted = [] if options.from_saved else [
        problem for problem in peers if (options.fewer_gpus or problem.gpus <= options.gpus)
        and (not options.quick or problem.m == problem.n == problem.k <= QUICK_SIDE)]
    results = results_of(NAME, options, [problem.case(options.gpus) for problem in wanted], simulated=False)
    named = {problem.name: problem for problem in peers}
    found = [Compared(named[row["label"]], peers[named[row["label"]]], row) for row in results.rows
             if row["label"] in named]
    if found:
        print_compared(found)
        print_means(found)
    there = {each.problem for each in found}
    print_other([row for row in results.rows if row["label"] not in named],
                [problem for problem in peers if problem not in there and problem not in wanted])
    return finish(NAME, options, results, lambda figure_type: draw(figure_type, results, found))


if __name__ == "__main__":
    run_experiment(main)
