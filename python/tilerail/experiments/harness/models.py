"""CoCoPeLia's models of a routine on one GPU with overlapping copies and kernels (docs/model.md#overlap-models)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import pandas

import tilerail as tr

from .studies import link, roomy

MODELS = ("baseline", "dataloc", "bts", "dr", "cso")
BYTES = {"f64": 8, "f32": 4}


@lru_cache(maxsize=None)
def direction(machine: str, src: str, dst: str) -> tuple[float, float, float]:
    """Latency, seconds a byte, and slowdown by copies in the other direction."""
    latency, rate = link(machine, src, dst)
    return latency, 1 / rate, max(1.0, rate / link(machine, src, dst, both=True)[1])


@lru_cache(maxsize=None)
def kernel(machine: str, routine: str, dtype: str, m: int, n: int, k: int) -> float:
    """Seconds of one kernel in the simulator's timeline, on a GPU with enough memory."""
    at = {"dtype": dtype, "place": "0:0" if routine == "axpy" else "0:0:0"}
    problem = tr.axpy(m, **at) if routine == "axpy" else tr.gemm(m, n, k, **at)
    only = tr.simulate(problem, roomy(machine), "baseline", devices=[0], tile=max(m, n, k)).timeline.iloc[0]
    return only.end_s - only.start_s


@dataclass(frozen=True)
class Overlap:
    """A routine on GPU 0 in tiles."""

    machine: str
    routine: str
    dtype: str
    sizes: tuple[int, int, int]
    place: str
    tile: int

    def copy(self, shape: tuple[int, int], back: bool, whole: bool = False) -> float:
        """Seconds of a tile of an operand, or of the whole operand."""
        latency, per_byte, _ = direction(self.machine, *(("gpu0", "host") if back else ("host", "gpu0")))
        return latency + prod(side if whole else min(side, self.tile) for side in shape) * BYTES[self.dtype] * per_byte

    def seconds(self) -> dict[str, float]:
        """By model: equations 1, 2, 4 and 5, and streams without reuse (van Werkhoven et al., CCGrid 2014)."""
        m, n, k = self.sizes
        shapes = [(m, 1), (m, 1)] if self.routine == "axpy" else [(m, k), (k, n), (m, n)]
        fetched = [shape for shape, home in zip(shapes, self.place.split(":")) if home == "h"]
        written = shapes[-1:] if self.place.endswith("h") else []
        one = kernel(self.machine, self.routine, self.dtype, *(min(side, self.tile) for side in self.sizes))
        whole = kernel(self.machine, self.routine, self.dtype, *self.sizes)
        count = prod(max(1.0, side / self.tile) for side in self.sizes)
        all_in, all_out = (sum(self.copy(shape, back) for shape in shapes) for back in (False, True))
        first = sum(self.copy(shape, False) for shape in fetched)
        last = sum(self.copy(shape, True) for shape in written)

        def pipelined(into: float, out: float, transfers: float) -> float:
            return max(one, transfers) * (count - 1) + into + one + out

        slow_to, slow_back = direction(self.machine, "host", "gpu0")[2], direction(self.machine, "gpu0", "host")[2]
        slow_in, slow_out = slow_to * first, slow_back * last
        both = (slow_out + (slow_in - slow_out) / slow_to if slow_in >= slow_out else
                slow_in + (slow_out - slow_in) / slow_back)
        fetches = [prod(max(1.0, side / self.tile) for side in shape) - 1 for shape in fetched]
        reused = sum(number * max(self.copy(shape, False), one) for shape, number in zip(fetched, fetches))
        parts = [whole, sum(self.copy(shape, False, whole=True) for shape in fetched),
                 sum(self.copy(shape, True, whole=True) for shape in written)]
        return {"baseline": pipelined(all_in, all_out, max(all_in, all_out)),
                "dataloc": pipelined(first, last, max(first, last)), "bts": pipelined(first, last, both),
                "dr": reused + one * (count - sum(fetches)) + first + last,
                "cso": max(parts) + (sum(parts) - max(parts)) / count}


def predictions(rows: pandas.DataFrame) -> pandas.DataFrame:
    """A column NAME_s for each model, for rows with machine, routine, dtype, m, n, k, place and tile."""
    found = [Overlap(row.machine, row.routine, row.dtype, (row.m, row.n, row.k), row.place, row.tile).seconds()
             for row in rows.itertuples()]
    return pandas.DataFrame(found, index=rows.index, columns=list(MODELS)).add_suffix("_s")
