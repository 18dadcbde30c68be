"""PARALiA's variants: mean rates and efficiencies of tables 3.4 and 3.5, and factors between libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product

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


COSTS = {"simulated_s": ("rate", "speed"), "joules": ("efficiency", "efficiency")}  # names of a mean, and of a factor


def table_rows(compared: Compared, of: Variants, libraries: tuple[str, ...]) -> None:
    """The means of tables 3.4 and 3.5, their ratios, and the factors of 3.3.3.3 and 3.3.4."""
    short = {library: NAMES.get(library, library) for library in libraries}
    for (part_name, part), (cost, (mean, factor)) in product(of.parts().items(), COSTS.items()):
        def add(name: str, ours: Callable, *of_libraries: str) -> None:
            if name in compared.values:
                compared.add(name, ours(*of_libraries, cost), part.of(*of_libraries).assign(metric=mean))

        for library in libraries:
            add(f"{short[library]}, {mean}, {part_name}", part.mean, library)
        for pair in permutations(libraries, 2):
            names = " over ".join(short[library] for library in pair)
            add(f"{names}, mean {mean}, {part_name}", part.ratio, *pair)
            add(f"{names}, {factor}, {part_name}", part.factor, *pair)
