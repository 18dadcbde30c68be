"""PARALiA and other libraries on CLX-AI with GPUs of three speeds: thesis figure 3.11 and table 3.5.

Every measured row is simulated on the measured devices and with the measured tile: PARALiA's comm_opt, which does not
select, with equal shares, its selections with shares by their metric. The model's own selection from all eight GPUs is
listed, too. Then the 250 problems of thesis 3.3.4. See docs/experiments.md.
"""

import dataclasses
import pathlib

from clx_ai_paralia import joules, parts
from harness import (COLOURS, COMPARED_COLUMNS, MEASURED_COLUMNS, REFERENCE, Compared, Failure, Measured, Outcome,
                     Paper, Product, Simulation, by_library, clx_ai_dataset, compared_cells, draw_errors,
                     error_findings, error_table, policy_of, read_measured, run_experiment, sample, share_target, sizes)

NAME = "clx_ai_hetero"
MACHINE = "clx-ai-hetero"
COMMUNICATION, SPEED = "PARALiA-comm_opt", "PARALiA-select-PERF"
SELECTING = {SPEED: "speed", "PARALiA-select-EDP": "edp", "PARALiA-select-PDP": "pdp"}  # shares
LIBRARIES = ("BLASX", "XKBLAS", COMMUNICATION, *SELECTING)
TARGET = 0.15  # median of |simulated / measured - 1|


def as_measured(row: Measured) -> Simulation:
    if row.library in SELECTING:
        plain = dataclasses.replace(row, library=COMMUNICATION)
        return plain.simulation("--set", f"shares={SELECTING[row.library]}")
    return row.simulation()


def selected(row: Measured) -> Simulation:
    """With our own selection from all GPUs."""
    return dataclasses.replace(row, devices="all").simulation()


def simulation(problem: Product, library: str) -> Simulation:
    return Simulation(problem.sizes, MACHINE, problem.place, policy_of(library))


def row_table(compared: list[Compared], here: dict[Measured, dict]) -> list[list[str]]:
    lines = [["library", "M,N,K", "place", "tile", "devices", "measured ms", "simulated ms", "error", "selected here",
              "simulated ms"]]
    for each in compared:
        row, own = each.measured, here[each.measured]
        lines.append([row.library, ",".join(map(str, row.sizes)), row.place, str(each.result["tile"]), row.devices,
                      f"{row.seconds * 1e3:.1f}", f"{each.result['makespan_s'] * 1e3:.1f}", f"{each.error:+.1%}",
                      devices_of(own), f"{own['makespan_s'] * 1e3:.1f}"])
    return lines


def devices_of(result: dict) -> str:
    return ",".join(name.removeprefix("gpu") for name in result["devices"])


def gains(compared: list[Compared]) -> list[tuple[tuple, float, float]]:
    """Gain of selecting by speed over all devices, by problem: measured, simulated; above 1 if faster."""
    times = {(each.measured.library, each.measured.sizes, each.measured.place): each for each in compared}
    found = []
    for (library, size, place), every in times.items():
        chosen = times.get((SPEED, size, place))
        if library == COMMUNICATION and chosen:
            found.append(((size, place), every.measured.seconds / chosen.measured.seconds,
                          every.result["makespan_s"] / chosen.result["makespan_s"]))
    return found


def means_table(results: dict, problems: list[Product]) -> list[list[str]]:
    """The problems of table 3.5. The printed values of the table are not compared yet."""
    split = parts(problems)
    lines = [[f"{len(problems)} problems", *(f"GFLOP/s, {part}" for part in split),
              *(f"GFLOP/s/W, {part}" for part in split)]]
    for library in LIBRARIES:
        lines.append([library])
        for cost in (lambda result: result["makespan_s"], joules):
            for of in split.values():
                total = sum(cost(results[each, library]) for each in of)
                value = sum(each.flops for each in of) / total / 1e9
                lines[-1].append(f"{value:.0f}" if value >= 100 else f"{value:.2f}")
    return lines


