"""The transfers of whole tiles in a timeline, as in libraries' traces: source and destination, whatever the route."""

import csv
import dataclasses
import math
import pathlib
import re

from tilerail.timeline import Timeline

from .program import Failure

_PART = re.compile(r"([ABC])\[(\d+):\d+,(\d+):\d+\]")


@dataclasses.dataclass
class Transfer:
    """A transfer of a tile, over the pairs of memories on its route."""

    tile: tuple[str, int, int]  # matrix, row number and column number
    pairs: list[tuple[str, str]]
    bytes: int
    start: float
    end: float
    first: int  # operation
    last: int
    pieces: int = 1

    def goes_on_in(self, other: "Transfer") -> bool:
        """Whether `other` is the next hop: planned directly after this one, and in pieces or of C, whose tiles are not
        shared."""
        return (self.tile == other.tile and self.pairs[-1][1] == other.pairs[0][0] and other.first == self.last + 1
                and self.pieces == other.pieces and (self.pieces > 1 or self.tile[0] == "C"))


def _pieces(timeline: Timeline, side: int):
    """Copies between memories. The two copies over a host's buffer, planned one directly after the other, count as one
    between GPUs."""
    copies = [at for at, kind in enumerate(timeline.kind) if kind == "copy"]
    taken = set()
    for at in copies:
        queue = timeline.queues[timeline.queue[at]]
        if at in taken or queue.src == queue.dst:
            continue
        src, dst, end, last = queue.src, queue.dst, timeline.end[at], at
        if dst in timeline.hosts and at + 1 < len(timeline) and timeline.label[at + 1] == timeline.label[at]:
            onward = timeline.queues[timeline.queue[at + 1]]
            if timeline.kind[at + 1] == "copy" and onward.src == dst:
                dst, end, last = onward.dst, timeline.end[at + 1], at + 1
                taken.add(last)
        part = _PART.fullmatch(timeline.label[at])
        if not part:
            raise Failure(f"operation {at} of the timeline: '{timeline.label[at]}' is not a part of a matrix")
        tile = (part[1], int(part[2]) // side, int(part[3]) // side)
        yield Transfer(tile, [(src, dst)], timeline.bytes[at], timeline.start[at], end, at, last)


def transfers(timeline: Timeline, side: int) -> list[Transfer]:
    """Transfers of tiles of side x side doubles. Tiles must fill their matrices."""
    found: list[Transfer] = []
    open_ = {}  # by tile and pair: incomplete transfers
    for piece in _pieces(timeline, side):
        key = (piece.tile, piece.pairs[0])
        whole = open_.get(key)
        if whole:
            whole.bytes += piece.bytes
            whole.start, whole.end = min(whole.start, piece.start), max(whole.end, piece.end)
            whole.last, whole.pieces = piece.last, whole.pieces + 1
        else:
            found.append(piece)
            whole = open_[key] = piece
        if whole.bytes >= 8 * side * side:
            del open_[key]
    routes: list[Transfer] = []
    by_last = {}
    for each in found:
        before = by_last.get(each.first - 1)
        if before and before.goes_on_in(each):
            before.pairs += each.pairs
            before.end, before.last = max(before.end, each.end), each.last
            by_last[each.last] = before
        else:
            routes.append(each)
            by_last[each.last] = each
    return routes


_HOST = "-1"  # in traces


def read_trace(path: pathlib.Path, memories: list[str]) -> list[tuple[list[tuple[str, str]], float, float, float]]:
    """Pairs, bytes, start and end of each line 'src,dst,[ hops ],bytes,issued,started,ended'."""
    traced = []
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for number, cells in enumerate(csv.reader(file), 1):
            try:
                _, _, hops, moved, _, start, end = cells
                names = ["host" if hop == _HOST else f"gpu{int(hop)}" for hop in hops.strip("[] ").split()]
                if len(names) < 2 or not set(names) <= set(memories):
                    raise ValueError
                if not (math.isfinite(float(end)) and float(end) > float(start) and 0 < float(moved) < math.inf):
                    raise ValueError
                traced.append((list(zip(names, names[1:])), float(moved), float(start), float(end)))
            except ValueError:
                raise Failure(f"{path}:{number}: '{','.join(cells)}' is not a transfer between memories of the machine; "
                              "expected src,dst,[ hops ],bytes,issued,started,ended") from None
    return traced
