"""Simulations of tables of problems, in threads, and the statistics of their results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache

import pandas

import tilerail as tr

from .data import LIBRARIES
from .verdicts import Check, Finding

# Columns of a problem. Without `by`, the library is the one that is simulated; `options`: KEY=VALUE, with spaces.
PROBLEM = {"machine": None, "routine": "gemm", "m": None, "n": None, "k": None, "dtype": "f64", "place": "h:h:h",
           "devices": "all", "library": "", "by": "", "tile": None, "options": ""}
FILL = {name: default for name, default in PROBLEM.items() if default is not None}
machine_of = lru_cache(maxsize=None)(tr.machine)


def simulated(problem: dict) -> dict:
    """The result of a row with the columns of PROBLEM."""
    library = LIBRARIES.loc[problem["by"] or problem["library"]]
    m, n, k = (int(problem[side]) for side in "mnk")
    at = {"dtype": problem["dtype"], "place": problem["place"]}
    made = tr.axpy(m, **at) if problem["routine"] == "axpy" else tr.gemm(m, n, k, **at)
    tile = library.tile or None if pandas.isna(problem["tile"]) else int(problem["tile"])
    devices = library.select if library.select and problem["devices"] == "all" else problem["devices"]
    options = dict(word.split("=", 1) for word in f"{library.options} {problem['options']}".split())
    result = tr.simulate(made, machine_of(problem["machine"]), library.policy, effort=library.effort or None,
                         devices=devices, tile=tile, options=options)
    busiest = result.summary["busiest"]
    used = ",".join(name.removeprefix("gpu") for name in result.plan.processors)
    return {"used_tile": result.plan.tile, "used": used, "simulated_s": result.makespan, "tflops": result.tflops,
            "bound_s": result.bound, "bound_by": result.bound_by, "busiest": busiest["name"],
            "busiest_share": busiest["share"]}


@dataclass
class Outcome:
    """What an experiment found."""

    rows: pandas.DataFrame | None  # saved as NAME.csv
    findings: list[Finding] = field(default_factory=list)  # printed numbers of papers, and ours
    checks: list[Check] = field(default_factory=list)  # our own targets and unit tests
    tables: dict[str, pandas.DataFrame] = field(default_factory=dict)  # printed, by title
    draw: Callable | None = None  # draws on a figure
    remarks: dict[str, str] = field(default_factory=dict)  # of NAME.csv
    code: int = 0  # exit code
    part: bool = False  # options have chosen a part of the problems


@dataclass(frozen=True)
class Run:
    """A call of an experiment: its options, and threads for simulations."""

    options: argparse.Namespace

    @property
    def quick(self) -> bool:
        return self.options.quick

    def sample(self, items, most: int):
        """All items (a list or rows of a table), or with --quick at most ``most``, evenly spread."""
        count = len(items)
        if not self.quick or count <= most:
            return items
        picked = [number * count // most for number in range(most)]
        return items.iloc[picked] if isinstance(items, pandas.DataFrame) else [items[number] for number in picked]

    def sample_problems(self, rows: pandas.DataFrame, problem: list[str], most: int, each: int) -> pandas.DataFrame:
        """The rows of ``most`` problems, ``each`` of one; a problem has equal values in these columns."""
        problems = self.sample([of for _, of in rows.groupby(problem, sort=False)], most)
        return pandas.concat([self.sample(of, each) for of in problems])

    def map(self, function: Callable, items: Iterable) -> list:
        """The function's results in order; items run simultaneously."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def simulate(self, rows: pandas.DataFrame) -> pandas.DataFrame:
        """The rows (columns of PROBLEM, others stay) with their results; equal problems are simulated once. With
        ``measured_s``, ``error`` is simulated over measured, minus 1."""
        rows = rows.reset_index(drop=True)
        columns = {name: rows[name] if name in rows else default for name, default in PROBLEM.items()}
        problems = pandas.DataFrame(columns, index=rows.index).fillna(FILL).astype(object)
        keys = [tuple(map(str, each)) for each in problems.itertuples(index=False)]
        unique = dict(zip(keys, problems.to_dict("records")))
        results = dict(zip(unique, self.map(simulated, unique.values())))
        rows = rows.join(pandas.DataFrame([results[key] for key in keys], index=rows.index))
        return rows.assign(error=rows.simulated_s / rows.measured_s - 1) if "measured_s" in rows else rows


