"""The libraries in the papers, as policies."""

import dataclasses
import math
import pathlib

from .program import Failure
from .published import Finding, share_target, target
from .ranks import quantile
from .simulations import Simulation
from .tables import read_table

SIMULATE_EACH = ("--effort", "fixed")  # enough for all tiles of one problem

# Arguments of `tilerail simulate` for each library. For cuBLASXt the papers report the best of several tiles, so each
# is simulated. BLASX keeps its caches between timed calls (docs/model.md#libraries), and GEMMex tries its five best
# tiles in the first timed calls.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "cuBLASXt": ("--policy", "cublasxt", *SIMULATE_EACH),
    "BLASX": ("--policy", "blasx", "--set", "warm=on"),
    "BLASX, empty caches": ("--policy", "blasx"),
    "XKBLAS": ("--policy", "xkblas"),
    "PARALiA": ("--policy", "paralia"),
    "PARALiA-comm_opt": ("--policy", "paralia"),
    "PARALiA-select-PERF": ("--policy", "paralia", "--set", "devices=best(metric=perf)"),
    "PARALiA-select-EDP": ("--policy", "paralia", "--set", "devices=best(metric=edp)"),
    "PARALiA-select-PDP": ("--policy", "paralia", "--set", "devices=best(metric=pdp)"),
    "PARALiA-GEMMex": ("--policy", "gemmex"),
    "CoCoPeLia": ("--policy", "cocopelia"),
    "tilerail": ("--policy", "tilerail"),
}
OWN_TILES = {"PARALiA-GEMMex": ("--tile", "repeat")}  # for libraries whose preset has another rule
COLOURS = {"cuBLASXt": "#adb5bd", "BLASX": "#e9c46a", "XKBLAS": "#f4a261", "PARALiA": "#8ab17d",
           "PARALiA-comm_opt": "#8ab17d", "PARALiA-select-PERF": "#52796f", "PARALiA-select-EDP": "#2a9d8f",
           "PARALiA-select-PDP": "#264653", "PARALiA-GEMMex": "#287299", "CoCoPeLia": "#2a9d8f", "tilerail": "#d62828",
           "measured": "#30363d"}


def policy_of(library: str, tile: int | None = None) -> tuple[str, ...]:
    """The arguments of a library, with `tile`, if given, in place of its own."""
    return (*LIBRARIES[library], *(OWN_TILES.get(library, ()) if tile is None else ("--tile", str(tile))))


@dataclasses.dataclass(frozen=True)
class Measured:
    """A row of a reference table."""

    library: str
    machine: str
    sizes: tuple[int, int, int]
    place: str
    devices: str
    tile: int | None
    seconds: float

    def simulation(self, *more: str, tile: int | None = None) -> Simulation:
        """The simulation of the row, with `more` arguments for the policy."""
        policy = policy_of(self.library, tile or self.tile)
        return Simulation(",".join(map(str, self.sizes)), self.machine, self.place, (*policy, *more), self.devices)

    @property
    def problem(self) -> tuple:
        return (self.sizes, self.place, self.devices)

    @property
    def flops(self) -> float:
        return 2.0 * math.prod(self.sizes)


MEASURED_COLUMNS = ["library", "M", "N", "K", "loc_A", "loc_B", "loc_C", "tile", "median_s"]


def read_measured(path: pathlib.Path, machine: str, libraries=LIBRARIES, tile_of=None) -> list[Measured]:
    """Rows of a table with MEASURED_COLUMNS, and `devices` if some are unused. Tiles are integers unless tile_of parses
    the cell."""
    found = []
    for row in read_table(path, MEASURED_COLUMNS)[1]:
        if row["library"] not in libraries:
            raise Failure(f"{row.where}: library: '{row['library']}' is not one of {', '.join(libraries)}")
        tile = (tile_of(row.positive("tile")) if tile_of else row.whole("tile")) if row["tile"] else None
        found.append(Measured(row["library"], machine, tuple(row.whole(side) for side in "MNK"),
                              ":".join(row["loc_" + matrix] for matrix in "ABC"), row.cells.get("devices") or "all",
                              tile, row.positive("median_s")))
    return found


