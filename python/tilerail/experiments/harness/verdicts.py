"""Printed numbers of papers (reference/published.csv) and ours: bands, findings, and one verdict for each claim."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import pandas

from .data import LIBRARIES, numbers, table

NO_EFFECT = {"x": 1.0, "gain": 0.0, "error": 0.0}  # by unit: the value without an effect
LEAST_SHARE = 0.5  # for "partly": of the printed effect in each number, or of the numbers within their bands
REPRODUCED, PARTLY, NONE, UNKNOWN = "reproduced", "partly", "no", "cannot be told"
QUOTIENT = r"(?:,| to) ([\d.]+) / ([\d.]+)"  # of two printed numbers, in the place of a ratio


@dataclass(frozen=True)
class Printed:
    """A printed number, or a range, from -inf or to inf for a limit. Units: x (a factor), gain (a gained share), error
    (relative, with its sign), % (another share, as 0.01), others as they are."""

    paper: str
    claim: str
    name: str
    where: str
    low: float
    high: float
    unit: str
    tolerance: str  # on both sides: a share of the number if it ends in %, else absolute
    experiment: str  # that simulates it, or ""
    reason: str  # why the number cannot be compared, or why the comparison tells nothing

    @property
    def band(self) -> tuple[float, float]:
        def width(edge: float) -> float:
            share = self.tolerance.endswith("%")
            return float(self.tolerance[:-1]) / 100 * abs(edge) if share else float(self.tolerance)

        return self.low - width(self.low), self.high + width(self.high)

    def text(self, value: float) -> str:
        """With the unit, and as many digits as printed, at least three."""
        share = self.unit in ("%", "gain", "error")
        scaled = 100 * value if share else value
        edges = filter(math.isfinite, (self.low, self.high))
        digits = max(3, *(len(f"{edge:.5g}".replace(".", "").lstrip("-0")) for edge in edges))
        decimals = digits - 1 - math.floor(math.log10(abs(scaled))) if abs(scaled) > 1e-9 else 1
        number = f"{scaled:.{max(0, min(decimals, 4))}f}"
        return f"{number} %" if share else number + (" x" if self.unit == "x" else f" {self.unit}" if self.unit else "")

    def span(self, low: float, high: float) -> str:
        if math.isinf(low) or math.isinf(high):
            return f"at most {self.text(high)}" if math.isinf(low) else f"at least {self.text(low)}"
        return self.text(low) if low == high else f"{self.text(low)} to {self.text(high)}"

    @property
    def printed(self) -> str:
        return self.span(self.low, self.high)


@lru_cache(maxsize=None)
def published() -> tuple[Printed, ...]:
    """The rows of reference/published.csv."""
    rows = numbers(table("published"), "published.csv", "low", "high")
    return tuple(Printed(**cells) for cells in rows.to_dict("records"))


@dataclass(frozen=True)
class Finding:
    value: Printed
    ours: float
    fitted: bool  # a figure of its simulations was fitted to its rows, or taken from its table

    @property
    def within(self) -> bool:
        low, high = self.value.band
        return low <= self.ours <= high

    @property
    def is_part(self) -> bool:
        """Whether the value is within its band, or has at least half of the printed effect, in the same direction."""
        none = NO_EFFECT.get(self.value.unit, math.nan)
        low, high, effect = self.value.low - none, self.value.high - none, self.ours - none
        return self.within or effect >= LEAST_SHARE * low > 0 or effect <= LEAST_SHARE * high < 0

    @property
    def distance(self) -> float:
        """From the middle of the band, in half widths: up to 1 is within. Without a limit on one side, the other edge is
        1, and a half width is the tolerance."""
        low, high = self.value.band
        if math.isinf(low) or math.isinf(high):
            side, edge, printed = (1, high, self.value.high) if math.isinf(low) else (-1, low, self.value.low)
            return side * max(0.0, 1 + side * (self.ours - edge) / (abs(edge - printed) or 0.01 * abs(edge) or 1))
        return (self.ours - (low + high) / 2) / ((high - low) / 2 or 0.01 * abs(high) or 1)


@dataclass(frozen=True)
class Check:
    """A value of ours with our own target, or an error of the model: never a verdict on a paper."""

    name: str
    value: float
    target: float = math.nan  # NaN: without a target
    least: bool = False  # the target is a lower limit
    fitted: bool = False
    share: bool = True  # shown in %

    @property
    def reached(self) -> bool | None:
        if math.isnan(self.target) or math.isnan(self.value):
            return None
        return self.value >= self.target if self.least else self.value <= self.target

    def cells(self) -> dict[str, str]:
        form = ".1%" if self.share else ".3g"
        aim = "" if math.isnan(self.target) else f"{'>=' if self.least else '<='} {self.target:{form}}"
        word = {None: "", True: "reached", False: "missed"}[self.reached]
        return {"check": self.name, "value": f"{self.value:{form}}", "target": aim, "": word,
                "fitted": "fitted" if self.fitted else ""}


@lru_cache(maxsize=None)
def fits() -> tuple[dict, ...]:
    """reference/fitted.csv: figures of machines (sources of their files) and of libraries (docs/model.md#libraries)
    that were fitted to rows of a dataset, or taken from a printed table."""
    return tuple(table("fitted", ("kind", "name", "figure", "dataset", "rows")).to_dict("records"))


DEFAULTS = {"library": "", "by": "", "dtype": "f64", "place": "", "metric": "time", "testbed": "", "blas": "",
            "added": "", "tile": 0, "value": ""}


def fitted_rows(rows: pandas.DataFrame, dataset: str | None = None) -> pandas.Series:
    """Which of these simulations use a figure that was fitted to them: rows with machine and library, and the column
    dataset or this one."""
    rows = rows.assign(**{name: value for name, value in DEFAULTS.items() if name not in rows})
    of = rows["dataset"] if dataset is None else pandas.Series(dataset, index=rows.index)
    policies = rows.by.where(rows.by != "", rows.library).map(LIBRARIES.policy)
    found = pandas.Series(False, index=rows.index)
    for fit in fits():
        used = rows.machine == fit["name"] if fit["kind"] == "machine" else policies == fit["name"]
        mine = rows[used & (of == fit["dataset"])]
        if fit["rows"] and len(mine):
            mine = mine.query(fit["rows"], engine="python")
        found |= rows.index.isin(mine.index)
    return found


class Compared:
    """Collects our values of an experiment next to the printed ones."""

    def __init__(self, experiment: str, *datasets: str):
        self.experiment = experiment
        self.values = {each.name: each for each in published() if each.experiment == experiment}
        self.datasets = datasets
        self.findings: list[Finding] = []

    def add(self, name: str, ours: float, rows: pandas.DataFrame, **of) -> None:
        """``rows``: the simulations behind the value; ``of``: only rows with this value, or one of these, by column.
        Names that are not printed are ignored."""
        if name in self.values and not math.isnan(ours):
            for column, value in of.items():
                rows = rows[rows[column].isin(value if isinstance(value, (list, tuple)) else [value])]
            fitted = any(fitted_rows(rows, dataset).any() for dataset in self.datasets)
            self.findings.append(Finding(self.values[name], ours, fitted))


def verdict_of(findings: list[Finding]) -> str:
    """The verdict on a claim with these numbers. A number with a reason is left out."""
    findings = [each for each in findings if not each.value.reason]
    if not findings:
        return UNKNOWN
    within = sum(each.within for each in findings)
    if within == len(findings):
        return REPRODUCED
    is_part = within >= LEAST_SHARE * len(findings) or all(each.is_part for each in findings)
    return PARTLY if is_part else NONE


def claim_table(findings: Iterable[Finding], experiments: Iterable[str], most: int = 4) -> pandas.DataFrame:
    """A row for each claim of these experiments: claim, where, printed, ours, verdict, fitted."""
    experiments, lines = set(experiments), []
    claims: dict[tuple[str, str], list[Printed]] = {}
    for value in published():
        if value.claim:  # else an input or a unit test
            claims.setdefault((value.paper, value.claim), []).append(value)
    by_value = {each.value: each for each in findings}
    for (paper, claim), values in claims.items():
        if not experiments & {value.experiment for value in values if value.experiment}:
            continue
        kept = [value for value in values if not value.reason] or values
        found = [by_value[value] for value in kept if value in by_value]
        if len(found) <= most:
            ours = ", ".join(each.value.text(each.ours) for each in found) or "-"
            printed = ", ".join(value.printed for value in kept[:most]) + (", ..." if len(kept) > most else "")
        else:
            far = max(found, key=lambda each: abs(each.distance))
            printed = f"{len(kept)} numbers"
            ours = f"{sum(each.within for each in found)} of {len(found)} in their bands"
            if not far.within:
                ours += f"; farthest: {far.value.name}: {far.value.text(far.ours)} for {far.value.printed}"
        if len(kept) < len(values):
            ours += f"; {len(values) - len(kept)} of {len(values)} left out"
        fitted = sum(each.fitted for each in found)
        where = dict.fromkeys(re.sub(QUOTIENT, "", value.where) for value in values)
        reason = dict.fromkeys(value.reason for value in values if value.reason)
        lines.append((paper, claim, ", ".join(where), printed, ours, verdict_of(found),
                      f"{fitted} of {len(found)}" if fitted else "-", "; ".join(reason)))
    return pandas.DataFrame(lines, columns="paper claim where printed ours verdict fitted reason".split())


def left_out() -> pandas.DataFrame:
    """Printed numbers that no experiment simulates, with the reasons."""
    rows = [(each.paper, each.name, each.where, each.printed, each.reason)
            for each in published() if not each.experiment]
    return pandas.DataFrame(rows, columns=["paper", "number", "where", "printed", "reason"])


def error_checks(rows: pandas.DataFrame, targets: dict[str, float], by: str = "library") -> list[Check]:
    """The median |error| of each group against its target; rows that figures were fitted to are counted apart."""
    found = []
    for group, of in rows.groupby(by, sort=False):
        mask = fitted_rows(of)
        for fitted, part in ((True, of[mask]), (False, of[~mask])):
            if len(part) and group in targets:
                found.append(Check(f"{group}, median |error| of {len(part)} rows", part.error.abs().median(),
                                   targets[group], fitted=fitted))
    return found
