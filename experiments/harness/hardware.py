"""Cases run on hardware with `tilerail compare --cases`, and their saved results."""

import csv
import dataclasses
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

from .program import Failure, Parser, command_text, positive
from .results import plotting, save_figure, write_csv
from .simulations import Tilerail
from .tables import Row, read_table

CHECK_FAILED = 1  # exit code of `tilerail compare` for a wrong result; its CSV is complete


@dataclasses.dataclass(frozen=True)
class Case:
    """A line of a cases file (docs/formats.md), run on the GPUs 0 to gpus - 1."""

    m: int
    n: int
    k: int
    place: str = "h:h:h"
    gpus: int = 1
    dtype: str = "f64"
    transa: str = "N"
    transb: str = "N"
    alpha: str = "1"
    beta: str = "1"
    policy: str = "tilerail"
    tile: int | None = None  # None: the policy chooses
    overrides: str = ""  # key=value, separated by spaces
    group: str = ""  # alternatives for one task
    label: str = ""
    routine: str = "gemm"  # with sizes as a GEMM

    def shrunk(self, divisor: int) -> "Case":
        """The case with divided sizes and tile, for trials: its label no longer names the problem."""
        if divisor == 1:
            return self
        sides = {side: max(1, getattr(self, side) // divisor) for side in "mnk"}
        tile = self.tile and max(1, self.tile // divisor)
        return dataclasses.replace(self, **sides, tile=tile, label=f"{self.label} / {divisor}" if self.label else "")

    def cells(self) -> list[str]:
        devices = ",".join(map(str, range(self.gpus)))
        transa, transb = (self.transa, self.transb) if self.routine == "gemm" else ("", "")
        return [*map(str, (self.m, self.n, self.k)), self.dtype, transa, transb, self.alpha, self.beta,
                self.place, devices, self.policy, str(self.tile or ""), self.overrides, self.group, self.label,
                self.routine]


CASE_COLUMNS = ["m", "n", "k", "dtype", "transa", "transb", "alpha", "beta", "place", "devices", "policy", "tile",
                "set", "group", "label", "routine"]
MEASURED_COLUMNS = ["m", "n", "k", "dtype", "place", "devices", "policy", "group", "label", "tile", "plan_s", "first_s",
                    "measured_s", "measured_min_s", "check"]
PREDICTED_COLUMNS = ["predicted_s", "kernel_s", "copy_s", "waiting_s", "issue_s"]
GIVEN_GPUS = "gpus"  # our column: GPUs given to the case; `devices` are the GPUs in its plan


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    gpus: int
    dtypes: frozenset[str]  # types with GEMM times for every kind of GPU


def read_machine(path: pathlib.Path, program: str) -> Machine:
    """The experiments' facts about a topology file, after `tilerail` has resolved its ranges, includes and
    templates."""
    path.read_bytes()  # its error explains why the file cannot be read
    try:
        shown = subprocess.run([program, "topo", "show", "--flat", str(path)], capture_output=True, check=True)
        content = tomllib.loads(shown.stdout.decode())
        gpus = [memory["kernels"] for memory in content["memory"] if memory["kind"] == "gpu"]
        dtypes = [{gemm["dtype"] for gemm in content["kernels"][kernels]["gemm"]} for kernels in set(gpus)]
        return Machine(content["name"], len(gpus), frozenset.intersection(*map(frozenset, dtypes)))
    except (subprocess.CalledProcessError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError):
        raise Failure(f"--topology: '{path}' is not a topology file") from None


class HardwareParser(Parser):
    """The options of the experiments on hardware."""

    def __init__(self, description: str, iterations: int):
        super().__init__(description)
        add = self.add_argument
        add("--topology", type=pathlib.Path, metavar="FILE", help="the machine's description; needed to measure")
        add("--backend", choices=("cuda", "host"), default="cuda", help="backend of the plans [cuda]")
        add("--gpus", type=positive, metavar="N", help="use only the first N GPUs [all of the topology]")
        add("--host-buffers", choices=("spread", "plain"), help="cuda: kind of host buffers [spread]")
        add("--iters", type=positive, default=iterations, metavar="N", help=f"timed calls of a case [{iterations}]")
        add("--warmup", type=positive, default=3, metavar="N", help="calls before them [3]")
        add("--no-check", action="store_true", help="do not check the results, which takes longer than the calls")
        add("--batch", type=positive, default=24, metavar="N", help="save results after every N cases [24]")
        add("--energy", metavar="SECONDS",
            help="cuda: calls after the measured ones in which GPUs count energy; 0: none [0]")
        add("--quick", action="store_true", help="only a few of the cases")
        add("--shrink", type=positive, default=1, metavar="D", help="for trials: divide all sizes and tiles by D")
        add("--from-saved", type=pathlib.Path, metavar="CSV", help="tables and figure of saved results; runs nothing")

    def parse_args(self, args=None, namespace=None):
        options = super().parse_args(args, namespace)
        if (options.topology is None) == (options.from_saved is None):
            self.error("expected --topology FILE to measure, or --from-saved CSV")
        if options.backend == "cuda":
            options.host_buffers, options.energy = options.host_buffers or "spread", options.energy or "0"
        options.machine = None
        if options.topology:
            options.machine = read_machine(options.topology, options.tilerail)
            limit = options.machine.gpus
            if options.gpus and options.gpus > limit:
                self.error(f"--gpus: '{options.gpus}' is more than the {limit} of '{options.topology}'")
            options.gpus = options.gpus or limit
        return options


def gpu_arguments(options) -> list[str]:
    """Options of GPUs, which tilerail rejects for other backends."""
    given = {"--host-buffers": options.host_buffers, "--energy": options.energy}
    return [word for option, value in given.items() if value is not None for word in (option, value)]


@dataclasses.dataclass(frozen=True)
class Results:
    remarks: dict[str, str]  # version, date, machine, command
    rows: list[Row]
    files: list[str]  # written so far

    @property
    def machine(self) -> str:
        return self.remarks.get("machine", "unnamed machine")

    def failed(self) -> list[Row]:
        return [row for row in self.rows if row["check"] == "FAILED"]


def over_bound_of(row: Row) -> str:
    """Measured median / bound; "-" for results of versions without bounds."""
    return f"{row.positive('over_bound'):.2f}" if row.cells.get("over_bound") else "-"


def _measure(tilerail: Tilerail, options, cases: list[Case], simulated: bool) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        source, target = pathlib.Path(folder, "cases.csv"), pathlib.Path(folder, "results.csv")
        with source.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([CASE_COLUMNS, *(case.cells() for case in cases)])
        arguments = ["compare", "--cases", str(source), "--backend", options.backend, "--topology",
                     str(options.topology), "--csv", str(target), "--iters", str(options.iters), "--warmup",
                     str(options.warmup), *gpu_arguments(options)]
        arguments += ([] if options.no_check else ["--check"]) + ([] if simulated else ["--no-simulate"])
        tilerail.run(arguments, accepted=(0, CHECK_FAILED))
        rows = read_table(target, MEASURED_COLUMNS)[1]
    if len(rows) != len(cases):
        raise Failure(f"tilerail compare: {len(rows)} results of {len(cases)} cases")
    return [Row(row.where, row.cells | {GIVEN_GPUS: str(case.gpus)}) for row, case in zip(rows, cases)]


def results_of(name: str, options, cases: list[Case], simulated: bool = True) -> Results:
    """Measures the cases and writes NAME.csv batch by batch, or reads --from-saved. Each row has the columns of
    `tilerail compare --cases --csv` and GIVEN_GPUS."""
    columns = MEASURED_COLUMNS + [GIVEN_GPUS] + (PREDICTED_COLUMNS if simulated else [])
    if options.from_saved:
        remarks, rows = read_table(options.from_saved, columns)
        if not rows:
            raise Failure(f"{options.from_saved}: has no results")
        for row in rows:
            for column in ("measured_s", "measured_min_s", GIVEN_GPUS):
                row.positive(column)
            for column in PREDICTED_COLUMNS if simulated else []:
                (row.positive if column == "predicted_s" else row.number)(column)
        return Results(remarks, rows, [])
    if not cases:
        raise Failure(f"{name}: no case is left to run")
    tilerail = Tilerail(options.tilerail, options.jobs)
    buffers = f", {options.host_buffers} host buffers" if options.backend == "cuda" else ""
    remarks = {"version": tilerail.version(),
               "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
               "machine": f"{options.machine.name}, {options.gpus} GPUs, backend {options.backend}{buffers}",
               "command": command_text(name)}
    table = os.path.join(options.output, name + ".csv")
    rows = []
    for first in range(0, len(cases), options.batch):
        batch = [case.shrunk(options.shrink) for case in cases[first : first + options.batch]]
        rows += _measure(tilerail, options, batch, simulated)
        count = {} if len(rows) == len(cases) else {"cases": f"{len(rows)} of {len(cases)}"}
        write_csv(table, remarks | count, list(rows[0].cells), [list(row.cells.values()) for row in rows])
    return Results(remarks, rows, [table])


def finish(name: str, options, results: Results, draw) -> int:
    """Saves the figure returned by draw(figure type), if any. Prints the machine, the files and the wrong results.
    Returns the exit code."""
    files, figure_type = list(results.files), plotting()
    figure = draw(figure_type) if figure_type else None
    if figure is not None:
        files.append(os.path.join(options.output, name + ".png"))
        save_figure(figure, files[-1])
    missing = "" if figure_type else "; no figure: matplotlib is missing"
    print(f"\n{results.machine}\nwritten: {', '.join(files) or 'nothing'}{missing}")
    for row in results.failed():
        print(f"wrong result: {row['m']} x {row['n']} x {row['k']} {row['dtype']} {row['place']}, {row['policy']}, "
              f"tile {row['tile']}, {row[GIVEN_GPUS]} GPUs")
    return CHECK_FAILED if results.failed() else 0
