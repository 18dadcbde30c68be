"""Cases that `tilerail compare --cases` runs on hardware, and their saved results."""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import tempfile
from pathlib import Path

import pandas

import tilerail as tr
from tilerail import InputError

from .data import count, dgemms, numbers, remarks, table
from .studies import Outcome, Run

# The columns of a cases file (docs/formats.md) and their defaults. Tools that are not in the package: the command.
CASE = {"m": "", "n": "", "k": "", "dtype": "f64", "transa": "N", "transb": "N", "alpha": "1", "beta": "1",
        "place": "h:h:h", "devices": "", "policy": "tilerail", "tile": "", "set": "", "group": "", "label": "",
        "routine": "gemm"}
NUMBERS = ("m", "n", "k", "tile", "gpus", "plan_s", "first_s", "predicted_s", "measured_s", "measured_min_s")
BATCH = 24  # cases between two writes of the results
CHECK_FAILED = 1  # exit code of `tilerail compare` for a wrong result; its CSV is complete


def add_arguments(parser: argparse.ArgumentParser, iterations: int = 10) -> None:
    add = parser.add_argument
    add("--topology", type=Path, metavar="FILE", help="the machine's description; needed to measure")
    add("--backend", choices=("cuda", "host"), default="cuda", help="[cuda]; host: threads, for trials")
    add("--gpus", type=count, metavar="N", help="use only the first N GPUs [all of the machine]")
    add("--host-buffers", choices=("spread", "plain"), default="spread", help="cuda: kind of host buffers [spread]")
    add("--iters", type=count, default=iterations, metavar="N", help=f"timed calls of a case [{iterations}]")
    add("--warmup", type=int, default=3, metavar="N", help="calls before them [3]")
    add("--no-check", action="store_true", help="do not check the results, which takes longer than the calls")
    add("--shrink", type=count, default=1, metavar="D", help="for trials: divide all sizes and tiles by D")
    add("--from-saved", type=Path, metavar="CSV", help="tables and figure of saved results; runs nothing")


def gpus_of(options: argparse.Namespace) -> int:
    """The GPUs to use. Raises InputError unless there is a machine with as many, or a file of results."""
    if (options.topology is None) == (options.from_saved is None):
        expected = "--topology FILE to measure, or --from-saved CSV"
        raise InputError("--topology", None, "is missing, or not alone", expected)
    if options.from_saved:
        return 0
    memories = tr.machine(options.topology).memories
    count = int((memories.kind == "gpu").sum())
    if options.gpus and not 0 < options.gpus <= count:
        expected = f"1 to {count}, the GPUs of '{options.topology}'"
        raise InputError("--gpus", str(options.gpus), "is out of range", expected)
    return options.gpus or count


def on_fewer(place: str, gpus: int) -> str:
    """Matrices on GPU i are on GPU i mod gpus."""
    return ":".join(str(int(at) % gpus) if at.isdigit() else at for at in place.split(":"))


def _shrunk(cases: pandas.DataFrame, divisor: int) -> pandas.DataFrame:
    """With divided sizes and tiles: labels no longer name the problems."""
    if divisor == 1:
        return cases
    def divide(value):
        return max(1, int(value) // divisor) if value not in ("", None) else ""
    sizes = {column: cases[column].map(divide) for column in ("m", "n", "k", "tile")}
    return cases.assign(**sizes, label=cases.label.map(lambda label: f"{label} / {divisor}" if label else ""))


def command(arguments: list[str], accepted: tuple[int, ...] = (0,)) -> None:
    """Runs the `tilerail` command ($TILERAIL, else on the PATH)."""
    program = os.environ.get("TILERAIL", "tilerail")
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in accepted:
        text = (done.stderr.strip().splitlines() or ["no message"])[-1].removeprefix("tilerail: error: ")
        raise tr.HardwareError(text) if done.returncode == 3 else InputError("tilerail compare", None, text)


def _measure(options: argparse.Namespace, cases: pandas.DataFrame, simulated: bool) -> pandas.DataFrame:
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        given, found = Path(folder, "cases.csv"), Path(folder, "results.csv")
        cases[list(CASE)].to_csv(given, index=False)
        words = ["compare", "--cases", str(given), "--backend", options.backend, "--topology", str(options.topology),
                 "--csv", str(found), "--iters", str(options.iters), "--warmup", str(options.warmup)]
        words += ["--host-buffers", options.host_buffers] if options.backend == "cuda" else []
        words += ([] if options.no_check else ["--check"]) + ([] if simulated else ["--no-simulate"])
        command(words, (0, CHECK_FAILED))
        return table(found).assign(gpus=cases.gpus.astype(str).values)


def results(run: Run, name: str, cases: pandas.DataFrame, simulated: bool = True) -> pandas.DataFrame:
    """The rows of `tilerail compare --cases --csv` with a column ``gpus``: measured, with a file after each batch, or
    of --from-saved. ``attrs`` has the remarks of the file."""
    options, needed = run.options, ("m", "place", "devices", "policy", "label", "measured_s", "check", "gpus")
    if options.from_saved:
        rows, about = table(options.from_saved, needed), remarks(options.from_saved, "date", "machine")
    else:
        cases = cases.assign(**{column: default for column, default in CASE.items() if column not in cases})
        cases.loc[cases.routine != "gemm", ["transa", "transb"]] = ""
        cases["devices"] = [",".join(map(str, range(count))) for count in cases.gpus]
        cases = _shrunk(cases, options.shrink)
        about = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
                 "machine": f"{tr.machine(options.topology).name}, backend {options.backend}, "
                            f"{options.host_buffers} host buffers"}
        folder, parts = options.output, []
        folder.mkdir(parents=True, exist_ok=True)
        for first in range(0, len(cases), BATCH):
            parts.append(_measure(options, cases.iloc[first:first + BATCH], simulated))
            pandas.concat(parts).to_csv(folder / f"{name}.csv", index=False)
        rows = pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=needed)
    if rows.empty:
        raise InputError(str(options.from_saved or name), None, "has no results", "at least one case")
    rows = numbers(rows, str(options.from_saved or name), *(column for column in NUMBERS if column in rows))
    rows.attrs = about
    return rows


def outcome(run: Run, rows: pandas.DataFrame, checks, tables, draw) -> Outcome:
    """``draw``: None without anything to draw. Wrong results are named, and end with exit code 1."""
    wrong = rows[rows.check == "FAILED"]
    if len(wrong):
        tables = tables | {"wrong results": wrong[["m", "n", "k", "dtype", "place", "policy", "tile", "gpus"]]}

    def titled(figure):
        draw(figure)
        figure.suptitle(rows.attrs.get("machine", ""))

    return Outcome(None if run.options.from_saved else rows, [], checks, tables, titled if draw else None, rows.attrs,
                   CHECK_FAILED if len(wrong) else 0)


def peers(name: str) -> pandas.DataFrame:
    """Times of other libraries: library, m, n, k, dtype, place, gpus, seconds; ``label`` names the problem."""
    rows = dgemms(name, "gpus").rename(columns={"measured_s": "seconds"})
    rows = rows[["library", "m", "n", "k", "dtype", "place", "gpus", "seconds"]]
    return rows.assign(label=[
        f"{m if m == n == k else f'{m} x {n} x {k}'} {dtype} {place} on {gpus} GPU{'s' * (gpus > 1)}"
        for m, n, k, dtype, place, gpus in rows.iloc[:, 1:-1].itertuples(index=False)])
