"""PARALiA on CLX-AI with GPUs of three speeds: simulated on the devices it selected, and by our own selection.

Every measured row is simulated by the policy `paralia` with the devices and the tile that were measured: in equal
shares for comm_opt, which does not select, else in shares by speed. Beside it stands the selection that the model makes
of all eight GPUs. See docs/experiments.md.
"""

import dataclasses
import os
import pathlib
import statistics

from harness import (BOUND_COLUMNS, Failure, Parser, Simulation, Tilerail, aligned, command_text, over_bound, plotting,
                     read_table, run_experiment, save_figure, sizes, write_csv)

MACHINE = "clx-ai-hetero"
REFERENCE = pathlib.Path(__file__).resolve().parent / "reference" / "clx_ai_hetero.csv"
COLUMNS = ["library", "devices", "M", "N", "K", "loc_A", "loc_B", "loc_C", "tile", "median_s", "predicted_s"]
VARIANTS = {"PARALiA-comm_opt": "none", "PARALiA-select-PERF": "perf", "PARALiA-select-EDP": "edp"}
COMMUNICATION, SPEED = "PARALiA-comm_opt", "PARALiA-select-PERF"
TARGET = 0.2  # median of |simulated / measured - 1|


@dataclasses.dataclass(frozen=True)
class Measured:
    variant: str
    devices: str
    problem: str  # M,N,K
    place: str
    tile: int
    seconds: float

    def simulation(self) -> Simulation:
        shares = "equal" if self.variant == COMMUNICATION else "speed"
        policy = ("--policy", "paralia", "--tile", str(self.tile), "--set", f"shares={shares}")
        return Simulation(self.problem, MACHINE, self.place, policy, self.devices)

    def selection(self) -> Simulation:
        policy = ("--policy", "paralia", "--tile", str(self.tile), "--select", VARIANTS[self.variant])
        return Simulation(self.problem, MACHINE, self.place, policy)


@dataclasses.dataclass(frozen=True)
class Compared:
    measured: Measured
    simulated: dict
    selected: dict

    def error(self) -> float:
        """Above zero where the simulation is slower than the measurement."""
        return self.simulated["makespan_s"] / self.measured.seconds - 1

    def devices(self) -> str:
        return ",".join(name.removeprefix("gpu") for name in self.selected["devices"])


def read_rows(path: pathlib.Path) -> list[Measured]:
    rows = []
    for row in read_table(path, COLUMNS)[1]:
        if row["library"] not in VARIANTS:
            raise Failure(f"{row.where}: library: '{row['library']}' is none of {', '.join(VARIANTS)}")
        problem = ",".join(str(row.whole(side)) for side in "MNK")
        place = ":".join(row["loc_" + matrix] for matrix in "ABC")
        rows.append(Measured(row["library"], row["devices"], problem, place, row.whole("tile"),
                             row.positive("median_s")))
    return rows


def compare(tilerail: Tilerail, rows: list[Measured]) -> list[Compared]:
    results = tilerail.simulate(each for row in rows for each in (row.simulation(), row.selection()))
    return [Compared(row, results[row.simulation()], results[row.selection()]) for row in rows]


def print_rows(compared: list[Compared]) -> None:
    lines = [["variant", "N", "tile", "devices", "measured ms", "simulated ms", "error", "bound ms", "over it",
              "selected here", "simulated ms"]]
    for each in compared:
        row = each.measured
        lines.append([row.variant, row.problem.split(",")[0], str(row.tile), row.devices, f"{row.seconds * 1e3:.1f}",
                      f"{each.simulated['makespan_s'] * 1e3:.1f}", f"{each.error():+.1%}",
                      f"{each.simulated['bound_s'] * 1e3:.1f}",
                      over_bound(each.simulated["makespan_s"], each.simulated), each.devices(),
                      f"{each.selected['makespan_s'] * 1e3:.1f}"])
    print(aligned(lines), end="\n\n")


