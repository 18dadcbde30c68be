"""Thesis figure 4.11: strong scaling of PARALiA-GEMMex and other libraries on one to eight A100.

Three squares, from the host and from GPU 0, on the GPUs of thesis 4.3.4: 0, then 0 and 2, then 0, 2, 4 and 6, then all.
The speed-up of eight GPUs is compared with the speed-up in the evaluation data. The thesis also prints speed-ups on
two, four and eight GPUs (4.3.4), which are not compared yet. See docs/experiments.md.
"""

from harness import (COLOURS, KAROLINA, SIMULATED_COLUMNS, Finding, Outcome, Paper, Simulation, Value, karolina_tile,
                     near_best, policy_of, read_measured, run_experiment, simulated_cells)
from karolina_gemmex import FITTED, TABLE, TARGETS, real_tile

NAME = "thesis_fig_4_11"
SIZES = (8192, 16384, 32768)
PLACES = ("h:h:h", "0:0:0")
GPUS = {1: "0", 2: "0,2", 4: "0,2,4,6", 8: "all"}
LIBRARIES = ("PARALiA-GEMMex", "cuBLASXt", "XKBLAS", "PARALiA", "tilerail")
WHERE, TOLERANCE = "thesis 4.3.4, evaluation data", "20%"


def measured_speed_ups() -> dict[tuple[str, str, int], float]:
    """Eight GPUs over one, by library, placement and size."""
    seconds = {}
    for row in read_measured(TABLE, KAROLINA, TARGETS, real_tile):
        seconds.setdefault((row.library, row.place, row.sizes[0]), {})[row.devices] = row.seconds
    return {key: each["0"] / each["0-7"] for key, each in seconds.items() if len(each) == 2 and key[1] in PLACES}


def study(tilerail, options) -> Outcome:
    chosen = SIZES[:1] if options.quick else SIZES
    wanted = {(library, place, size, count):
              Simulation(str(size), KAROLINA, place, policy_of(library, karolina_tile(library, size)), devices)
              for size in chosen for place in PLACES for count, devices in GPUS.items() for library in LIBRARIES}
    found = tilerail.simulate(wanted.values())
    results = {key: found[simulation] for key, simulation in wanted.items()}
    findings, seconds = [], {}
    for (library, place, size), measured in measured_speed_ups().items():
        if (library, place, size, 8) in results:
            ours = results[library, place, size, 1]["makespan_s"] / results[library, place, size, 8]["makespan_s"]
            name = f"{library}, {size} {place}"
            findings.append(Finding(Value(name, WHERE, measured, measured, TOLERANCE, "x"), ours, library in FITTED))
    for (library, *problem), each in results.items():
        seconds.setdefault(tuple(problem), {})[library] = each["makespan_s"]

    def draw(figure):
        panels = figure.subplots(len(PLACES), len(chosen), squeeze=False, sharex=True)
        for line, place in zip(panels, PLACES):
            for axes, size in zip(line, chosen):
                for library in LIBRARIES:
                    axes.plot(list(GPUS), [results[library, place, size, count]["tflops"] for count in GPUS], "o-",
                              ms=2, lw=1, color=COLOURS[library], label=library)
                axes.set_xscale("log", base=2)
                axes.set_yscale("log")
                axes.set_title(f"{size}, {place}", fontsize=7)
                axes.tick_params(labelsize=6, which="both")
        panels[0][0].legend(fontsize=5)
        panels[0][0].set_ylabel("TFLOP/s, simulated", fontsize=6)
        panels[-1][0].set_xlabel("GPUs", fontsize=6)

    rows = [[library, place, size, count, *simulated_cells(each)]
            for (library, place, size, count), each in results.items()]
    columns = ["library", "place", "size", "gpus", *SIMULATED_COLUMNS]
    return Outcome(f"{KAROLINA}, simulated", columns, rows, findings + near_best(seconds), [], draw)


PAPER = Paper(NAME, __doc__, study, height=4.0,
              why="unknown; karolina_gemmex prints the absolute errors of the same rows")

if __name__ == "__main__":
    run_experiment(PAPER.main)
