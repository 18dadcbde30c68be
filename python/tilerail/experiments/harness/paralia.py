"""PARALiA's variants: mean rates and efficiencies of tables 3.4 and 3.5, and factors between libraries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import pandas

from .verdicts import Compared, published

NAMES = {"PARALiA-comm_opt": "comm_opt", "PARALiA-select-PERF": "select(PERF)", "PARALiA-select-EDP": "select(EDP)",
         "PARALiA-select-PDP": "select(PDP)"}
PROBLEM = ["m", "n", "k", "place"]


def active_watts() -> float:
    """The thesis' watts of an active GPU: rate over efficiency of comm_opt in table 3.4, which always uses eight."""
    value = {each.name: each.low for each in published() if each.experiment == "clx_ai_paralia"}
    return value["comm_opt, rate, all"] / value["comm_opt, efficiency, all"] / 8


@dataclass
class Variants:
    """The rows of each library for each problem; ``joules``: every GPU of a plan always draws the active watts."""

    rows: pandas.DataFrame
    small: int | None = None  # problems in the smaller part; default: half

    def __post_init__(self):
        if "joules" not in self.rows:
            gpus = self.rows.used.str.count(",") + 1
            self.rows["joules"] = self.rows.simulated_s * gpus * active_watts()

    def part(self, mask: pandas.Series) -> Variants:
        return Variants(self.rows[mask])

    def parts(self) -> dict[str, Variants]:
        """The problems with fewer flops, the others, and all."""
        problems = self.rows[[*PROBLEM, "flops"]].drop_duplicates().sort_values("flops", kind="stable")
        count = len(problems) // 2 if self.small is None else self.small
        small = pandas.MultiIndex.from_frame(problems[PROBLEM].iloc[:count])
        mask = pandas.Series(pandas.MultiIndex.from_frame(self.rows[PROBLEM]).isin(small), index=self.rows.index)
        return {"small": self.part(mask), "large": self.part(~mask), "all": self}

    def of(self, *libraries: str) -> pandas.DataFrame:
        return self.rows[self.rows.library.isin(libraries)]

    def metric(self, library: str) -> pandas.DataFrame:
        return self.of(library).assign(metric="efficiency")

    def table(self, cost: str) -> pandas.DataFrame:
        return self.rows.pivot(index=PROBLEM, columns="library", values=cost)

    def mean(self, library: str, cost: str) -> float:
        """Mean GFLOP over mean seconds or joules."""
        of = self.of(library)
        return of.flops.sum() / of[cost].sum() / 1e9

    def ratio(self, library: str, other: str, cost: str) -> float:
        return self.mean(library, cost) / self.mean(other, cost)

    def factor(self, library: str, other: str, cost: str) -> float:
        """Geometric mean of the other library's cost / this one's."""
        costs = self.table(cost)
        return float(numpy.exp(numpy.log(costs[other] / costs[library]).mean()))

    def means(self, libraries: tuple[str, ...]) -> pandas.DataFrame:
        """As table 3.4."""
        costs = {"GFLOP/s": "simulated_s", "GFLOP/s/W": "joules"}
        lines = [{"library": NAMES.get(library, library)} | {
            f"{unit}, {part}": f"{of.mean(library, cost):.{2 if cost == 'joules' else 0}f}"
            for unit, cost in costs.items() for part, of in self.parts().items()} for library in libraries]
        return pandas.DataFrame(lines)


def table_rows(compared: Compared, of: Variants, others: tuple[str, ...], libraries: tuple[str, ...]) -> None:
    """The values of tables 3.4 and 3.5, and the factors of 3.3.3.3 and 3.3.4."""
    for name, part in of.parts().items():
        for library in libraries:
            short = NAMES.get(library, library)
            compared.add(f"{short}, rate, {name}", part.mean(library, "simulated_s"), part.of(library))
            compared.add(f"{short}, efficiency, {name}", part.mean(library, "joules"), part.metric(library))
            for other in others if short.startswith("select") else ():
                compared.add(f"{short} over {other}, speed, {name}", part.factor(library, other, "simulated_s"),
                             part.of(library, other))
                compared.add(f"{short} over {other}, efficiency, {name}", part.factor(library, other, "joules"),
                             part.metric(library))
    for library in libraries:
        if NAMES.get(library, "").startswith("select"):
            for what, cost in (("rate", "simulated_s"), ("efficiency", "joules")):
                compared.add(f"{NAMES[library]} over comm_opt, {what}", of.ratio(library, "PARALiA-comm_opt", cost),
                             of.metric(library) if cost == "joules" else of.of(library, "PARALiA-comm_opt"))