def print_errors(compared: list[Compared]) -> None:
    lines = [["|error|", "median", f"target {TARGET:.0%}", "largest"]]
    for variant in (*VARIANTS, "all"):
        errors = [abs(each.error()) for each in compared if variant in ("all", each.measured.variant)]
        if not errors:
            continue
        median = statistics.median(errors)
        lines.append([variant, f"{median:.1%}", "within" if median <= TARGET else "outside", f"{max(errors):.1%}"])
    print(aligned(lines), end="\n\n")


def print_gains(compared: list[Compared]) -> None:
    """What selecting by speed gains over all devices: more than 1 where it is faster."""
    times = {(each.measured.variant, each.measured.problem): each for each in compared}
    lines = [["comm_opt over select-PERF", "measured", "simulated", "selected here"]]
    for (variant, problem), all_devices in times.items():
        selected = times.get((SPEED, problem))
        if variant != COMMUNICATION or selected is None:
            continue
        simulated = all_devices.simulated["makespan_s"]
        lines.append([problem.split(",")[0], f"{all_devices.measured.seconds / selected.measured.seconds:.3f}",
                      f"{simulated / selected.simulated['makespan_s']:.3f}",
                      f"{simulated / selected.selected['makespan_s']:.3f}"])
    print(aligned(lines))


def draw(path: str, compared: list[Compared]) -> bool:
    """Rates over N, a panel for each variant. False without matplotlib."""
    figure_type = plotting()
    if figure_type is None:
        return False
    figure = figure_type(figsize=(9.0, 3.0), dpi=150, layout="constrained")
    axes = figure.subplots(1, len(VARIANTS), sharey=True)
    for panel, variant in zip(axes, VARIANTS):
        rows = [each for each in compared if each.measured.variant == variant]
        sides = [int(each.measured.problem.split(",")[0]) for each in rows]
        lines = {"measured": ("#30363d", [each.measured.seconds for each in rows]),
                 "simulated": ("#2a9d8f", [each.simulated["makespan_s"] for each in rows]),
                 "selected here": ("#e9c46a", [each.selected["makespan_s"] for each in rows])}
        for label, (colour, times) in lines.items():
            panel.plot(sides, [2 * n ** 3 / t / 1e12 for n, t in zip(sides, times)], "o-", ms=3, color=colour,
                       label=label)
        panel.set_title(variant, fontsize=9)
        panel.set_xlabel("N")
    axes[0].set_ylabel("TFLOP/s")
    axes[0].legend(fontsize=7)
    save_figure(figure, path)
    return True


def save(folder: str, version: str, source: pathlib.Path, compared: list[Compared]) -> None:
    rows = [[each.measured.variant, *each.measured.problem.split(","), each.measured.place, each.measured.tile,
             each.measured.devices, each.measured.seconds, repr(each.simulated["makespan_s"]), f"{each.error():.4f}",
             each.devices(), repr(each.selected["makespan_s"]),
             *(each.simulated[column] for column in BOUND_COLUMNS)] for each in compared]
    table, figure = (os.path.join(folder, "clx_ai_hetero" + extension) for extension in (".csv", ".png"))
    header = {"version": version, "machine": f"{MACHINE}, simulated", "command": command_text(),
              "measured": source.name}
    columns = ["variant", "m", "n", "k", "place", "tile", "devices", "measured_s", "simulated_s", "error",
               "selected_devices", "selected_simulated_s", *BOUND_COLUMNS]
    write_csv(table, header, columns, rows)
    drawn = draw(figure, compared)
    print(f"\nwritten: {table}" + (f", {figure}" if drawn else "; no figure: matplotlib is missing"))


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--sizes", type=sizes, metavar="LIST", help="only the rows with these N, for example 8K,16K")
    options = parser.parse_args()
    rows = [row for row in read_rows(REFERENCE)
            if options.sizes is None or int(row.problem.split(",")[0]) in options.sizes]
    if not rows:
        raise Failure(f"{REFERENCE}: no rows of the --sizes asked for")
    tilerail = Tilerail(options.tilerail, options.jobs)
    version = tilerail.version()
    compared = compare(tilerail, rows)
    print_rows(compared)
    print_errors(compared)
    print_gains(compared)
    save(options.output, version, REFERENCE, compared)


if __name__ == "__main__":
    run_experiment(main)
