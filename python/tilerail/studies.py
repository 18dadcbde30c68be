"""Many simulations: sweeps, what-if, calibration."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING

from . import _core
from .errors import InputError
from .frames import frame_of_rows
from .machines import Machine, machine as machines
from .plans import Devices, job_texts
from .problems import Problem
from .texts import Value, count_of, flag_of, instance_of, list_of, mapping_of, number_of, shown, text_of, utf8

if TYPE_CHECKING:
    import pandas


_MOST_SILENCE = 0.5  # seconds


@dataclass(frozen=True)
class _Sweep:
    """A sweep as other processes get it."""

    texts: tuple[tuple[str, str], ...]
    axes: tuple[str, ...]
    machine: str  # the text of its file

    def points(self) -> _core.SweepPoints:
        """Each process checks a sweep once, and its points share plans."""
        with _BUILDING:
            if (known := _POINTS.get(self)) is None:
                texts = dict(self.texts)
                machine = _core.read_machine(self.machine, texts["topology"])
                if len(_POINTS) >= _MOST_SWEEPS:
                    _POINTS.pop(next(iter(_POINTS)), None)
                known = _POINTS[self] = _core.SweepPoints(texts, list(self.axes), machine)
            return known


_POINTS: dict[_Sweep, _core.SweepPoints] = {}  # of this process
_MOST_SWEEPS = 4
_BUILDING = RLock()
os.register_at_fork(before=_BUILDING.acquire, after_in_parent=_BUILDING.release, after_in_child=_BUILDING.release)


def _rows(sweep: _Sweep, numbers: list[int]) -> list[dict]:
    points = sweep.points()
    return [points.row(number) for number in numbers]


def _axis(key: str | tuple[str, ...], values: Value | Iterable[Value]) -> str:
    keys = " & ".join(utf8(instance_of(part, str, "vary", "a key"), "vary") for part in list_of(key))
    if isinstance(values, str):
        return f"{keys}={utf8(values, keys)}"
    texts = [text_of(value, keys) for value in list_of(values)]
    separator = ";" if any("," in text for text in texts) else ","
    return f"{keys}={separator.join(texts)}" + (separator if len(texts) == 1 and separator == ";" else "")


def sweep(problem: Problem, machine: Machine | str, policy: str = "tilerail", *,
          vary: Mapping[str | tuple[str, ...], Value | Iterable[Value]], effort: str | None = None,
          tile: Value | None = None, devices: Devices = "all", options: Mapping[str, Value] | None = None,
          executor: Executor | None = None, chunk: int | None = None) -> pandas.DataFrame:
    """Plans and simulates all combinations of values; a row for each (docs/formats.md#sweep).

    ``vary``: values by key, a list or a range such as "25..200 x2 GB/s"; keys in a tuple take the same values. Keys
    are options (gemm, m, n, k, dtype, place, devices, policy, tile, effort), fields of policies, and settings of the
    machine ("link:host->gpu*.bandwidth", "gpus"). ``executor``: any executor of ``concurrent.futures``, such as
    ``dask.distributed.Client().get_executor()`` or ``mpi4py.futures.MPIPoolExecutor()``; default: threads on all
    cores. Each task has ``chunk`` points. If a task fails or the executor breaks, threads run the missing points, with
    a RuntimeWarning. Rows do not depend on the executor. A point without a result has a text in ``error``.
    Raises InputError before anything runs.
    """
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "submit", None))):
        raise InputError("executor", shown(executor), expected="an executor of concurrent.futures")
    made = machines(machine)
    name = f"<{made.name}>"  # no file: its text goes to other processes
    texts = job_texts(problem, policy, effort, tile, devices, options) | {"topology": name}
    axes = tuple(_axis(key, values) for key, values in mapping_of(vary, "vary").items())
    task = _Sweep(tuple(sorted(texts.items())), axes, made.to_toml())
    try:
        count = len(task.points())
        together = max(1, min(64, count // 32)) if chunk is None else count_of(chunk, "chunk")
        rows: list[dict | None] = [None] * count
        if executor is not None and (error := _fill(rows, task, executor, together, lenient=True)):
            warnings.warn(f"tasks of the sweep's executor failed ({type(error).__name__}: {error}); their points run in "
                          "threads", RuntimeWarning, stacklevel=2)
        if None in rows:
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                _fill(rows, task, threads, 1)
        return frame_of_rows(rows)
    finally:
        _POINTS.pop(task, None)


def _fill(rows: list[dict | None], task: _Sweep, executor: Executor, chunk: int,
          lenient: bool = False) -> Exception | None:
    """Runs the points without a row. Returns the error of a broken executor or, if ``lenient``, the first error of a
    task; the points then have no row. Raises InputError."""
    left = [point for point, row in enumerate(rows) if row is None]
    parts: dict[Future, list[int]] = {}
    failed: Exception | None = None
    try:
        for first in range(0, len(left), chunk):
            part = left[first:first + chunk]
            parts[_submitted(executor, task, part)] = part
        pending = set(parts)
        while pending:  # a shut-down executor cancels tasks without a notice
            done = wait(pending, _MOST_SILENCE, FIRST_COMPLETED).done | {each for each in pending if each.cancelled()}
            pending -= done
            for future in done:
                if future.cancelled():
                    raise BrokenExecutor("it has cancelled tasks")
                error = future.exception()
                if lenient and isinstance(error, Exception) and not isinstance(error, (InputError, BrokenExecutor)):
                    failed = failed or error  # such as dask's KilledWorker
                    continue
                for point, row in zip(parts[future], future.result()):
                    rows[point] = row
    except BrokenExecutor as error:
        failed = failed or error
    finally:
        for future in parts:
            future.cancel()
    return failed


def _submitted(executor: Executor, task: _Sweep, part: list[int]) -> Future:
    try:
        return executor.submit(_rows, task, part)
    except BrokenExecutor:
        raise
    except RuntimeError as error:  # it is shut down
        raise InputError("executor", shown(executor), f"takes no tasks: {error}", "an executor that is open") from None


def whatif(problem: Problem, machine: Machine | str, policy: str = "tilerail", *, effort: str | None = None,
           tile: Value | None = None, devices: Devices = "all", options: Mapping[str, Value] | None = None,
           only: str | Iterable[str] = (), each: bool = False, threads: int | None = None) -> pandas.DataFrame:
    """Makes each part of the machine faster and slower, plans again, and ranks the parts by the time saved.

    A row for each change (docs/formats.md#what-if), times in seconds. ``only``: patterns of names, such as
    "link:gpu0->*"; ``each``: equivalent parts one by one; ``threads``: default: all cores. Raises InputError.
    """
    made = machines(machine)
    texts = job_texts(problem, policy, effort, tile, devices, options)
    patterns = [utf8(instance_of(name, str, "only", "a pattern of names"), "only") for name in list_of(only)]
    count = (os.cpu_count() or 1) if threads is None else count_of(threads, "threads")
    return frame_of_rows(_core.what_if(made._native, texts, patterns, flag_of(each, "each"), count))


def calibrate(*, backend: str = "host", devices: int | None = None, workers: int | None = None,
              seconds: float | None = None, name: str | None = None) -> Machine:
    """Measures this computer, as ``tilerail calibrate`` does: its threads and memory, or with backend "cuda" its GPUs.

    ``devices`` (of ``workers`` threads each on the host), for about ``seconds``; ``name``: of the machine. Uncertain
    results are warnings. Raises InputError, and HardwareError if there are no GPUs.
    """
    if not isinstance(backend, str) or backend not in ("host", "cuda"):
        raise InputError("backend", shown(backend), "is not a backend to calibrate", '"host" or "cuda"')
    if backend == "cuda":
        if workers is not None:
            raise InputError("workers", shown(workers), "has no meaning with GPUs", 'backend "host"')
        _core.load_gpu_part()
    counts = [None if count is None else count_of(count, what)
              for count, what in ((devices, "devices"), (workers, "workers"))]
    native, uncertain = _core.calibrate(backend, *counts, None if seconds is None else number_of(seconds, "seconds"),
                                        None if name is None else text_of(name, "name"))
    for text in uncertain:
        warnings.warn(text, stacklevel=2)
    return Machine(native)
