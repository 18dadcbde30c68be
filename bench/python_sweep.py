#!/usr/bin/env python3
"""Processor time of simulations in threads of one Python process, relative to the sweep command.

    PYTHONPATH=build/release/python bench/python_sweep.py [--tilerail PROGRAM] [--points 1000] [--threads N]

Each point has about 1,500 operations on a machine of its own. The command, `tilerail.sweep` and `tilerail.simulate` of
a problem plan and simulate it; `tilerail.simulate` of a plan simulates one plan on all machines.
"""

import argparse
import csv
import os
import pathlib
import resource
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import tilerail as tr

KEY, MACHINE, SIZE, TILE = "link:host<->plx*.bandwidth", "karolina-hgx-a100", "14K", 2048


def processor_seconds(of: int) -> float:
    use = resource.getrusage(of)
    return use.ru_utime + use.ru_stime


def command(program: str, rates: list[float], threads: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "points.csv"
        subprocess.run([os.path.abspath(program), "sweep", "--gemm", SIZE, "--topology", MACHINE, "--tile", str(TILE),
                        "--vary", f"{KEY}={','.join(map(str, rates))} GB/s", "--jobs", str(threads),
                        "--csv", str(table)], check=True, stdout=subprocess.DEVNULL)
        with open(table, newline="") as file:
            return [float(row["makespan_s"]) for row in csv.DictReader(file)]


def sweep(executor: ThreadPoolExecutor, rates: list[float]) -> list[float]:
    table = tr.sweep(tr.gemm(SIZE), MACHINE, tile=TILE, vary={KEY: [f"{rate} GB/s" for rate in rates]},
                     executor=executor, chunk=1)
    return list(table.makespan_s)


def simulated_problems(executor: ThreadPoolExecutor, rates: list[float]) -> list[float]:
    machine = tr.machine(MACHINE)

    def makespan(rate: float) -> float:
        return tr.simulate(tr.gemm(SIZE), machine.set(KEY, f"{rate} GB/s"), tile=TILE).makespan

    return list(executor.map(makespan, rates))


def simulated_plan(executor: ThreadPoolExecutor, rates: list[float]) -> list[float]:
    plan = tr.plan(tr.gemm(SIZE), MACHINE, tile=TILE)
    return list(executor.map(lambda rate: tr.simulate(plan, plan.machine.set(KEY, f"{rate} GB/s")).makespan, rates))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilerail", default="build/release/tilerail")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    rates = [round(10 + 30 * i / given.points, 6) for i in range(given.points)]
    before = processor_seconds(resource.RUSAGE_CHILDREN)
    expected = command(given.tilerail, rates, given.threads)
    whole = processor_seconds(resource.RUSAGE_CHILDREN) - before
    print(f"{'tilerail sweep':31} {whole:7.1f} s of processor time")
    for name, work in (("tilerail.sweep", sweep), ("tilerail.simulate of problems", simulated_problems),
                       ("tilerail.simulate of one plan", simulated_plan)):
        before = processor_seconds(resource.RUSAGE_SELF)
        with ThreadPoolExecutor(given.threads) as executor:
            makespans = work(executor, rates)
        spent = processor_seconds(resource.RUSAGE_SELF) - before
        same = makespans == expected
        print(f"{name:31} {spent:7.1f} s, {spent / whole:.2f} x the command{', equal makespans' if same else ''}")


if __name__ == "__main__":
    main()
