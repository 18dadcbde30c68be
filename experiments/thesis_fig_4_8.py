"""Thesis figure 4.8: what each optimisation of PARALiA-GEMMex gains on eight A100 of Karolina.

Simulates FP64 squares of the regular dataset (thesis 4.3.1.3) with all data on the host and all on GPU 0, from the
baseline to all optimisations, adding one step at a time, and compares the mean speed-up of each step with the published
one. See docs/experiments.md.
"""

import statistics

from harness import (BOUND_COLUMNS, KAROLINA, REGULAR_SIZES, Outcome, Paper, Simulation, beside_published, over_bound,
                     run_experiment, sample, sizes)

NAME = "thesis_fig_4_8"
PLACES = ("h:h:h", "0:0:0")
_GEMMEX = ("--policy", "gemmex")  # each step disables the later ones
_EAGER = (*_GEMMEX, "--set", "c-tiles=eager", "--set", "order=fifo")
_ALONE = (*_EAGER, "--set", "batch=off")
STEPS = {
    "baseline": (*_ALONE, "--set", "routing=initial", "--set", "caching=off", "--set", "overlap=off",
                 "--set", "compute-streams=1"),
    "cache+overlap": (*_ALONE, "--set", "routing=initial"),
    "bandwidth": (*_ALONE, "--set", "routing=bandwidth"),
    "eta+batch": _EAGER,
    "lazy+order": _GEMMEX,
}


def simulate_all(tilerail, chosen: list[int]) -> dict[tuple[str, int, str], dict]:
    """Results by placement, size and step."""
    wanted = {(place, size, step): Simulation(str(size), KAROLINA, place, policy)
              for place in PLACES for size in chosen for step, policy in STEPS.items()}
    results = tilerail.simulate(wanted.values())
    return {key: results[simulation] for key, simulation in wanted.items()}


def factor(results: dict, place: str, size: int, step: str) -> float:
    """Speed-up of a step over the previous one."""
    before = list(STEPS)[list(STEPS).index(step) - 1]
    return results[place, size, before]["makespan_s"] / results[place, size, step]["makespan_s"]


def mean_factor(results: dict, place: str | None, chosen: list[int], step: str) -> float:
    """Mean over all sizes, and over both placements if `place` is None."""
    return statistics.mean(factor(results, each, size, step)
                           for each in ([place] if place else PLACES) for size in chosen)


def bar_factor(results: dict, place: str, chosen: list[int], step: str) -> float:
    """Ratio of a bar of the figure to the previous one: large sizes, which have large rates, weigh more."""
    before = list(STEPS)[list(STEPS).index(step) - 1]
    return mean_rate(results, place, chosen, step) / mean_rate(results, place, chosen, before)


def mean_rate(results: dict, place: str, chosen: list[int], step: str) -> float:
    """TFLOP/s: the height of a bar of the figure."""
    return statistics.mean(results[place, size, step]["tflops"] for size in chosen)


def size_table(results: dict, chosen: list[int], place: str) -> list[list[str]]:
    """Milliseconds (TFLOP/s) x speed-up over the previous step."""
    rows = [[f"{place}, ms (TFLOP/s)", "tile", *STEPS, "bound", "last step over it"]]
    for size in chosen:
        cells = []
        for step in STEPS:
            result = results[place, size, step]
            gain = f" x{factor(results, place, size, step):.2f}" if step != "baseline" else ""
            cells.append(f"{result['makespan_s'] * 1e3:.1f} ({result['tflops']:.1f}){gain}")
        last = results[place, size, list(STEPS)[-1]]
        rows.append([str(size), str(last["tile"]), *cells, f"{last['bound_s'] * 1e3:.1f}",
                     over_bound(last["makespan_s"], last)])
    return [*rows, ["mean rate", "", *(f"({mean_rate(results, place, chosen, step):.1f})" for step in STEPS)]]


def factor_tables(results: dict, chosen: list[int]) -> list[list[list[str]]]:
    factors, bars = [["mean speed-up over the step before", *PLACES, "both"]], [["ratio of the mean rates", *PLACES]]
    for step in list(STEPS)[1:]:
        factors.append([step, *(f"{mean_factor(results, place, chosen, step):.2f}" for place in (*PLACES, None))])
        bars.append([step, *(f"{bar_factor(results, place, chosen, step):.2f}" for place in PLACES)])
    return [factors, bars]


def draw(figure, results: dict, chosen: list[int]) -> None:
    """Bars of the mean rate: a cluster per placement."""
    axes = figure.subplots()
    width = 0.8 / len(STEPS)
    colours = ("#e9c46a", "#f4a261", "#8ab17d", "#2a9d8f", "#287299")
    for i, (step, colour) in enumerate(zip(STEPS, colours)):
        rates = [mean_rate(results, place, chosen, step) for place in PLACES]
        places = [cluster + (i - (len(STEPS) - 1) / 2) * width for cluster in range(len(PLACES))]
        bars = axes.bar(places, rates, width, color=colour, label=step if i == 0 else f"+ {step}")
        gains = ["" if i == 0 else f"{mean_factor(results, place, chosen, step):.2f}x" for place in PLACES]
        axes.bar_label(bars, gains, fontsize=7)
    axes.set_xticks(range(len(PLACES)), PLACES, fontsize=7)
    axes.tick_params(axis="y", labelsize=6)
    axes.set_ylabel("mean TFLOP/s, simulated", fontsize=7)
    axes.set_title(f"{KAROLINA}, 8 GPUs, FP64, M = N = K of {chosen[0]} to {chosen[-1]}", fontsize=8)
    axes.legend(fontsize=6, ncols=3, loc="upper left")
    axes.set_ylim(top=axes.get_ylim()[1] * 1.18)


def study(tilerail, options) -> Outcome:
    chosen = sample(options.sizes, options.quick, 4)
    results = simulate_all(tilerail, chosen)
    ours = {f"{step}, {place or 'both'}": mean_factor(results, place, chosen, step)
            for step in list(STEPS)[1:] for place in (*PLACES, None)}
    rows = [[size, place, step, result["tile"], repr(result["makespan_s"]), f"{result['tflops']:.4f}",
             result["busiest"]["name"], f"{result['busiest']['share']:.3f}",
             *(result[column] for column in BOUND_COLUMNS)] for (place, size, step), result in results.items()]
    columns = ["size", "place", "step", "tile", "makespan_s", "tflops", "busiest", "busiest_share", *BOUND_COLUMNS]
    tables = [*(size_table(results, chosen, place) for place in PLACES), *factor_tables(results, chosen)]
    return Outcome(f"{KAROLINA}, simulated", columns, rows, beside_published(NAME, ours), tables,
                   lambda figure: draw(figure, results, chosen))


def arguments(parser) -> None:
    parser.add_argument("--sizes", type=sizes, default=REGULAR_SIZES, metavar="LIST",
                        help="these instead of the regular dataset, for example 8K,16K")


PAPER = Paper(NAME, __doc__, study, arguments,
              why="the thesis does not name the tile of its baseline, and the factor of cache+overlap depends on N "
                  "over T; why batches gain more here is unknown; GEMMex's order over all sub-problems cancels the "
                  "gain of lazy C")


if __name__ == "__main__":
    run_experiment(PAPER.main)
