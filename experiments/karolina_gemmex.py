"""PARALiA-GEMMex measured on Karolina: the simulated policy `gemmex` against it, on one and on eight A100.

Every measured row is simulated twice, with the tile that was measured and with the one that the policy chooses, and the
errors of the makespan are compared with their targets. See docs/experiments.md.
"""

import dataclasses
import math
import os
import pathlib
import statistics

from harness import (BOUND_COLUMNS, Failure, Parser, Simulation, Tilerail, aligned, command_text, over_bound, plotting,
                     read_table, run_experiment, save_figure, sizes, write_csv)

MACHINE = "karolina-hgx-a100"
LIBRARY = "PARALiA-GEMMex"
REFERENCE = pathlib.Path(__file__).resolve().parent / "reference" / "karolina_gemmex.csv"
COLUMNS = ["library", "gpus", "devices", "M", "N", "K", "loc_A", "loc_B", "loc_C", "tile", "median_s"]
MEDIAN_TARGET, LARGEST_TARGET = 0.08, 0.15  # of |simulated / measured - 1|


@dataclasses.dataclass(frozen=True)
class Measured:
    gpus: int
    devices: str
    problem: str  # M,N,K
    place: str
    tile: int
    seconds: float

    def simulation(self, tile: str) -> Simulation:
        return Simulation(self.problem, MACHINE, self.place, ("--policy", "gemmex", "--tile", tile), self.devices)


def real_tile(mean: float) -> int:
    """The tile of most of the runs that `mean` is the mean over: tiles are powers of two where it is not whole."""
    if mean.is_integer():
        return int(mean)
    lower = 2 ** math.floor(math.log2(mean))
    return lower if mean - lower <= 2 * lower - mean else 2 * lower


def read_rows(path: pathlib.Path) -> list[Measured]:
    """The rows of LIBRARY of a table with the columns COLUMNS."""
    rows = []
    for row in read_table(path, COLUMNS)[1]:
        if row["library"] != LIBRARY:
            continue
        problem = ",".join(str(int(row.positive(side))) for side in "MNK")
        place = ":".join(row["loc_" + matrix] for matrix in "ABC")
        rows.append(Measured(int(row.positive("gpus")), row["devices"], problem, place,
                             real_tile(row.positive("tile")), row.positive("median_s")))
    return rows


@dataclasses.dataclass(frozen=True)
class Compared:
    measured: Measured
    fixed: dict  # result with the measured tile
    chosen: dict  # result with the tile of the policy

    def error(self, result: dict) -> float:
        """Above zero where the simulation is slower than the measurement."""
        return result["makespan_s"] / self.measured.seconds - 1


def compare(tilerail: Tilerail, rows: list[Measured]) -> list[Compared]:
    wanted = [(row, row.simulation(str(row.tile)), row.simulation("auto")) for row in rows]
    results = tilerail.simulate(simulation for _, *pair in wanted for simulation in pair)
    return [Compared(row, results[fixed], results[chosen]) for row, fixed, chosen in wanted]


def print_rows(compared: list[Compared]) -> None:
    lines = [["problem", "place", "GPUs", "measured ms", "tile", "simulated ms", "error", "chosen tile", "simulated ms",
              "error", "busiest"]]
    for each in compared:
        row, busiest = each.measured, each.fixed["busiest"]
        sides = row.problem.split(",")
        lines.append([sides[0] if len(set(sides)) == 1 else row.problem, row.place, row.devices,
                      f"{row.seconds * 1e3:.2f}"])
        for tile, result in ((row.tile, each.fixed), (each.chosen["tile"], each.chosen)):
            lines[-1] += [str(tile), f"{result['makespan_s'] * 1e3:.2f}", f"{each.error(result):+.1%}"]
        lines[-1].append(f"{busiest['name']} {busiest['share']:.0%}")
    print(aligned(lines), end="\n\n")


def print_bounds(compared: list[Compared]) -> None:
    lines = [["bound of", "GPUs", "ms", "measured over it", "simulated", "bound by"]]
    for each in compared:
        row, result = each.measured, each.chosen
        lines.append([row.problem.split(",")[0], row.devices, f"{result['bound_s'] * 1e3:.2f}",
                      over_bound(row.seconds, result), over_bound(result["makespan_s"], result), result["bound_by"]])
    print("\n" + aligned(lines))


