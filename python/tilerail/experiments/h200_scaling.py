"""Scaling on H200: a large problem with all matrices on the host, by the number of GPUs.

More GPUs must not be slower, because a policy may leave GPUs unused. A run is slower than another one if its least time
exceeds the other's median.
"""

import pandas

from .harness import Check, hardware, Outcome, Run

NAME, SIDE = "h200_scaling", 16384


def slower_than(rows: pandas.DataFrame) -> list[str]:
    """For each row: the number of fewer GPUs that are faster beyond the scatter of calls, or ""."""
    found = [""]
    for at in range(1, len(rows)):
        best = rows.iloc[:at].loc[rows.measured_s.iloc[:at].idxmin()]
        found.append(f"slower than with {best.gpus:.0f}" if rows.measured_min_s.iloc[at] > best.measured_s else "")
    return found


def study(run: Run) -> Outcome:
    counts = [count for count in range(1, hardware.gpus_of(run.options) + 1) if not run.quick or count in (1, 2, 4, 8)]
    cases = pandas.DataFrame({"m": SIDE, "n": SIDE, "k": SIDE, "gpus": counts})
    rows = hardware.results(run, NAME, cases).sort_values("gpus", ignore_index=True)
    rows["slower"] = slower_than(rows)
    shown = pandas.DataFrame({"GPUs": rows.gpus, "used": rows.devices, "tile": rows.tile, "ms": rows.measured_s * 1e3,
                              "least ms": rows.measured_min_s * 1e3, "error": rows.predicted_s / rows.measured_s - 1,
                              "speed-up": rows.measured_s.iloc[0] / rows.measured_s, "": rows.slower}).round(3)
    check = Check("runs that are not slower than with fewer GPUs", (rows.slower == "").mean(), 1.0, least=True)

    def draw(figure):
        axes = figure.subplots()
        below = [1e3 * (rows.measured_s - rows.measured_min_s), 0 * rows.measured_s]
        axes.errorbar(rows.gpus, 1e3 * rows.measured_s, below, marker="o", label="measured, median and least")
        axes.plot(rows.gpus, 1e3 * rows.predicted_s, "x--", label="simulated")
        axes.plot(rows.gpus, 1e3 * rows.measured_s.iloc[0] * rows.gpus.iloc[0] / rows.gpus, ":", label="perfect")
        axes.set(xlabel="GPUs", ylabel="ms", xticks=rows.gpus)
        axes.set_ylim(bottom=0)
        axes.legend()

    return hardware.outcome(run, rows, [check], {"by the number of GPUs": shown}, draw)


arguments = hardware.add_arguments
