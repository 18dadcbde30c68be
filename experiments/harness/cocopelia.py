"""CoCoPeLia's measurements on its two testbeds, with one GPU."""

import dataclasses
import math

from .libraries import policy_of
from .published import REFERENCE
from .simulations import Simulation
from .tables import read_table

TESTBEDS = {"1": "cocopelia-testbed-1", "2": "cocopelia-testbed-2"}
DTYPES = {"dgemm": "f64", "sgemm": "f32", "daxpy": "f64"}
OVERLAP = 1.5  # tiles are at most the least size / this
POLICIES = {"CoCoPeLia": "CoCoPeLia", "CoCoPeLia-selected": "CoCoPeLia", "cuBLASXt": "cuBLASXt",
            "cuBLASXt-best": "cuBLASXt", "BLASX": "BLASX, empty caches"}


@dataclasses.dataclass(frozen=True)
class OneGpu:
    """A problem, a library and a tile, with the measured time."""

    testbed: str  # 1 or 2
    routine: str
    library: str
    sizes: tuple[int, int, int]  # M,N,K; for daxpy its length, 1 and 1
    place: str
    tile: int
    seconds: float

    @property
    def least(self) -> int:
        return self.sizes[0] if self.routine == "daxpy" else min(self.sizes)

    @property
    def problem(self) -> tuple:
        return self.testbed, self.routine, self.sizes, self.place

    @property
    def overlaps(self) -> bool:
        """Whether the paper validates its models with this row: some data move, and tiles are small enough (V-B)."""
        return "h" in self.place and OVERLAP * self.tile <= self.least

    @property
    def flops(self) -> float:
        return 2.0 * math.prod(self.sizes)

    def simulation(self) -> Simulation:
        vectors = self.routine == "daxpy"
        return Simulation(str(self.sizes[0]) if vectors else ",".join(map(str, self.sizes)), TESTBEDS[self.testbed],
                          self.place, policy_of(POLICIES[self.library], self.tile), "0", DTYPES[self.routine],
                          "axpy" if vectors else "gemm")


def one_gpu_rows(libraries: tuple[str, ...]) -> list[OneGpu]:
    """The measured rows of these libraries, a row per tile."""
    columns = ["testbed", "routine", "library", "M", "N", "K", "place", "tiles", "seconds"]
    found = []
    for row in read_table(REFERENCE / "cocopelia_measured.csv", columns)[1]:
        if row["library"] in libraries:
            sides = tuple(row.whole(side) for side in "MNK")
            for tile, seconds in zip(row["tiles"].split(), row["seconds"].split()):
                found.append(OneGpu(row["testbed"], row["routine"], row["library"], sides, row["place"], int(tile),
                                    float(seconds)))
    return found


def by_problem(rows: list[OneGpu]) -> dict[tuple, list[OneGpu]]:
    found = {}
    for row in rows:
        found.setdefault(row.problem, []).append(row)
    return found
