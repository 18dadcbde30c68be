"""Plans, and their results in a simulator or on real memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import InputError
from .frames import frame_of, frame_of_rows
from .machines import Machine, machine as machines
from .problems import Problem
from .texts import Value, options_of, text_of, texts_of

if TYPE_CHECKING:
    import numpy
    import pandas

Devices = str | Sequence[str | int]

_OWN_ARGUMENTS = frozenset(("gemm", "gemv", "dot", "axpy", "m", "n", "k", "dtype", "transa", "transb", "alpha", "beta",
                            "place", "lda", "ldb", "ldc", "topology", "devices", "policy", "tile", "effort"))


def job_texts(problem: Problem, policy: str, effort: str | None, tile: Value | None, devices: Devices,
              options: Mapping[str, Value] | None) -> dict[str, str]:
    if not isinstance(problem, Problem):
        raise InputError(f"problem: {problem!r} is not a problem; expected the result of gemm(m, n, k) or another routine",
                         "problem", repr(problem), expected="the result of gemm(m, n, k) or another routine")
    for key in options or ():
        if key in _OWN_ARGUMENTS:
            raise InputError(f"options: '{key}' is not a field of policies; expected an argument of its own", "options",
                             str(key), expected="an argument of its own")
    if not isinstance(devices, str):
        devices = ",".join(text_of(device, "devices") for device in devices)
    return problem.texts | texts_of(policy=policy, effort=effort, tile=tile, devices=devices) | options_of(options)


class Plan:
    """All decisions about one problem on one machine, and the operations that follow from them."""

    def __init__(self, native: _core.Plan):
        self._native = native

    @property
    def machine(self) -> Machine:
        return Machine(self._native.machine)

    @property
    def hash(self) -> str:
        """16 hexadecimal digits: plans that run identically have equal hashes."""
        return self._native.hash

    @property
    def policy(self) -> str:
        return self._native.policy

    @property
    def tile(self) -> int:
        """Size of a tile, in elements."""
        return self._native.tile

    @property
    def grid(self) -> str:
        """How processors share C."""
        return self.decisions.get("grid", "")

    @property
    def processors(self) -> list[str]:
        """Names of the processors that take part."""
        return self._native.processors

    @property
    def decisions(self) -> dict[str, str]:
        """The decisions of the policy, by field."""
        return self._native.decisions

    @property
    def seconds_to_plan(self) -> float:
        return self._native.plan_s

    def __len__(self) -> int:
        """Operations."""
        return self._native.ops

    def to_json(self) -> str:
        """The plan file (docs/formats.md#plan)."""
        return self._native.to_json()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the plan file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def __reduce__(self):
        return _plan_of, (self.to_json(), self.machine)

    def __repr__(self) -> str:
        return (f"<Plan {self.hash}: {len(self)} operations, tile {self.tile}, {', '.join(self.processors)}, "
                f"policy {self.policy}>")


def _plan_of(json: str, machine: Machine, place: str = "plan") -> Plan:
    return Plan(_core.read_plan(machine._native, json, place))


class Result:
    """A plan's times: simulated, or measured on real memory."""

    def __init__(self, native: _core.Result, plan: Plan, backend: str):
        self._native = native
        self.plan = plan
        self.backend = backend  #: "fluid" or "sim" (simulators), "host" or "cuda"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything of docs/formats.md#summary."""
        return self._native.summary()

    @property
    def makespan(self) -> float:
        """Seconds from the first operation to the last result."""
        return self.summary["makespan_s"]

    @property
    def tflops(self) -> float:
        return self.summary["tflops"]

    @property
    def bound(self) -> float:
        """Seconds that every plan takes at least on these processors (docs/model.md#bound)."""
        return self.summary["bound_s"]

    @property
    def bound_by(self) -> str:
        """The resource that explains most of the bound."""
        return self.summary["bound_by"]

    @property
    def bottleneck(self) -> str:
        """The longest part of the critical path, such as "link host->gpu0"."""
        path = self.summary["critical_path"]
        return f"{path[0]['kind']} {path[0]['name']}".strip() if path else ""

    @property
    def fits(self) -> bool:
        """Whether tiles and matrices fit in every memory."""
        return all(memory["capacity_bytes"] is None or
                   memory["matrix_bytes"] + memory["tile_bytes"] <= memory["capacity_bytes"]
                   for memory in self.summary["memories"])

    @property
    def iterations(self) -> list[float]:
        """Seconds of each measured call; empty for a simulation."""
        return self.summary.get("iterations_s", [])

    @property
    def check(self) -> dict[str, Any] | None:
        """The check of a run: passed, residual, tolerance. None without a check."""
        return self.summary.get("check")

    @property
    def links(self) -> pandas.DataFrame:
        """A row for each link: name, bytes, utilisation (a share of what it could carry in the makespan)."""
        return frame_of_rows(self.summary["links"])

    @property
    def groups(self) -> pandas.DataFrame:
        """The same for links that share a capacity."""
        return frame_of_rows(self.summary["groups"])

    @property
    def memories(self) -> pandas.DataFrame:
        """A row for each memory in use: name, matrix_bytes, tile_bytes, capacity_bytes."""
        return frame_of_rows(self.summary["memories"])

    @property
    def critical_path(self) -> pandas.DataFrame:
        """The parts of the makespan: kind, name, seconds."""
        return frame_of_rows(self.summary["critical_path"])

    @cached_property
    def timeline(self) -> pandas.DataFrame:
        """A row for each operation: the columns of docs/formats.md#timeline, times in seconds; ``attrs`` has the keys
        of the file's head, such as "policy"."""
        return frame_of(self.columns(), self._native.timeline_facts())

    def columns(self) -> dict[str, numpy.ndarray | tuple[numpy.ndarray, list[str]]]:
        """The timeline as NumPy arrays, for other libraries than pandas; a column of names is (codes, names)."""
        return self._native.timeline()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the timeline: .csv (docs/formats.md#timeline), or .json for Perfetto."""
        text = self._native.trace_json() if os.fspath(path).endswith(".json") else self._native.timeline_csv()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return (f"<Result {self.backend}: makespan {self.makespan:.6g} s, {self.tflops:.4g} TFLOP/s, "
                f"{self.makespan / self.bound:.2f} x the bound>" if self.bound > 0 else
                f"<Result {self.backend}: makespan {self.makespan:.6g} s>")

    def _repr_html_(self) -> str:
        facts = {"makespan": f"{self.makespan * 1e3:.4g} ms", "TFLOP/s": f"{self.tflops:.4g}",
                 "bound": f"{self.bound * 1e3:.4g} ms, {self.bound_by}", "bottleneck": self.bottleneck,
                 "plan": repr(self.plan)[1:-1], "by": self.backend}
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in facts.items())
        return f"<table>{rows}</table>"


def plan(problem: Problem, machine: Machine | str, policy: str = "tilerail", *, effort: str | None = None,
         tile: Value | None = None, devices: Devices = "all", options: Mapping[str, Value] | None = None,
         plan_cache: str = "") -> Plan:
    """Plans a problem.

    ``policy``: a preset (``tilerail policies``); ``options``: other values of its fields. ``effort``: "fast", "fixed",
    "normal" or "high". ``tile``: elements, or "auto". ``devices``: "all", or numbers of GPUs and names of cores.
    ``plan_cache``: a file of ``tilerail tune``. Raises InputError.
    """
    texts = job_texts(problem, policy, effort, tile, devices, options)
    return Plan(_core.plan(machines(machine)._native, texts, plan_cache))


def load_plan(path: str | os.PathLike, machine: Machine | str) -> Plan:
    """Reads a plan file for this machine. Raises InputError if it does not fit."""
    with open(path, encoding="utf-8") as file:
        return _plan_of(file.read(), machines(machine), os.fspath(path))


def simulate(problem: Problem | Plan, machine: Machine | str | None = None, policy: str = "tilerail", *,
             simulator: str = "fluid", **given) -> Result:
    """Predicts the times of a plan, or of the plan of a problem (arguments of ``plan``).

    ``simulator``: "fluid", which threads can use simultaneously, or "sim" (SimGrid); their times are equal to 1e-9.
    """
    made = _plan_for(problem, machine, policy, given)
    return Result(_core.simulate(made._native, simulator), made, simulator)


def run(problem: Problem | Plan, machine: Machine | str | None = None, policy: str = "tilerail", *,
        backend: str = "host", iterations: int = 3, warmup: int = 1, seed: int = 1, check: bool = False,
        **given) -> Result:
    """Executes a plan, or the plan of a problem (arguments of ``plan``), on random matrices and measures it.

    ``backend``: "host" (threads and memory of this computer) or "cuda". Raises HardwareError if it is missing.
    """
    for name, count, least in (("iterations", iterations, 1), ("warmup", warmup, 0)):
        if count < least:
            raise InputError(f"{name}: '{count}' is out of range; expected at least {least}", name, str(count),
                             expected=f"at least {least}")
    if backend == "cuda":
        _core.load_gpu_part()
    made = _plan_for(problem, machine, policy, given)
    return Result(_core.run(made._native, backend, warmup, iterations, seed, check), made, backend)


def _plan_for(problem: Problem | Plan, machine: Machine | str | None, policy: str, given: dict) -> Plan:
    if isinstance(problem, Plan):
        if machine is not None or policy != "tilerail" or given:
            raise InputError("plan: is given with a machine or a policy; expected the plan alone", "plan",
                             expected="the plan alone")
        return problem
    if machine is None:
        raise InputError("machine: is missing; expected a machine or its name", "machine",
                         expected="a machine or its name")
    return plan(problem, machine, policy, **given)


class Comparison:
    """A predicted timeline over a measured one of the same plan."""

    def __init__(self, facts: dict[str, Any]):
        self.summary = facts  #: docs/formats.md#comparison

    @property
    def error(self) -> float | None:
        """(predicted - measured) / measured of the makespan; None if only the measured one is 0."""
        return self.summary["makespan"]["error"]

    @property
    def worst(self) -> pandas.DataFrame:
        """The operations with the largest differences of duration."""
        return frame_of_rows(self.summary["worst_durations"])

    def __repr__(self) -> str:
        return f"<Comparison: makespan {'unknown' if self.error is None else f'{self.error:+.1%}'}>"


def compare(predicted: Result, measured: Result) -> Comparison:
    """Compares two results of one plan. Raises InputError if their plans differ."""
    return Comparison(_core.compare(predicted._native, measured._native))
