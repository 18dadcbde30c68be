"""The CSV timeline of the `tilerail` command (docs/formats.md, section Timeline)."""

import csv
import math
import os
import re
from dataclasses import dataclass, field

COLUMNS = "op kind queue device src dst bytes flops route label ready_s start_s end_s".split()
METADATA = "schema version plan_hash machine policy problem tile backend devices hosts ops".split()
ENERGIES = "energy_j counted_energy_j".split()
OPTIONAL_METADATA = [*ENERGIES, "interval_s"]
KINDS = ("copy", "gemm", "axpby", "join", "potrf", "trsm", "syrk", "geqrt", "ormqr", "tsqrt", "tsmqr")
SCHEMA = "1"

_WHOLE = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|-0")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MOST_SECONDS = 1e9
_MOST_FLOPS = 1e30
_MOST_JOULES = 1e15


class TimelineError(ValueError):
    """An invalid timeline, or timelines that do not belong together. The message contains the location."""


@dataclass(frozen=True)
class Queue:
    """A queue of operations: the kernels of a device (src == dst), or copies from src to dst."""

    name: str
    device: str
    src: str
    dst: str
    route: tuple[str, ...]
    shares: tuple[float, ...]  # by link of the route: its part of the bytes


@dataclass
class Timeline:
    """A run. Lists are indexed by operation; `queue` contains indices into `queues`; times are in seconds."""

    metadata: dict[str, str]
    queues: list[Queue] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    queue: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    flops: list[float] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    ready: list[float] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    end: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def makespan(self) -> float:
        """End of the last operation, in seconds."""
        return max(self.end, default=0.0)

    @property
    def devices(self) -> list[str]:
        """GPUs that compute."""
        return _names(self.metadata["devices"])

    def energies(self, key: str) -> list[float] | None:
        """Joules by device, "energy_j" (modelled) or "counted_energy_j"; None if missing in the file."""
        text = self.metadata.get(key)
        return None if text is None else [_number(part, key, _MOST_JOULES) for part in _names(text)]

    @property
    def hosts(self) -> list[str]:
        return _names(self.metadata["hosts"])


def _names(text: str) -> list[str]:
    return text.split(";") if text else []


