"""Runs the `tilerail` command: several simulations simultaneously, each only once even if the run is interrupted."""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

from .program import Failure
from .results import save_text

KEPT = ("makespan_s", "tile", "devices", "energy_j", "tflops", "bound_s", "bound_by", "busiest")  # of a result
BOUND_COLUMNS = ["bound_s", "bound_by"]  # of a result: the time that no plan can beat, and its reason

SIMULATED_COLUMNS = ["tile", "simulated_s", "tflops", *BOUND_COLUMNS]


def simulated_cells(result: dict) -> list:
    """The values of SIMULATED_COLUMNS in a result."""
    return [result["tile"], repr(result["makespan_s"]), f"{result['tflops']:.4f}", result["bound_s"],
            result["bound_by"]]


def over_bound(seconds: float, result: dict) -> str:
    """A time / the bound of the result's problem."""
    return f"{seconds / result['bound_s']:.2f}"


@dataclasses.dataclass(frozen=True)
class Simulation:
    """A call of `tilerail simulate`; default: an FP64 GEMM."""

    problem: str  # M,N,K or the side of a cube; the length of an axpy
    machine: str
    place: str
    policy: tuple[str, ...]  # --policy, --set, --tile and their values
    devices: str = "all"
    dtype: str = "f64"
    routine: str = "gemm"

    def arguments(self) -> list[str]:
        typed = [] if self.dtype == "f64" else ["--dtype", self.dtype]
        return ["simulate", f"--{self.routine}", self.problem, *typed, "--topology", self.machine, "--devices",
                self.devices, "--place", self.place, *self.policy, "--json", "-"]

    def kept(self, result: dict) -> dict:
        """The part of a result that experiments use."""
        return {key: result[key] for key in KEPT if key in result}


class Journal:
    """Results so far, a line of JSON each: created with the first one, reused by the next run of the same program on
    the same machines. At the end, unused results stay; without any, the file is removed."""

    def __init__(self, path: pathlib.Path, program: str):
        self.path = path
        self.stamp_ = _stamp(program)
        self.found_ = self._read()
        self.asked_ = set()
        self.torn_ = path.is_file()  # its last line may be incomplete
        self.lock_ = threading.Lock()

    def _read(self) -> dict[str, dict]:
        """Results by call."""
        found, others = self._entries()
        if others:
            print(f"{self.path}: {others} results are not reused: the program, a machine or an experiment has changed "
                  "since", file=sys.stderr)
        if found:
            print(f"{self.path}: {len(found)} results of an interrupted run are reused", file=sys.stderr)
        return found

    def _entries(self) -> tuple[dict[str, dict], int]:
        """This program's results in the file, by call, and the number of other results. Ignores incomplete and modified
        lines."""
        found, others = {}, 0
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines() if self.path.is_file() else ():
            mark, _, text = line.partition(" ")
            if mark != _mark(text):
                continue
            try:
                entry = json.loads(text)
                stamp, call, result = entry["stamp"], entry["call"], entry["result"]
            except (ValueError, TypeError, KeyError):
                continue
            if stamp == self.stamp_:
                found[call] = result
            else:
                others += 1
        return found, others

    def count(self) -> int:
        """Number of results in the file."""
        return len(self._entries()[0])

    def find(self, arguments: list[str]) -> dict | None:
        with self.lock_:
            self.asked_.add(" ".join(arguments))
        return self.found_.get(" ".join(arguments))

    def add(self, arguments: list[str], result) -> None:
        call = " ".join(arguments)
        with self.lock_:
            self.found_[call] = result
            self.asked_.add(call)
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a", encoding="utf-8") as file:
                    file.write("\n" * self.torn_ + self._line(call))
            except OSError as error:
                raise Failure(f"{self.path}: cannot be written: {error.strerror}") from None
            self.torn_ = False

    def _line(self, call: str) -> str:
        text = json.dumps({"stamp": self.stamp_, "call": call, "result": self.found_[call]})
        return f"{_mark(text)} {text}\n"

    def remove(self) -> None:
        """Keeps results that this run did not use, also those added by other runs meanwhile."""
        self.found_ = self._entries()[0] | self.found_
        if left := [call for call in self.found_ if call not in self.asked_]:
            save_text(str(self.path), "".join(map(self._line, left)))
            print(f"{self.path}: {len(left)} unused results stay", file=sys.stderr)
        else:
            self.path.unlink(missing_ok=True)