def quantile(values: Iterable[float], share: float) -> float:
    """The element of rank floor(share n), from 0, of the sorted values, as in ``tilerail compare``."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def error_table(rows: pandas.DataFrame, by: str | list[str] = "library") -> pandas.DataFrame:
    """Quantiles of the errors by group."""
    def line(of: pandas.DataFrame) -> pandas.Series:
        signed, sizes = {"5%": 0.05, "median": 0.5, "95%": 0.95}, {"median size": 0.5, "90%": 0.9}
        return pandas.Series({"rows": str(len(of))} |
                             {name: f"{quantile(of.error, share):+.1%}" for name, share in signed.items()} |
                             {name: f"{quantile(of.error.abs(), share):.1%}" for name, share in sizes.items()})

    return rows.groupby(by, sort=False)[["error"]].apply(line).reset_index()


def chosen_times(rows: pandas.DataFrame, problem: list[str], choices: dict[str, str],
                 seconds: str = "measured_s") -> pandas.DataFrame:
    """By problem: the seconds with the tile for which each of these columns is least, by name."""
    groups = rows.groupby(problem)
    return pandas.DataFrame({name: rows.loc[groups[column].idxmin()].set_index(problem)[seconds]
                             for name, column in choices.items()})


NEAR_BEST, OFTEN = 1.02, 0.95  # largest distance of `tilerail` from the best, and in which share of the problems


def near_best(rows: pandas.DataFrame, problem: list[str]) -> list[Check]:
    """How often `tilerail` is the fastest of all libraries, or nearly."""
    seconds = rows.pivot(index=problem, columns="library", values="simulated_s")
    share = (seconds["tilerail"] <= NEAR_BEST * seconds.min(axis=1)).mean()
    return [Check("tilerail the fastest, or within 2% of it", share, OFTEN, least=True)]


@lru_cache(maxsize=None)
def roomy(machine: str) -> tr.Machine:
    """With enough memory on each GPU."""
    return machine_of(machine).set("memory:gpu*.capacity", "1 TB")


def copies(machine: str, src: str, dst: str, elements: int, both: bool = False) -> pandas.DataFrame:
    """The copies of an axpy of doubles from one memory to another in the simulator's timeline; ``both``: in a stream of
    16 tiles, with copies in the other direction."""
    names = ["h" if memory == "host" else memory.removeprefix("gpu") for memory in (src, dst)]
    gpu = next(name for name in reversed(names) if name != "h")
    place = f"{gpu}:h" if both or dst == "host" else ":".join(names)
    problem = tr.axpy(elements * (16 if both else 1), place=place)
    policy = "cocopelia" if both else "baseline"
    result = tr.simulate(problem, roomy(machine), policy, devices=[gpu], tile=elements)
    found = result.timeline
    found = found[(found.kind == "copy") & (found.src == src) & (found.dst == dst)]
    return found.assign(seconds=found.end_s - found.start_s)


def link(machine: str, src: str, dst: str, both: bool = False) -> tuple[float, float]:
    """Latency in s and bytes/s of copies from one memory to another, from two sizes of a simulated copy; ``both``:
    while the other direction is busy."""
    small, large = ((each.seconds.median(), each.bytes.iloc[0])
                    for each in (copies(machine, src, dst, size, both) for size in (2**22, 2**24)))
    rate = (large[1] - small[1]) / (large[0] - small[0])
    return small[0] - small[1] / rate, rate
