"""Thesis figure 4.8: what each optimisation of PARALiA-GEMMex gains on eight A100 of Karolina.

Simulates FP64 squares of the regular dataset (thesis 4.3.1.3) with all data on the host and all on GPU 0, from the
baseline to all optimisations, one step more at a time, and compares the mean speed-up of each step with the published
one. See docs/experiments.md.
"""

import os
import statistics

from harness import (BOUND_COLUMNS, Parser, Simulation, Tilerail, aligned, command_text, over_bound, plotting,
                     run_experiment, save_figure, sizes, write_csv)

MACHINE = "karolina-hgx-a100"
SIZES = [*range(5120, 16384 + 1, 1024), *range(20480, 32768 + 1, 2048)]
PLACES = ("h:h:h", "0:0:0")
TOLERANCE = 0.15  # of a factor

_EAGER = ("--set", "c-tiles=eager", "--set", "order=fifo")
STEPS = {
    "baseline": ("--policy", "baseline"),
    "cache+overlap": ("--policy", "gemmex", "--set", "routing=initial", "--set", "batch=off", *_EAGER),
    "bandwidth": ("--policy", "gemmex", "--set", "routing=bandwidth", "--set", "batch=off", *_EAGER),
    "eta+batch": ("--policy", "gemmex", *_EAGER),
    "lazy+order": ("--policy", "gemmex"),
}
# Thesis 4.3.2: step, placement (None: both together), factor over the step before.
PUBLISHED = [("cache+overlap", None, 2.0), ("bandwidth", "h:h:h", 1.33), ("bandwidth", "0:0:0", 1.0),
             ("eta+batch", None, 1.18), ("lazy+order", None, 1.1)]


def simulate_all(tilerail: Tilerail, chosen: list[int]) -> dict[tuple[str, int, str], dict]:
    """Results by placement, size and step."""
    wanted = {(place, size, step): Simulation(str(size), MACHINE, place, policy)
              for place in PLACES for size in chosen for step, policy in STEPS.items()}
    results = tilerail.simulate(wanted.values())
    return {key: results[simulation] for key, simulation in wanted.items()}


def factor(results: dict, place: str, size: int, step: str) -> float:
    """Speed-up of a step over the one before."""
    before = list(STEPS)[list(STEPS).index(step) - 1]
    return results[place, size, before]["makespan_s"] / results[place, size, step]["makespan_s"]


def mean_factor(results: dict, place: str | None, chosen: list[int], step: str) -> float:
    """Over all sizes, and over both placements where `place` is None."""
    return statistics.mean(factor(results, each, size, step)
                           for each in ([place] if place else PLACES) for size in chosen)


def bar_factor(results: dict, place: str, chosen: list[int], step: str) -> float:
    """Ratio of a bar of the figure to the one before: large rates, those of large sizes, weigh more."""
    before = list(STEPS)[list(STEPS).index(step) - 1]
    return mean_rate(results, place, chosen, step) / mean_rate(results, place, chosen, before)


def mean_rate(results: dict, place: str, chosen: list[int], step: str) -> float:
    """TFLOP/s: the height of a bar of the figure."""
    return statistics.mean(results[place, size, step]["tflops"] for size in chosen)


def print_sizes(results: dict, chosen: list[int]) -> None:
    for place in PLACES:
        print(f"{place}: makespan in ms (TFLOP/s) x speed-up over the step before")
        rows = [["size", "tile", *STEPS, "bound", "last step over it"]]
        for size in chosen:
            cells = []
            for step in STEPS:
                result = results[place, size, step]
                gain = f" x{factor(results, place, size, step):.2f}" if step != "baseline" else ""
                cells.append(f"{result['makespan_s'] * 1e3:.1f} ({result['tflops']:.1f}){gain}")
            last = results[place, size, list(STEPS)[-1]]
            rows.append([str(size), str(last["tile"]), *cells, f"{last['bound_s'] * 1e3:.1f}",
                         over_bound(last["makespan_s"], last)])
        bars = ["mean rate", ""]
        for step in STEPS:
            bars.append(f"({mean_rate(results, place, chosen, step):.1f})")
        print(aligned([*rows, bars]), end="\n\n")


