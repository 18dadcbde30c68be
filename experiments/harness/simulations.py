"""Runs the `tilerail` command; simulations several at once."""

import concurrent.futures
import dataclasses
import json
import subprocess
import threading

from .program import Failure


BOUND_COLUMNS = ["bound_s", "bound_by"]  # of a result: no plan is faster, and why


def over_bound(seconds: float, result: dict) -> str:
    """A time over the bound of the problem that `result` is of."""
    return f"{seconds / result['bound_s']:.2f}"


@dataclasses.dataclass(frozen=True)
class Simulation:
    """One call of `tilerail simulate` for an FP64 problem."""

    problem: str  # M,N,K or the side of a cube
    machine: str
    place: str
    policy: tuple[str, ...]  # --policy, --set, --tile and their values
    devices: str = "all"

    def arguments(self) -> list[str]:
        return ["simulate", "--gemm", self.problem, "--topology", self.machine, "--devices", self.devices,
                "--place", self.place, *self.policy, "--json", "-"]


class Tilerail:
    def __init__(self, program: str, jobs: int):
        self.program_ = program
        self.jobs_ = jobs
        self.running_: set[subprocess.Popen] = set()
        self.ended_ = False  # nothing may be started any more
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
        """Ends what is running, which cleans up after itself, and lets nothing start."""
        with self.lock_:
            self.ended_ = True
            for each in self.running_:
                each.terminate()

    def run(self, arguments: list[str], accepted: tuple[int, ...] = (0,)) -> str:
        """What the command writes to stdout. Failure unless it ends with an accepted exit code."""
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

    def simulate(self, simulations) -> dict[Simulation, dict]:
        """The JSON result of each."""
        wanted = list(dict.fromkeys(simulations))
        with concurrent.futures.ThreadPoolExecutor(self.jobs_) as pool:
            try:  # from the first one on: the user may interrupt while the others are still put into the queue
                results = [pool.submit(self.run, each.arguments()) for each in wanted]
                return {each: json.loads(result.result()) for each, result in zip(wanted, results)}
            except BaseException:  # also of the user, who does not wait for those in the queue
                pool.shutdown(wait=False, cancel_futures=True)
                self._end()
                raise
