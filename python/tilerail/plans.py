"""Plans, and their results in a simulator or on real memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import InputError
from .frames import arrow_of, frame_of, frame_of_rows, of_native
from .machines import Machine, machine as machines
from .problems import Problem
from .texts import (Value, check_names, count_of, flag_of, instance_of, list_of, mapping_of, near, number_of, path_of,
                    shown, text_of, texts_of, utf8)

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow

Devices = str | int | Sequence[str | int]

_OWN_ARGUMENTS = ("devices", "policy", "tile", "effort")


@cache
def _policy_fields() -> list[str]:
    return [field for field in _core.policy_fields() if field not in _OWN_ARGUMENTS]


def job_texts(problem: Problem, policy: str, effort: str | None, tile: Value | None, devices: Devices,
              options: Mapping[str, Value] | None) -> dict[str, str]:
    """The arguments of ``plan`` by option of the command. Raises InputError."""
    instance_of(problem, Problem, "problem", "the result of gemm(m, n, k) or another routine")
    fields = mapping_of({} if options is None else options, "options")
    for key in fields:
        if utf8(instance_of(key, str, "options", "a field of policies"), "options") not in (known := _policy_fields()):
            expected = "an argument of its own" if key in _OWN_ARGUMENTS else near(key, known)
            raise InputError("options", key, "is not a field of policies", expected)
    numbers = ",".join(text_of(device, "devices") for device in list_of(devices))
    own = texts_of(dict(policy=policy, effort=effort, tile=tile, devices=numbers))
    return problem.texts | own | {key: text_of(value, key) for key, value in fields.items()}


def _figure(name: str, doc: str) -> Any:
    return property(lambda result: result._figures[name], doc=doc)


def _table(name: str, doc: str) -> Any:
    return property(lambda result: frame_of_rows(result.summary[name]), doc=doc)


class Plan:
    """All decisions about one problem on one machine, and the operations that follow from them."""

    def __init__(self, native: _core.Plan):
        self._native = native

    @property
    def machine(self) -> Machine:
        return Machine(self._native.machine)

    hash: str = of_native("hash", "16 hexadecimal digits: plans that run identically have equal hashes.")
    policy: str = of_native("policy", 'The preset, and "+field=value" for each option.')
    tile: int = of_native("tile", "Size of a tile, in elements.")
    processors: list[str] = of_native("processors", "Names of the processors that take part.")
    decisions: dict[str, str] = of_native("decisions", "The decisions of the policy, by field.")
    seconds_to_plan: float = of_native("plan_s", "Time spent on planning; 0 for a plan from a file.")

    @property
    def grid(self) -> str:
        """How processors share C."""
        return self.decisions.get("grid", "")

    def __len__(self) -> int:
        """Operations."""
        return self._native.ops

    def to_json(self) -> str:
        """The plan file (docs/formats.md#plan)."""
        return self._native.to_json()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the plan file, replacing an existing one as a whole. Raises InputError."""
        _core.write_file(path_of(path, "path"), self.to_json())

    def __reduce__(self):
        return _plan_of, (self.to_json(), self.machine)

    def __repr__(self) -> str:
        return (f"<Plan {self.hash}: {len(self)} operations, tile {self.tile}, {', '.join(self.processors)}, "
                f"policy {self.policy}>")


def _plan_of(json: str, machine: Machine) -> Plan:
    return Plan(_core.read_plan(machine._native, json))


class Result:
    """A plan's times: simulated, or measured on real memory. Times in seconds, sizes in bytes."""

    def __init__(self, native: _core.Result, plan: Plan):
        self._native = native
        self.plan = plan

    @cached_property
    def _figures(self) -> dict[str, Any]:
        return self._native.figures()

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything of docs/formats.md#summary."""
        return self._native.summary()

    backend: str = _figure("backend", '"fluid" or "sim" (simulators), "host" or "cuda".')
    makespan: float = _figure("makespan", "Seconds from the first operation to the last result.")
    tflops: float = _figure("tflops", "Flops of the products / makespan / 10^12.")
    bound: float = _figure("bound", "Seconds that every plan takes at least on these processors (docs/model.md#bound).")
    bound_by: str = _figure("bound_by", "The resource that explains most of the bound.")
    bottleneck: str = _figure("bottleneck", "The largest share of the critical path, as in tables of sweeps: "
                                            '"kernels", "copies", "issue" or "waiting".')
    busiest: str = _figure("busiest", "The longest part of the critical path, as in tables of sweeps: "
                                      '"link host->gpu0"; "" without operations.')
    fits: bool = _figure("fits", "Whether tiles and matrices fit in every memory.")
    links: pandas.DataFrame = _table("links", "A row for each link: name, bytes, utilisation (a share of what it could "
                                              "carry in the makespan).")
    groups: pandas.DataFrame = _table("groups", "The same for links that share a capacity.")
    memories: pandas.DataFrame = _table("memories", "A row for each memory in use: name, matrix_bytes, tile_bytes, "
                                                    "capacity_bytes.")
    critical_path: pandas.DataFrame = _table("critical_path", "The parts of the makespan: kind, name, seconds.")

    @property
    def simulator(self) -> str | None:
        """ "fluid" or "sim"; None for a measurement."""
        return self.backend if self.backend in ("fluid", "sim") else None

    @property
    def energy(self) -> float | None:
        """Joules of the processors in a call: counted if a run counted them, else modelled; None without watts."""
        return self.summary.get("counted", self.summary).get("energy_j")

    @property
    def iterations(self) -> list[float]:
        """Seconds of each measured call; empty for a simulation."""
        return self.summary.get("iterations_s", [])

    @property
    def check(self) -> dict[str, Any] | None:
        """The check of a run: passed, residual, tolerance. None without a check."""
        return self.summary.get("check")

    @cached_property
    def timeline(self) -> pandas.DataFrame:
        """A row for each operation: the columns of docs/formats.md#timeline, times in seconds; ``attrs`` has the keys
        of the file's head, such as "policy". Its numbers are read-only; ``timeline.copy()`` can be changed."""
        return frame_of(*self._timeline)

    @cached_property
    def _timeline(self) -> tuple[dict, dict]:
        return self._native.timeline()

    def columns(self) -> dict[str, numpy.ndarray | tuple[numpy.ndarray, list[str]]]:
        """The timeline as read-only NumPy arrays, a value for each operation; a column of names is (codes, names).

        ``arrow()`` has the same memory, and ``timeline`` for numbers.
        """
        return {name: (values[0], list(values[1])) if isinstance(values, tuple) else values
                for name, values in self._timeline[0].items()}

    def arrow(self) -> pyarrow.Table:
        """The timeline as a table of Arrow. Raises ImportError without pyarrow."""
        return arrow_of(self._timeline[0])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """``polars.DataFrame(result)``, ``pyarrow.table(result)``: the timeline."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the timeline: .csv (docs/formats.md#timeline), or .json for Perfetto. Raises InputError."""
        name, native = path_of(path, "path"), self._native
        texts = {".csv": native.timeline_csv, ".json": native.trace_json}
        if (text := texts.get(os.path.splitext(name)[1].lower())) is None:
            raise InputError("path", name, "has an unknown extension", " or ".join(texts))
        _core.write_file(name, text())

    @cached_property
    def _text(self) -> str:
        return self._native.text()

    def __str__(self) -> str:
        return self._text

    def __reduce__(self):
        known = {"_figures": self._figures, "summary": self.summary, "_text": self._text}
        return _result_of, (self.plan, self._native.timeline_csv(), known)

    def __repr__(self) -> str:
        return (f"<Result {self.backend}: makespan {self.makespan:.6g} s, {self.tflops:.4g} TFLOP/s, "
                f"{self.makespan / self.bound:.2f} x the bound>" if self.bound > 0 else
                f"<Result {self.backend}: makespan {self.makespan:.6g} s>")

    def _repr_html_(self) -> str:
        facts = {"makespan": f"{self.makespan * 1e3:.4g} ms", "TFLOP/s": f"{self.tflops:.4g}",
                 "bound": f"{self.bound * 1e3:.4g} ms, {self.bound_by}", "plan": repr(self.plan)[1:-1],
                 "bottleneck": f"{self.bottleneck}, {self.busiest}", "by": self.backend}
        rows = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
        return f"<table>{rows}</table>"


def _result_of(plan: Plan, timeline_csv: str, known: dict[str, Any]) -> Result:
    result = Result(_core.read_result(plan._native, timeline_csv), plan)
    vars(result).update(known)
    return result


def plan(problem: Problem, machine: Machine | str, policy: str = "tilerail", *, effort: str | None = None,
         tile: Value | None = None, devices: Devices = "all", options: Mapping[str, Value] | None = None,
         plan_cache: str = "") -> Plan:
    """Plans a problem.

    ``policy``: a preset (``tilerail policies``); ``options``: other values of its fields. ``effort``: "fast", "fixed",
    "normal" or "high". ``tile``: elements, or "auto". ``devices``: "all", or numbers of GPUs and names of cores.
    ``plan_cache``: a file of ``tilerail tune``; $TILERAIL_PLAN_CACHE is ignored. Raises InputError.
    """
    texts = job_texts(problem, policy, effort, tile, devices, options)
    return Plan(_core.plan(machines(machine)._native, texts, path_of(plan_cache, "plan_cache")))


def load_plan(path: str | os.PathLike, machine: Machine | str) -> Plan:
    """Reads a plan file for this machine. Raises InputError, also if the plan does not fit the machine."""
    return Plan(_core.load_plan(machines(machine)._native, path_of(path, "path")))


def simulate(problem: Problem | Plan, machine: Machine | str | None = None, policy: str = "tilerail", *,
             simulator: str = "fluid", **given) -> Result:
    """Predicts the times of a plan, also on another machine with its memories, or of the plan of a problem (arguments
    of ``plan``).

    ``simulator``: "fluid", which threads can use simultaneously, or "sim" (SimGrid); their times are equal to 1e-9.
    Raises InputError, and HardwareError if this build has no SimGrid.
    """
    made = _plan_for(problem, machine, policy, given, simulate)
    return Result(_core.simulate(made._native, text_of(simulator, "simulator")), made)


def run(problem: Problem | Plan, machine: Machine | str | None = None, policy: str = "tilerail", *,
        backend: str = "host", iterations: int = 3, warmup: int = 1, seed: int = 1, check: bool = False,
        energy_seconds: float = 0.5, **given) -> Result:
    """Executes a plan, or the plan of a problem (arguments of ``plan``), on random matrices and measures it.

    ``backend``: "host" (threads and memory of this computer) or "cuda". ``energy_seconds``: GPUs count the energy of
    calls for this long; 0: of none. Raises InputError, HardwareError if the backend is missing, ExecutionError.
    """
    counts = count_of(warmup, "warmup", 0), count_of(iterations, "iterations"), count_of(seed, "seed", 0, 2**64 - 1)
    seconds = number_of(energy_seconds, "energy_seconds")
    if not 0 <= seconds <= 3600:
        raise InputError("energy_seconds", shown(seconds), "is out of range", "0 to 3600")
    place = text_of(backend, "backend")
    if place == "cuda":
        _core.load_gpu_part()
    made = _plan_for(problem, machine, policy, given, run)
    return Result(_core.run(made._native, place, *counts, flag_of(check, "check"), seconds), made)


def _plan_for(problem: Problem | Plan, machine: Machine | str | None, policy: str, given: dict, by: Callable) -> Plan:
    """``given``: the arguments of ``by`` that it does not have itself, by name."""
    for name in given.keys() & _policy_fields():
        raise InputError("argument", name, f"does not exist in {by.__name__}", f"options={{{name!r}: ...}}")
    check_names(given, [*plan.__kwdefaults__, *by.__kwdefaults__], by.__name__)
    if isinstance(problem, Plan):
        if text_of(policy, "policy") != "tilerail" or given:
            raise InputError("plan", None, "is given with a policy", "the plan, and at most a machine")
        return problem if machine is None else Plan(_core.plan_on(machines(machine)._native, problem._native))
    if machine is None:
        raise InputError("machine", None, "is missing", "a machine or its name")
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
    for name, result in (("predicted", predicted), ("measured", measured)):
        instance_of(result, Result, name, "a result of simulate or run")
    return Comparison(_core.compare(predicted._native, measured._native))