def print_errors(compared: list[Compared]) -> None:
    lines = [["|error|", "median", f"target {MEDIAN_TARGET:.0%}", "largest", f"target {LARGEST_TARGET:.0%}"]]
    for name, field in (("measured tile", "fixed"), ("chosen tile", "chosen")):
        errors = [abs(each.error(getattr(each, field))) for each in compared]
        lines.append([name])
        for value, target in ((statistics.median(errors), MEDIAN_TARGET), (max(errors), LARGEST_TARGET)):
            lines[-1] += [f"{value:.1%}", "within" if value <= target else "outside"]
    print(aligned(lines))


def draw(path: str, compared: list[Compared]) -> bool:
    """Bars of the rates, a group for each row. False without matplotlib."""
    figure_type = plotting()
    if figure_type is None:
        return False
    figure = figure_type(figsize=(max(5.0, 1.1 * len(compared)), 3.2), dpi=150, layout="constrained")
    axes = figure.subplots()
    flops = [2 * math.prod(map(int, each.measured.problem.split(","))) for each in compared]
    seconds = {"measured": ("#30363d", [each.measured.seconds for each in compared]),
               "simulated, measured tile": ("#2a9d8f", [each.fixed["makespan_s"] for each in compared]),
               "simulated, chosen tile": ("#e9c46a", [each.chosen["makespan_s"] for each in compared])}
    for i, (label, (colour, times)) in enumerate(seconds.items()):
        places = [group + (i - 1) * 0.27 for group in range(len(compared))]
        axes.bar(places, [work / time / 1e12 for work, time in zip(flops, times)], 0.27, color=colour, label=label)
    names = [f"{each.measured.problem.split(',')[0]}\n{each.measured.gpus} GPU" for each in compared]
    axes.set_xticks(range(len(compared)), names, fontsize=8)
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"{LIBRARY}, {MACHINE}", fontsize=9)
    axes.legend(fontsize=7)
    save_figure(figure, path)
    return True


def save(folder: str, version: str, source: pathlib.Path, compared: list[Compared]) -> None:
    rows = []
    for each in compared:
        row = each.measured
        rows.append([row.devices, *row.problem.split(","), row.place, row.seconds])
        for result in (each.fixed, each.chosen):
            rows[-1] += [result["tile"], repr(result["makespan_s"]), f"{each.error(result):.4f}"]
        rows[-1] += [each.chosen[column] for column in BOUND_COLUMNS]
    table, figure = (os.path.join(folder, "karolina_gemmex" + extension) for extension in (".csv", ".png"))
    header = {"version": version, "machine": f"{MACHINE}, simulated", "command": command_text(),
              "measured": source.name}
    columns = ["devices", "m", "n", "k", "place", "measured_s", "tile", "simulated_s", "error", "chosen_tile",
               "chosen_simulated_s", "chosen_error", *BOUND_COLUMNS]
    write_csv(table, header, columns, rows)
    drawn = draw(figure, compared)
    print(f"\nwritten: {table}" + (f", {figure}" if drawn else "; no figure: matplotlib is missing"))


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--measured", type=pathlib.Path, metavar="FILE",
                        help=f"take the {LIBRARY} rows of this CSV: {','.join(COLUMNS)}")
    parser.add_argument("--sizes", type=sizes, metavar="LIST", help="only the rows with these M, for example 8K,16K")
    options = parser.parse_args()
    source = options.measured or REFERENCE
    if options.measured and not source.exists():
        print(f"skipped: there is no file '{source}'")
        return
    rows = [row for row in read_rows(source)
            if options.sizes is None or int(row.problem.split(",")[0]) in options.sizes]
    if not rows:
        raise Failure(f"{source}: no {LIBRARY} rows" + (" of the --sizes asked for" if options.sizes else ""))
    tilerail = Tilerail(options.tilerail, options.jobs)
    version = tilerail.version()
    compared = compare(tilerail, rows)
    print_rows(compared)
    print_errors(compared)
    print_bounds(compared)
    save(options.output, version, source, compared)


if __name__ == "__main__":
    run_experiment(main)