def print_factors(results: dict, chosen: list[int]) -> None:
    rows = [["step", *PLACES, "both"]]
    for step in list(STEPS)[1:]:
        rows.append([step, *(f"{mean_factor(results, place, chosen, step):.2f}" for place in (*PLACES, None))])
    print("mean speed-up over the step before")
    print(aligned(rows), end="\n\n")

    rows = [["step", *PLACES]]
    for step in list(STEPS)[1:]:
        rows.append([step, *(f"{bar_factor(results, place, chosen, step):.2f}" for place in PLACES)])
    print("ratio of the mean rates (bars of the figure)")
    print(aligned(rows), end="\n\n")

    rows = [["step", "placement", "simulated", "published", "difference", f"within {TOLERANCE}"]]
    for step, place, published in PUBLISHED:
        got = mean_factor(results, place, chosen, step)
        verdict = "within" if abs(got - published) <= TOLERANCE else "outside"
        rows.append([step, place or "both", f"{got:.2f}", f"{published:.2f}", f"{got - published:+.2f}", verdict])
    print("against the thesis, section 4.3.2")
    print(aligned(rows))


def draw(path: str, results: dict, chosen: list[int]) -> bool:
    """Bars of the mean rate: a cluster for each placement. False without matplotlib."""
    figure_type = plotting()
    if figure_type is None:
        return False
    figure = figure_type(figsize=(7, 3.5), dpi=150, layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(STEPS)
    colours = ("#e9c46a", "#f4a261", "#8ab17d", "#2a9d8f", "#287299")
    for i, (step, colour) in enumerate(zip(STEPS, colours)):
        rates = [mean_rate(results, place, chosen, step) * 1e3 for place in PLACES]
        places = [cluster + (i - (len(STEPS) - 1) / 2) * width for cluster in range(len(PLACES))]
        bars = axes.bar(places, rates, width, color=colour, label=step if i == 0 else f"+ {step}")
        gains = ["" if i == 0 else f"{mean_factor(results, place, chosen, step):.2f}x" for place in PLACES]
        axes.bar_label(bars, gains, fontsize=7)
    axes.set_xticks(range(len(PLACES)), PLACES)
    axes.set_ylabel("mean GFLOP/s, simulated")
    axes.set_title(f"{MACHINE}, 8 GPUs, FP64, M = N = K of {chosen[0]} to {chosen[-1]}", fontsize=9)
    axes.legend(fontsize=7, ncols=3, loc="upper left")
    axes.set_ylim(top=axes.get_ylim()[1] * 1.18)
    save_figure(figure, path)
    return True


def save(folder: str, version: str, results: dict, chosen: list[int]) -> None:
    rows = []
    for (place, size, step), result in results.items():
        busiest = result["busiest"]
        rows.append([size, place, step, result["tile"], repr(result["makespan_s"]), f"{result['tflops']:.4f}",
                     busiest["name"], f"{busiest['share']:.3f}", *(result[column] for column in BOUND_COLUMNS)])
    table, figure = (os.path.join(folder, "thesis_fig_4_8" + extension) for extension in (".csv", ".png"))
    header = {"version": version, "machine": f"{MACHINE}, simulated", "command": command_text()}
    columns = ["size", "place", "step", "tile", "makespan_s", "tflops", "busiest", "busiest_share", *BOUND_COLUMNS]
    write_csv(table, header, columns, rows)
    drawn = draw(figure, results, chosen)
    print(f"\nwritten: {table}" + (f", {figure}" if drawn else "; no figure: matplotlib is missing"))


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--sizes", type=sizes, default=SIZES, metavar="LIST",
                        help="these instead of the regular dataset, for example 8K,16K")
    options = parser.parse_args()
    tilerail = Tilerail(options.tilerail, options.jobs)
    version = tilerail.version()
    results = simulate_all(tilerail, options.sizes)
    print_sizes(results, options.sizes)
    print_factors(results, options.sizes)
    save(options.output, version, results, options.sizes)


if __name__ == "__main__":
    run_experiment(main)
