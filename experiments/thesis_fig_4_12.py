"""Thesis figure 4.12: PARALiA-GEMMex against the other libraries on the 305 points of the irregular dataset.

Squares, fat by thin and thin by fat at five placements (thesis 4.3.5), FP64 on eight A100. According to
the thesis, GEMMex is the fastest for all shapes and placements; this is compared. The thesis also prints mean factors
over each library, by shape, which are not compared yet. See docs/experiments.md.
"""

import statistics

from harness import (COLOURS, KAROLINA, REGULAR_SIZES, SIMULATED_COLUMNS, Outcome, Paper, Simulation, beside_published,
                     karolina_tile, near_best, policy_of, run_experiment, sample, simulated_cells)
from thesis_fig_4_9 import OTHERS, OURS

NAME = "thesis_fig_4_12"
PLACES = ("h:h:h", "0:0:0", "4:2:h", "h:h:0", "4:2:7")
RATIOS = (4, 8, 16)
SHAPES = {
    "square": [(side, side, side) for side in REGULAR_SIZES],
    "fat by thin": [(side, side, side // r) for side in range(16384, 40960 + 1, 4096) for r in RATIOS],
    "thin by fat": [(side, side, side * r) for side in range(5120, 11264 + 1, 1024) for r in RATIOS],
}
LIBRARIES = (OURS, *OTHERS, "tilerail")


def dataset() -> list[tuple[str, tuple[int, int, int], str]]:
    """Shape, sizes and placement of each point."""
    return [(shape, sides, place) for shape, all_sides in SHAPES.items() for place in PLACES for sides in all_sides]


def fastest(times: list[dict[str, float]]) -> float:
    """The share of points at which GEMMex is the fastest of the papers' libraries."""
    won = [each[OURS] <= min(each[library] for library in OTHERS) for each in times]
    return sum(won) / len(won)


def study(tilerail, options) -> Outcome:
    problems = sample(dataset(), options.quick, 15)
    wanted = {(problem, library): Simulation(",".join(map(str, problem[1])), KAROLINA, problem[2],
                                             policy_of(library, karolina_tile(library, min(problem[1]))))
              for problem in problems for library in LIBRARIES}
    found = tilerail.simulate(wanted.values())
    results = {key: found[simulation] for key, simulation in wanted.items()}
    seconds = {problem: {library: results[problem, library]["makespan_s"] for library in LIBRARIES}
               for problem in problems}
    fastest_of_four = {}
    factors = [["GEMMex over", *(f"{shape}, {kind}" for shape in SHAPES for kind in ("mean", "least"))]]
    for library in OTHERS:
        factors.append([library])
        for shape in SHAPES:
            gains = [each[library] / each[OURS] for problem, each in seconds.items() if problem[0] == shape]
            factors[-1] += [f"{statistics.mean(gains):.2f}", f"{min(gains):.2f}"] if gains else ["-", "-"]
    for shape in SHAPES:
        if times := [each for problem, each in seconds.items() if problem[0] == shape]:
            fastest_of_four[f"{OURS} the fastest of four, {shape}"] = fastest(times)

    def draw(figure):
        for axes, shape in zip(figure.subplots(1, len(SHAPES), sharey=True), SHAPES):
            rates = [[results[problem, library]["tflops"] for problem in problems if problem[0] == shape]
                     for library in LIBRARIES]
            drawn = axes.boxplot(rates, widths=0.6, patch_artist=True, whis=(0, 100), medianprops={"color": "#30363d"})
            for box, library in zip(drawn["boxes"], LIBRARIES):
                box.set_facecolor(COLOURS[library])
            axes.set_xticks(range(1, len(LIBRARIES) + 1), LIBRARIES, fontsize=6, rotation=60)
            axes.tick_params(axis="y", labelsize=6)
            axes.set_title(shape, fontsize=7)
        figure.axes[0].set_ylabel("TFLOP/s, simulated", fontsize=6)
        figure.subplots_adjust(bottom=0.3)

    findings = beside_published(NAME, fastest_of_four) + near_best(seconds)
    rows = [[shape, *sides, place, library, *simulated_cells(each)]
            for ((shape, sides, place), library), each in results.items()]
    columns = ["shape", "m", "n", "k", "place", "library", *SIMULATED_COLUMNS]
    return Outcome(f"{KAROLINA}, simulated", columns, rows, findings, [factors], draw)


PAPER = Paper(NAME, __doc__, study,
              why="according to the thesis, GEMMex is the fastest for all shapes and placements; the CSV contains the "
                  "points where another library wins here; the printed mean factors are not compared yet")

if __name__ == "__main__":
    run_experiment(PAPER.main)
