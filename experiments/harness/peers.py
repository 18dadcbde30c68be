"""Libraries measured on GPUs for comparison: the rows of experiments/reference/hgx_h200*_peers.csv."""

import dataclasses
import pathlib

from .hardware import Case
from .tables import read_table

COLUMNS = ["library", "dtype", "gpus", "M", "N", "K", "loc_A", "loc_B", "loc_C", "tile", "median_s", "min_s"]


@dataclasses.dataclass(frozen=True)
class Problem:
    m: int
    n: int
    k: int
    dtype: str
    place: str
    gpus: int

    @property
    def name(self) -> str:
        size = str(self.m) if self.m == self.n == self.k else f"{self.m} x {self.n} x {self.k}"
        return f"{size} {self.dtype} {self.place} on {self.gpus} GPU{'s' if self.gpus > 1 else ''}"

    def case(self, gpus: int) -> Case:
        """On fewer GPUs than the peers used, matrices on GPU i are on GPU i mod gpus."""
        there = min(gpus, self.gpus)
        place = ":".join(str(int(at) % gpus) if at.isdigit() else at for at in self.place.split(":"))
        return Case(self.m, self.n, self.k, place, there, self.dtype, label=self.name)


@dataclasses.dataclass(frozen=True)
class Peer:
    library: str
    seconds: float


def read_peers(path: pathlib.Path) -> dict[Problem, list[Peer]]:
    """The peers of each problem, fastest first."""
    peers = {}
    for row in read_table(path, COLUMNS)[1]:
        place = ":".join(row["loc_" + matrix] for matrix in "ABC")
        problem = Problem(row.whole("M"), row.whole("N"), row.whole("K"), row["dtype"], place, row.whole("gpus"))
        peers.setdefault(problem, []).append(Peer(row["library"], row.positive("median_s")))
    return {problem: sorted(found, key=lambda peer: peer.seconds) for problem, found in peers.items()}
