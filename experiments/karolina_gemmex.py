"""PARALiA-GEMMex, PARALiA, XKBLAS and cuBLASXt measured on Karolina, and their policies simulated.

Every measured row is simulated with the measured tile; PARALiA-GEMMex's rows also with the policy's choice of tile. The
errors of the makespan are compared with their targets. See docs/experiments.md.
"""

import dataclasses
import math
import pathlib

from harness import (COMPARED_COLUMNS, KAROLINA, MEASURED_COLUMNS, REFERENCE, Compared, Failure, Measured, Outcome,
                     Paper, by_library, compared_cells, draw_errors, error_findings, error_table, karolina_tile,
                     over_bound, quantile, read_measured, run_experiment, sample, sizes, target)

LIBRARY = "PARALiA-GEMMex"
TABLE = REFERENCE / "karolina_dgemm.csv"
TARGETS = {LIBRARY: 0.08, "PARALiA": 0.15, "XKBLAS": 0.15, "cuBLASXt": 0.15}  # median of |simulated / measured - 1|
LARGEST_TARGET = 0.15  # for GEMMex
# Fitted to rows of these libraries: the overhead of PARALiA, and the machine's columns of 8 and 16 KiB (machines.md).
FITTED = (LIBRARY, "PARALiA")


def real_tile(mean: float) -> int:
    """The tile of most runs behind the mean: if it is not an integer, tiles are powers of two."""
    if mean.is_integer():
        return int(mean)
    lower = 2 ** math.floor(math.log2(mean))
    return lower if mean - lower <= 2 * lower - mean else 2 * lower


def tile_of(row: Measured) -> int | None:
    return row.tile or karolina_tile(row.library, min(row.sizes))


def print_rows(compared: list[Compared]) -> list[list[str]]:
    lines = [["library", "problem", "place", "GPUs", "tile", "measured ms", "simulated ms", "error", "over bound",
              "busiest"]]
    for each in compared:
        row, result = each.measured, each.result
        size = str(row.sizes[0]) if len(set(row.sizes)) == 1 else ",".join(map(str, row.sizes))
        lines.append([row.library, size, row.place, row.devices, str(result["tile"]), f"{row.seconds * 1e3:.2f}",
                      f"{result['makespan_s'] * 1e3:.2f}", f"{each.error:+.1%}",
                      over_bound(result["makespan_s"], result),
                      f"{result['busiest']['name']} {result['busiest']['share']:.0%}"])
    return lines


def study(tilerail, options) -> Outcome:
    source = options.measured or TABLE
    if options.measured and not source.exists():
        raise Failure(f"--measured: '{source}' does not exist; expected a CSV")
    all_rows = read_measured(source, KAROLINA, TARGETS, real_tile)
    rows = [row for row in all_rows if options.sizes is None or row.sizes[0] in options.sizes]
    if not all_rows:
        raise Failure(f"{source.name}: no rows")
    if not rows:
        raise Failure(f"--sizes: {','.join(map(str, options.sizes))} is no M of {source.name}; expected some of "
                      f"{','.join(map(str, sorted({row.sizes[0] for row in all_rows})))}")
    rows = sample(rows, options.quick, 12)
    wanted = [(row, row.simulation(tile=tile_of(row)), dataclasses.replace(row, tile=None).simulation())
              for row in rows]
    results = tilerail.simulate(each for row, fixed, auto in wanted
                                for each in ((fixed, auto) if row.library == LIBRARY else (fixed,)))
    compared = [Compared(row, results[fixed]) for row, fixed, _ in wanted]
    chosen = [Compared(row, results[auto]) for row, _, auto in wanted if row.library == LIBRARY]
    findings = error_findings(compared, TARGETS, () if options.measured else FITTED)
    if chosen:
        of_library = [abs(each.error) for each in compared if each.measured.library == LIBRARY]
        findings += [target(f"{LIBRARY}, largest |error|", LARGEST_TARGET, max(of_library), options.measured is None),
                     target(f"{LIBRARY}, chosen tile, median |error|", TARGETS[LIBRARY],
                            quantile([abs(each.error) for each in chosen], 0.5),
                            options.measured is None)]

    def draw(figure):
        groups = {library: [each.error for each in of] for library, of in by_library(compared).items()}
        if chosen:
            groups[f"{LIBRARY},\nchosen tile"] = [each.error for each in chosen]
        draw_errors(figure.subplots(), groups, TARGETS["PARALiA"], f"{KAROLINA}: {len(compared)} measured rows")

    cells = [[*compared_cells(each), "measured"] for each in compared]
    cells += [[*compared_cells(each), "chosen"] for each in chosen]
    return Outcome(f"{KAROLINA}, simulated", [*COMPARED_COLUMNS, "tile_is"], cells, findings,
                   [print_rows(compared + chosen), error_table(compared)], draw, {"measured": source.name})


def arguments(parser) -> None:
    parser.add_argument("--measured", type=pathlib.Path, metavar="FILE",
                        help=f"take the rows of this CSV, with the columns {','.join(MEASURED_COLUMNS)} and, where not "
                             "all GPUs are used, devices, as --devices of tilerail")
    parser.add_argument("--sizes", type=sizes, metavar="LIST", help="only the rows with these M, for example 8K,16K")


PAPER = Paper("karolina_gemmex", __doc__, study, arguments,
              why="XKBLAS is slower than overlapped kernels and copies: its times on one GPU are kernels, then copies "
                  "(docs/experiments.md); the reason is unknown")

if __name__ == "__main__":
    run_experiment(PAPER.main)
