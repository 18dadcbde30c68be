"""Predicted and measured timelines on H200: each problem is planned once, simulated, run with tracing, and compared.

Every operation of a plan has a bar in both timelines. See docs/experiments.md.
"""

import dataclasses
import json
import os
import pathlib

from harness import Failure, HardwareParser, Tilerail, aligned, gpu_arguments, run_experiment

NAME = "h200_gantt"
PARTS = ("makespan", "kernel", "copy", "waiting", "idle")


@dataclasses.dataclass(frozen=True)
class Problem:
    name: str  # stem of its files
    sizes: tuple[int, int, int]
    place: str
    gpus: int  # at least

    def planned(self, options) -> list[str]:
        sizes = ",".join(str(max(1, size // options.shrink)) for size in self.sizes)
        return ["plan", "--gemm", sizes, "--place", self.place, "--topology", str(options.topology),
                "--devices", f"0-{options.gpus - 1}"]


PROBLEMS = (Problem("host-8192", (8192, 8192, 8192), "h:h:h", 1),
            Problem("gpu0-8192", (8192, 8192, 8192), "0:0:0", 1),
            Problem("mixed-6000x6000x12000", (6000, 6000, 12000), "h:0:1", 2))


def measure(tilerail: Tilerail, options, problem: Problem, predicted: str, measured: str) -> None:
    """Writes the two timelines of one plan."""
    os.makedirs(options.output, exist_ok=True)
    plan = os.path.join(options.output, problem.name + "-plan.json")
    machine = ["--topology", str(options.topology)]
    try:
        tilerail.run([*problem.planned(options), "-o", plan])
        tilerail.run(["simulate", "--plan", plan, *machine, "--timeline", predicted])
        tilerail.run(["run", "--plan", plan, *machine, "--backend", options.backend, *gpu_arguments(options),
                      "--iters", str(options.iters), "--warmup", str(options.warmup), "--timeline", measured])
    finally:
        pathlib.Path(plan).unlink(missing_ok=True)


def main() -> int:
    parser = HardwareParser(__doc__, iterations=3)
    parser.set_defaults(no_check=True)
    options = parser.parse_args()
    tilerail = Tilerail(options.tilerail, options.jobs)
    source = options.from_saved or options.output
    files, lines = [], [["problem", "operations", *PARTS]]
    for problem in PROBLEMS[: 1 if options.quick else None]:
        predicted, measured = (os.path.join(source, f"{problem.name}-{kind}.csv") for kind in ("predicted", "measured"))
        if options.from_saved:
            there = [path for path in (predicted, measured) if os.path.exists(path)]
            if not there:
                continue  # the machine had too few GPUs
            if len(there) == 1:
                raise Failure(f"--from-saved: '{there[0]}' has no other timeline next to it")
        elif options.gpus < problem.gpus:
            continue
        else:
            measure(tilerail, options, problem, predicted, measured)
            files += [predicted, measured]
        os.makedirs(options.output, exist_ok=True)
        figure = os.path.join(options.output, problem.name + ".png")
        compared = json.loads(tilerail.run(["compare", predicted, measured, "--json", "-", "--gantt", figure]))
        files.append(figure)
        lines.append([problem.name, str(compared["ops"])] +
                     [f"{compared[part]['predicted_s'] * 1e3:.2f} | {compared[part]['measured_s'] * 1e3:.2f}"
                      for part in PARTS])
    if len(lines) == 1:
        raise Failure(f"--from-saved: '{source}' has no timelines of {NAME}")
    print("predicted | measured ms: the makespan, and sums over kernels, copies, waiting operations, and idle devices\n")
    print(aligned(lines), end="\n\n")
    print(f"written: {', '.join(files)}")
    return 0


if __name__ == "__main__":
    run_experiment(main)
