"""Runs the `tilerail` command; simulations several at once."""

import concurrent.futures
import dataclasses
import json
import subprocess

from .program import Failure


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

    def run(self, arguments: list[str], accepted: tuple[int, ...] = (0,)) -> str:
        """What the command writes to stdout. Failure unless it ends with an accepted exit code."""
        try:
            done = subprocess.run([self.program_, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        except OSError as error:
            raise Failure(f"--tilerail: '{self.program_}' cannot be started: {error.strerror}") from None
        if done.returncode not in accepted:
            lines = done.stderr.strip().splitlines() or ["no message"]
            message = lines[-1].removeprefix("tilerail: error: ")
            raise Failure(f"tilerail {' '.join(arguments)}: {message}", max(done.returncode, 1))
        return done.stdout

    def version(self) -> str:
        return self.run(["--version"]).strip()

    def simulate(self, simulations) -> dict[Simulation, dict]:
        """The JSON result of each."""
        wanted = list(dict.fromkeys(simulations))
        with concurrent.futures.ThreadPoolExecutor(self.jobs_) as pool:
            results = [pool.submit(self.run, each.arguments()) for each in wanted]
            try:
                return {each: json.loads(result.result()) for each, result in zip(wanted, results)}
            except Failure:
                pool.shutdown(cancel_futures=True)
                raise