@dataclasses.dataclass(frozen=True)
class Compared:
    measured: Measured
    result: dict

    @property
    def error(self) -> float:
        """Above zero if the simulation is slower than the measurement."""
        return self.result["makespan_s"] / self.measured.seconds - 1


COMPARED_COLUMNS = ["library", "m", "n", "k", "place", "devices", "tile", "measured_s", "simulated_s", "error",
                    "bound_s", "bound_by"]


def compared_cells(each: Compared) -> list:
    row, result = each.measured, each.result
    return [row.library, *row.sizes, row.place, row.devices, result["tile"], row.seconds, repr(result["makespan_s"]),
            f"{each.error:.4f}", result["bound_s"], result["bound_by"]]


def by_library(compared: list[Compared]) -> dict[str, list[Compared]]:
    found = {}
    for each in compared:
        found.setdefault(each.measured.library, []).append(each)
    return found


def error_table(compared: list[Compared]) -> list[list[str]]:
    lines = [["error", "rows", "5%", "median", "95%", "median of |error|", "90%"]]
    for library, rows in by_library(compared).items():
        errors = [each.error for each in rows]
        sizes = list(map(abs, errors))
        lines.append([library, str(len(rows)), *(f"{quantile(errors, q):+.1%}" for q in (0.05, 0.5, 0.95)),
                      *(f"{quantile(sizes, q):.1%}" for q in (0.5, 0.9))])
    return lines


def error_findings(compared: list[Compared], targets: dict[str, float], fitted: tuple[str, ...] = ()) -> list[Finding]:
    """The median |error| of each library against its target; `fitted` libraries were fitted to these rows."""
    return [target(f"{library}, median |error|", targets[library], quantile([abs(each.error) for each in rows], 0.5),
                   library in fitted)
            for library, rows in by_library(compared).items() if library in targets]


def order_finding(compared: list[Compared], least: float) -> list[Finding]:
    """The share of library pairs ranked correctly, over all problems measured with both."""
    problems = {}
    for each in compared:
        problems.setdefault(each.measured.problem, []).append(each)
    right = [(a.measured.seconds < b.measured.seconds) == (a.result["makespan_s"] < b.result["makespan_s"])
             for rows in problems.values() for i, a in enumerate(rows) for b in rows[i + 1:]]
    return [share_target("the faster of two libraries", least, sum(right) / len(right))] if right else []


NEAR_BEST, OFTEN = 1.02, 0.95  # largest distance of `tilerail` from the best, and in which share of the problems


def near_best(seconds: dict[tuple, dict[str, float]]) -> list[Finding]:
    """From times by problem and library: how often `tilerail` is the fastest, or nearly."""
    near = [each["tilerail"] <= NEAR_BEST * min(each.values()) for each in seconds.values() if len(each) > 1]
    return [share_target("tilerail the best, or within 2% of it", OFTEN, sum(near) / len(near))] if near else []


def draw_errors(axes, groups: dict[str, list[float]], tolerance: float, title: str) -> None:
    """A box plot of each group's errors, on the tolerance band."""
    axes.axhspan(-tolerance, tolerance, color="#d8efd3", linewidth=0)
    axes.axhline(0, color="#8ab17d", linewidth=0.8)
    drawn = axes.boxplot([groups[name] for name in groups], widths=0.6, patch_artist=True, whis=(5, 95),
                         showfliers=False, medianprops={"color": "#30363d"})
    for box, name in zip(drawn["boxes"], groups):
        box.set_facecolor(COLOURS.get(name.split(",")[0].split("\n")[0], "#2a9d8f"))
    axes.set_xticks(range(1, len(groups) + 1), list(groups), fontsize=6)
    axes.tick_params(axis="y", labelsize=6)
    axes.set_ylabel("simulated over measured, minus 1", fontsize=6)
    axes.set_title(title, fontsize=7)