def study(tilerail, options) -> Outcome:
    wanted_size = lambda side: options.sizes is None or side in options.sizes  # noqa: E731
    rows = [row for row in read_measured(options.measured or REFERENCE / f"{NAME}.csv", MACHINE, LIBRARIES)
            if wanted_size(row.sizes[0])]
    if not rows:
        raise Failure(f"{NAME}: no rows of the --sizes asked for")
    rows = sample(rows, options.quick, 15)
    problems = sample([each for each in clx_ai_dataset(2) if wanted_size(each.m)], options.quick, 6)
    wanted = {(each, library): simulation(each, library) for each in problems for library in LIBRARIES}
    found = tilerail.simulate([*(each for row in rows for each in (as_measured(row), selected(row))),
                               *wanted.values()])
    compared = [Compared(row, found[as_measured(row)]) for row in rows]
    here = {row: found[selected(row)] for row in rows}
    results = {key: found[simulation] for key, simulation in wanted.items()}
    findings = error_findings(compared, dict.fromkeys(LIBRARIES, TARGET))
    found_gains = gains(compared)
    if won := [simulated > 1 for _, measured, simulated in found_gains if measured > 1]:
        findings.append(share_target("select-PERF faster than comm_opt where measured so", 1.0, sum(won) / len(won)))
    gain_table = [["comm_opt over select-PERF", "measured", "simulated"]]
    gain_table += [[f"{','.join(map(str, size))} {place}", f"{measured:.3f}", f"{simulated:.3f}"]
                   for (size, place), measured, simulated in found_gains]

    def draw(figure):
        errors, rates = figure.subplots(1, 2)
        draw_errors(errors, {library.removeprefix("PARALiA-"): [each.error for each in of]
                             for library, of in by_library(compared).items()}, TARGET, f"{len(compared)} measured rows")
        errors.tick_params(axis="x", labelrotation=45)
        for library in LIBRARIES if problems else ():
            values = sorted(each.flops / results[each, library]["makespan_s"] / 1e12 for each in problems)
            rates.plot(values, [i / len(values) for i in range(len(values))], lw=1, color=COLOURS[library],
                       label=library)
        rates.set_title(f"{len(problems)} problems, simulated: share that is slower", fontsize=7)
        rates.set_xlabel("TFLOP/s", fontsize=6)
        rates.tick_params(labelsize=6)
        if problems:
            rates.legend(fontsize=5)
        figure.subplots_adjust(bottom=0.25)

    cells = [[*compared_cells(each), devices_of(here[each.measured]), repr(here[each.measured]["makespan_s"])]
             for each in compared]
    for (each, library), result in results.items():
        cells.append([library, each.m, each.n, each.k, each.place, devices_of(result), result["tile"], "",
                      repr(result["makespan_s"]), "", result["bound_s"], result["bound_by"], "", ""])
    tables = [row_table(compared, here), error_table(compared)] + ([gain_table] if found_gains else [])
    return Outcome(f"{MACHINE}, simulated", [*COMPARED_COLUMNS, "selected", "selected_simulated_s"], cells, findings,
                   tables + ([means_table(results, problems)] if problems else []), draw,
                   {"measured": (options.measured or REFERENCE / f"{NAME}.csv").name})


def arguments(parser) -> None:
    parser.add_argument("--measured", type=pathlib.Path, metavar="FILE",
                        help=f"take the rows of this CSV, with the columns {','.join(MEASURED_COLUMNS)} and, where not "
                             "all GPUs are used, devices, as --devices of tilerail")
    parser.add_argument("--sizes", type=sizes, metavar="LIST", help="only problems with these M, for example 4K,8K")


PAPER = Paper(NAME, __doc__, study, arguments,
              why="PARALiA deals sub-kernels, so that two GPUs may compute parts of one tile of C; ours are whole "
                  "tiles, which fit shares less well, and select-PERF was faster in two measured problems by only "
                  "4 and 7 %")

if __name__ == "__main__":
    run_experiment(PAPER.main)