def _mark(text: str) -> str:
    """Checksum of a line."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _stamp(program: str) -> str:
    """Changes with the program, its machine files, and the experiments, which select the kept part of results."""
    digest = hashlib.sha256()
    scripts = pathlib.Path(__file__).resolve().parents[1]
    topologies = os.environ.get("TILERAIL_TOPOLOGIES") or scripts.parent / "topologies"
    for path in (pathlib.Path(shutil.which(program) or program), *sorted(pathlib.Path(topologies).glob("*.toml")),
                 *sorted(scripts.rglob("*.py"))):
        if path.is_file():
            state = path.stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


class Progress:
    """A line on a terminal: completed calls, and the remaining time."""

    def __init__(self, count: int):
        self.count_, self.done_, self.start_ = count, 0, time.monotonic()
        self.shown_ = sys.stderr.isatty()
        self.lock_ = threading.Lock()

    def step(self) -> None:
        with self.lock_:
            self.done_ += 1
            if self.shown_:
                left = (time.monotonic() - self.start_) / self.done_ * (self.count_ - self.done_)
                print(f"\r{self.done_} of {self.count_} runs, {left:.0f} s left  ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.shown_:
            print("\r" + " " * 40, end="\r", file=sys.stderr, flush=True)


class Tilerail:
    def __init__(self, program: str, jobs: int, journal: Journal | None = None):
        self.program_ = program
        self.jobs_ = jobs
        self.journal_ = journal
        self.running_: set[subprocess.Popen] = set()
        self.ended_ = False  # no further start is allowed
        self.lock_ = threading.Lock()

    def _start(self, arguments: list[str]) -> subprocess.Popen:
        with self.lock_:
            if self.ended_:
                raise Failure("interrupted")
            try:
                started = subprocess.Popen([self.program_, *arguments], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            except OSError as error:
                raise Failure(f"--tilerail: '{self.program_}' cannot be started: {error.strerror}") from None
            self.running_.add(started)
            return started

    def _end(self) -> None:
        """Ends running programs, which clean up after themselves, and prevents further starts."""
        with self.lock_:
            self.ended_ = True
            for each in self.running_:
                each.terminate()

    def run(self, arguments: list[str], accepted: tuple[int, ...] = (0,)) -> str:
        """Returns the command's stdout. Failure unless it ends with an accepted exit code."""
        process = self._start(arguments)
        try:
            output, errors = process.communicate()
        except BaseException:
            self._end()
            process.communicate()
            raise
        finally:
            with self.lock_:
                self.running_.discard(process)
        if process.returncode not in accepted:
            lines = errors.strip().splitlines() or ["no message"]
            message = lines[-1].removeprefix("tilerail: error: ")
            raise Failure(f"tilerail {' '.join(arguments)}: {message}", max(process.returncode, 1))
        return output

    def version(self) -> str:
        return self.run(["--version"]).strip()

    def _remembered(self, arguments: list[str], keep) -> dict:
        """The part of a call's JSON selected by `keep`, from the journal if available."""
        if self.journal_ and (found := self.journal_.find(arguments)) is not None:
            return found
        result = keep(json.loads(self.run(arguments)))
        if self.journal_:
            self.journal_.add(arguments, result)
        return result

    def simulate(self, simulations) -> dict[Simulation, dict]:
        """The JSON result of each simulation; with a journal only its kept part."""
        wanted = dict.fromkeys(simulations)
        return self.call(((each, each.arguments(), each.kept if self.journal_ else dict) for each in wanted),
                         len(wanted))

    def call(self, calls, count: int, remember: bool = True) -> dict:
        """Runs `count` calls (key, arguments, selection from the JSON), several simultaneously; returns the selections
        by key."""
        progress = Progress(count)

        def one(arguments, keep):
            result = self._remembered(arguments, keep) if remember else keep(json.loads(self.run(arguments)))
            progress.step()
            return result

        with concurrent.futures.ThreadPoolExecutor(self.jobs_) as pool:
            results = {}
            try:  # from the first one on: the user may interrupt while others are being queued
                for key, arguments, keep in calls:
                    results[key] = pool.submit(one, arguments, keep)
                return {key: result.result() for key, result in results.items()}
            except BaseException as reason:  # also from the user, who does not wait for the queue
                pool.shutdown(wait=False, cancel_futures=True)
                self._end()
                progress.end()
                if isinstance(reason, KeyboardInterrupt) and self.journal_ and self.journal_.count() > 0:
                    print(f"interrupted; {self.journal_.path} keeps {self.journal_.count()} results: the same command "
                          "continues from there", file=sys.stderr)
                raise
            finally:
                progress.end()
