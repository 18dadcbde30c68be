"""Scaling on H200: a large problem with all matrices on the host, by the number of GPUs.

More GPUs must not be slower, because a policy may leave GPUs unused. See docs/experiments.md.
"""

from harness import (GIVEN_GPUS, Case, HardwareParser, Results, Row, aligned, finish, over_bound_of, results_of,
                     run_experiment)

NAME = "h200_scaling"
SIDE = 16384
QUICK_GPUS = (1, 2, 4, 8)


def slower_than(row: Row, fewer: list[Row]) -> Row | None:
    """The fastest run with fewer GPUs, if this run is slower beyond the scatter of calls: its least time exceeds the
    other median."""
    best = min(fewer, key=lambda each: each.positive("measured_s"), default=None)
    slower = best is not None and row.positive("measured_min_s") > best.positive("measured_s")
    return best if slower else None


def print_rows(rows: list[Row]) -> bool:
    """Prints the rows. Returns whether more GPUs are never slower."""
    lines = [["GPUs", "used", "tile", "median ms", "min ms", "predicted ms", "error", "speed-up", "over bound",
              "check", "verdict"]]
    holds, one = True, rows[0]
    for i, row in enumerate(rows):
        measured, predicted = row.positive("measured_s"), row.positive("predicted_s")
        slower = slower_than(row, rows[:i])
        holds = holds and slower is None
        lines.append([row[GIVEN_GPUS], row["devices"], row["tile"], f"{measured * 1e3:.2f}",
                      f"{row.positive('measured_min_s') * 1e3:.2f}", f"{predicted * 1e3:.2f}",
                      f"{predicted / measured - 1:+.1%}", f"{one.positive('measured_s') / measured:.2f}",
                      over_bound_of(row),
                      row["check"] or "-", "" if slower is None else f"slower than with {slower[GIVEN_GPUS]}"])
    print(aligned(lines), end="\n\n")
    print(f"more GPUs are never slower: {'holds' if holds else 'does not hold'}")
    return holds


def draw(figure_type, results: Results, rows: list[Row]):
    """Measured and predicted times, and perfect scaling of the first."""
    figure = figure_type(figsize=(5, 3.5), dpi=150, layout="constrained")
    axes = figure.subplots()
    gpus = [row.whole(GIVEN_GPUS) for row in rows]
    median, least, predicted = ([row.positive(column) * 1e3 for row in rows]
                                for column in ("measured_s", "measured_min_s", "predicted_s"))
    axes.errorbar(gpus, median, [[m - low for m, low in zip(median, least)], [0] * len(rows)], color="#2a9d8f",
                  marker="o", capsize=3, label="measured, median and least")
    axes.plot(gpus, predicted, color="#e76f51", marker="x", linestyle="--", label="simulated")
    axes.plot(gpus, [median[0] * gpus[0] / count for count in gpus], color="#adb5bd", linestyle=":", label="perfect")
    axes.set_xticks(gpus)
    axes.set_xlabel("GPUs")
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)
    first = rows[0]
    axes.set_title(f"{first['m']} x {first['n']} x {first['k']} {first['dtype']} {first['place']}\n{results.machine}",
                   fontsize=9)
    axes.legend(fontsize=7)
    return figure


def main() -> int:
    options = HardwareParser(__doc__, iterations=10).parse_args()
    counts = [] if options.from_saved else range(1, options.gpus + 1)
    cases = [Case(SIDE, SIDE, SIDE, gpus=count) for count in counts if not options.quick or count in QUICK_GPUS]
    results = results_of(NAME, options, cases)
    rows = sorted(results.rows, key=lambda row: row.whole(GIVEN_GPUS))
    print_rows(rows)
    return finish(NAME, options, results, lambda figure_type: draw(figure_type, results, rows))


if __name__ == "__main__":
    run_experiment(main)
