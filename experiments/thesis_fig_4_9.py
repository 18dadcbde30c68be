"""Thesis figures 4.9 and 4.10: PARALiA-GEMMex against cuBLASXt, XKBLAS and PARALiA, FP64 and FP32, on eight A100.

Squares of the regular dataset (thesis 4.3.1.3), all matrices on the host and all on GPU 0; the mean of the factors is
compared with the published one. `tilerail` is shown, too. See docs/experiments.md.
"""

import statistics

from harness import (COLOURS, KAROLINA, REGULAR_SIZES, SIMULATED_COLUMNS, Outcome, Paper, Simulation,
                     beside_published, karolina_tile, near_best, policy_of, read_measured, run_experiment, sample,
                     simulated_cells, sizes)
from karolina_gemmex import TABLE, TARGETS, real_tile

NAME = "thesis_fig_4_9"
PLACES = ("h:h:h", "0:0:0")
DTYPES = ("f64", "f32")
OURS = "PARALiA-GEMMex"
OTHERS = ("cuBLASXt", "XKBLAS", "PARALiA")
ALL = "0-7"  # devices of measured rows


def study(tilerail, options) -> Outcome:
    chosen = sample(options.sizes, options.quick, 3)
    wanted = {(dtype, place, size, library):
              Simulation(str(size), KAROLINA, place, policy_of(library, karolina_tile(library, size)), dtype=dtype)
              for dtype in DTYPES for place in PLACES for size in chosen for library in (OURS, *OTHERS, "tilerail")}
    found = tilerail.simulate(wanted.values())
    results = {key: found[simulation] for key, simulation in wanted.items()}

    def factors(dtype: str, place: str, library: str) -> list[float]:
        return [results[dtype, place, size, library]["makespan_s"] / results[dtype, place, size, OURS]["makespan_s"]
                for size in chosen]

    ours = {f"{dtype} {place}, over {library}": statistics.mean(factors(dtype, place, library))
            for dtype in DTYPES for place in PLACES for library in OTHERS}
    for dtype in DTYPES:
        ours[f"{dtype}, over XKBLAS and PARALiA"] = statistics.mean(
            factor for place in PLACES for library in OTHERS[1:] for factor in factors(dtype, place, library))

    def draw(figure):
        panels = figure.subplots(len(DTYPES), len(PLACES), sharex=True, sharey=True)
        for line, dtype in zip(panels, DTYPES):
            for axes, place in zip(line, PLACES):
                for library in (OURS, *OTHERS, "tilerail"):
                    rates = [results[dtype, place, size, library]["tflops"] for size in chosen]
                    axes.plot([size / 1024 for size in chosen], rates, "o-", ms=2, lw=1, color=COLOURS[library],
                              label=library)
                axes.set_title(f"{dtype}, {place}", fontsize=7)
                axes.tick_params(labelsize=6)
        panels[0][0].legend(fontsize=5)
        panels[0][0].set_ylabel("TFLOP/s, simulated", fontsize=6)
        panels[-1][0].set_xlabel("M = N = K, 1024s", fontsize=6)

    rows = [[dtype, place, size, library, *simulated_cells(each)]
            for (dtype, place, size, library), each in results.items()]
    columns = ["dtype", "place", "size", "library", *SIMULATED_COLUMNS]
    measured = measured_factors()
    table = [["f64, measured rows", "mean factor", "by size"]]
    table += [[f"{place}, {library} over {OURS}", f"{statistics.mean(factors.values()):.2f}",
               ", ".join(f"{size // 1024}K {factor:.2f}" for size, factor in factors.items())]
              for (place, library), factors in measured.items()]
    seconds = {}
    for (*problem, library), each in results.items():
        seconds.setdefault(tuple(problem), {})[library] = each["makespan_s"]
    # Fitted to FP64 rows of these libraries (karolina_gemmex): the overhead of PARALiA, and columns of both.
    findings = beside_published(NAME, ours, lambda name: name.startswith("f64") and "PARALiA" in name)
    findings += near_best(seconds)
    return Outcome(f"{KAROLINA}, simulated", columns, rows, findings, [table], draw)


def measured_factors() -> dict[tuple[str, str], dict[int, float]]:
    """By placement and library: squares of karolina_dgemm.csv on all GPUs, the library's time / ours."""
    seconds = {}
    for row in read_measured(TABLE, KAROLINA, TARGETS, real_tile):
        if row.devices == ALL and len(set(row.sizes)) == 1:
            seconds[row.place, row.library, row.sizes[0]] = row.seconds
    found = {}
    for (place, library, size), took in sorted(seconds.items()):
        if library in OTHERS and (ours := seconds.get((place, OURS, size))):
            found.setdefault((place, library), {})[size] = took / ours
    return found


def arguments(parser) -> None:
    parser.add_argument("--sizes", type=sizes, default=REGULAR_SIZES, metavar="LIST",
                        help="these instead of the regular dataset, for example 8K,16K")


PAPER = Paper(NAME, __doc__, study, arguments, height=4.0,
              why="copies of cuBLASXt from GPU to GPU over the host were measured on another machine only; the rest "
                  "is unknown")

if __name__ == "__main__":
    run_experiment(PAPER.main)