def _whole(text: str, what: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise TimelineError(f"{what}: {text!r}; expected a whole number from 0")
    return int(text)


def _number(text: str, what: str, most: float) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= most:
        raise TimelineError(f"{what}: {text!r}; expected a number from 0 to {most:g}")
    return value


def _route(text: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Links, and their parts of the bytes: "a->b;b->c 1/2"."""
    links, shares = [], []
    for entry in _names(text):
        link, _, share = entry.partition(" ")
        part, _, parts = (share or "1/1").partition("/")
        numbers = _whole(part, "route"), _whole(parts, "route")
        if not 1 <= numbers[0] <= numbers[1]:
            raise TimelineError(f"route: {entry!r}; expected a link, or one and a part of 1 such as 1/2")
        links.append(link)
        shares.append(numbers[0] / numbers[1])
    return tuple(links), tuple(shares)


class _Reader:
    """Reads a file line by line and tracks the location."""

    def __init__(self, text: str, name: str):
        self.name = name
        self.line = 0
        self.lines = text.split("\n")
        if self.lines.pop() != "":
            self.line = len(self.lines) + 1
            raise self.error("the line is cut off; expected a line break")

    def error(self, message: str) -> TimelineError:
        return TimelineError(f"{self.name}:{max(self.line, 1)}: {message}")

    def read(self) -> Timeline:
        timeline = Timeline(self.read_metadata())
        header = self.line
        try:
            ops = _whole(timeline.metadata["ops"], "ops")
            for key in ENERGIES:
                energies = timeline.energies(key)
                if energies is not None and len(energies) != len(timeline.devices):
                    expected = f"expected one for each of {len(timeline.devices)} devices"
                    raise TimelineError(f"{key}: {len(energies)} numbers; {expected}")
            rows = self.read_rows(header, timeline)
        except TimelineError as error:
            raise self.error(str(error)) from None
        if len(rows) != ops:
            raise self.error(f"{len(rows)} operations up to here; '# ops=' says {ops}")
        self.fill(timeline, rows)
        return timeline

    def read_metadata(self) -> dict[str, str]:
        metadata = {}
        for text in self.lines:
            self.line += 1
            control = _CONTROL.search(text)
            if control:
                raise self.error(f"control character {control.group()!r}; expected text")
            if not text.startswith("#"):
                break
            key, equals, value = text[2:].partition("=")
            if not text.startswith("# ") or not equals:
                raise self.error("expected '# key=value'")
            if key not in METADATA + OPTIONAL_METADATA:
                raise self.error(f"unknown key {key!r}; expected one of: {', '.join(METADATA + OPTIONAL_METADATA)}")
            if key in metadata:
                raise self.error(f"{key!r} is given twice")
            metadata[key] = value
        missing = [key for key in METADATA if key not in metadata]
        if missing:
            raise self.error(f"no '# {missing[0]}=' before the header; expected a timeline of tilerail")
        if metadata["schema"] != SCHEMA:
            raise self.error(f"schema: {metadata['schema']!r}; expected {SCHEMA}")
        if self.line > len(self.lines) or self.lines[self.line - 1] != ",".join(COLUMNS):
            raise self.error(f"other columns than expected: {','.join(COLUMNS)}")
        return metadata

    def read_rows(self, header: int, timeline: Timeline) -> dict[int, tuple]:
        """Operations by number; appends the queues to the timeline."""
        rows: dict[int, tuple] = {}
        queues: dict[str, int] = {}
        cells = csv.reader(self.lines[header:], strict=True)
        while True:
            try:
                row = next(cells, None)
            except csv.Error as error:
                raise TimelineError(f"{error}") from None
            if row is None:
                return rows
            self.line = header + cells.line_num
            if len(row) != len(COLUMNS):
                raise TimelineError(f"{len(row)} columns; expected {len(COLUMNS)}")
            number = _whole(row[0], "op")
            if number in rows:
                raise TimelineError(f"op: {number} is given twice")
            rows[number] = self.parsed(row, queues, timeline.queues)

    @staticmethod
    def parsed(row: list[str], numbers: dict[str, int], queues: list[Queue]) -> tuple:
        kind, name = row[1], row[2]
        if kind not in KINDS:
            raise TimelineError(f"kind: {kind!r}; expected {', '.join(KINDS)}")
        if not all(row[2:6]):
            raise TimelineError("queue, device, src or dst is empty; expected names")
        control = _CONTROL.search("".join(row[2:10]))
        if control:
            raise TimelineError(f"control character {control.group()!r}; expected text")
        queue = Queue(name, row[3], row[4], row[5], *_route(row[8]))
        number = numbers.setdefault(name, len(queues))
        if number == len(queues):
            queues.append(queue)
        elif queues[number] != queue:
            raise TimelineError(f"queue {name!r} has another device, src, dst or route than before")
        start, end = _number(row[11], "start_s", _MOST_SECONDS), _number(row[12], "end_s", _MOST_SECONDS)
        if end < start:
            raise TimelineError(f"end_s: {end} is before start_s {start}")
        return (
            kind, number, _whole(row[6], "bytes"), _number(row[7], "flops", _MOST_FLOPS), row[9],
            _number(row[10], "ready_s", _MOST_SECONDS), start, end,
        )

    def fill(self, timeline: Timeline, rows: dict[int, tuple]) -> None:
        """Fills the columns in the order of the operations, which must be 0 .. ops - 1."""
        if rows and max(rows) >= len(rows):
            raise self.error(f"op: {max(rows)} of {len(rows)} operations; expected ids from 0 to {len(rows) - 1}")
        columns = (timeline.kind, timeline.queue, timeline.bytes, timeline.flops, timeline.label, timeline.ready,
                   timeline.start, timeline.end)
        for number in range(len(rows)):
            for column, value in zip(columns, rows[number]):
                column.append(value)


def read_timeline(path: str | os.PathLike) -> Timeline:
    """Reads a timeline. Raises TimelineError "file:line: ..." for anything that `tilerail` does not write."""
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8", newline="") as file:
            text = file.read()
    except OSError as error:
        raise TimelineError(f"cannot read '{name}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise TimelineError(f"{name}:1: not UTF-8 text; expected a timeline of tilerail") from None
    return _Reader(text, name).read()
