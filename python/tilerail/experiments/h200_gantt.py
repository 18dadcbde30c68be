"""Predicted and measured timelines on H200: each problem is planned once, simulated, run with tracing, and compared.

Every operation of a plan has a bar in both timelines.
"""

import pandas

import tilerail as tr
from tilerail import plot

from .harness import Experiment, hardware, Run

NAME = "h200_gantt"
# Name of the files, sizes, place, least GPUs
PROBLEMS = [("host-8192", (8192, 8192, 8192), "h:h:h", 1), ("gpu0-8192", (8192, 8192, 8192), "0:0:0", 1),
            ("mixed-6000x6000x12000", (6000, 6000, 12000), "h:0:1", 2)]


def study(run: Run) -> int:
    options, gpus, lines = run.options, hardware.gpus_of(run.options), []
    folder = options.output
    folder.mkdir(parents=True, exist_ok=True)
    for name, sizes, place, least in PROBLEMS[:1 if run.quick else None]:
        files = [(options.from_saved or folder) / f"{name}-{kind}.csv" for kind in ("predicted", "measured")]
        if options.from_saved:
            if not all(file.exists() for file in files):
                continue  # the machine had too few GPUs
        elif gpus < least:
            continue
        else:
            problem = tr.gemm(*(max(1, size // options.shrink) for size in sizes), place=place)
            plan = tr.plan(problem, options.topology, devices=list(range(gpus)))
            predicted = tr.simulate(plan)
            measured = tr.run(plan, backend=options.backend, iterations=options.iters, warmup=options.warmup)
            predicted.save(files[0])
            measured.save(files[1])
            parts = tr.compare(predicted, measured).summary
            lines.append({"problem": name, "operations": parts["ops"]} | {
                f"{part}, ms": " | ".join(f"{1e3 * parts[part][kind]:.2f}" for kind in ("predicted_s", "measured_s"))
                for part in ("makespan", "kernel", "copy", "waiting", "idle")})
        figure = folder / f"{name}.png"
        predicted_axes, _ = plot.compare(*(plot.read_timeline(file) for file in files))
        predicted_axes.figure.savefig(figure)
        print(f"written: {figure}")
    if lines:
        print(f"predicted | measured\n{pandas.DataFrame(lines).to_string(index=False)}")
    return 0


EXPERIMENT = Experiment(NAME, __doc__, study, arguments=lambda parser: hardware.add_arguments(parser, 3))
