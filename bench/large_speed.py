#!/usr/bin/env python3
"""Seconds and peak memory of commands on a machine of 1,024 GPUs, and on a plan file of millions of operations.

    bench/large_speed.py [--tilerail PROGRAM] [--gpus 1024] [--tile 352]

Targets: the machine loaded in 2 s, shown in 30 s, a plan of 10^5 operations made and simulated in 30 s each; a file of
6 10^6 operations written and read in 3 GB. Processor time is told beside, for machines that are busy with other work.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time


class Commands:
    """Runs commands of one program in a folder and prints a line for each."""

    def __init__(self, program: str, folder: pathlib.Path) -> None:
        self.program, self.folder = os.path.abspath(program), folder
        os.environ.setdefault("TILERAIL_TOPOLOGIES", str(pathlib.Path(__file__).resolve().parents[1] / "topologies"))
        print(f"{'':44} {'wall':>8} {'processor':>10} {'peak':>9}")

    def run(self, what: str, *arguments: str, expected: int = 0) -> None:
        begin = time.perf_counter()
        with subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != expected:
            raise SystemExit(f"{what}: exit code {process.returncode}")
        if operations := re.search(r"operations +(\d+)|(\d+) operations", output):
            what += f", {operations.group(1) or operations.group(2)} operations"
        print(f"{what:44} {time.perf_counter() - begin:6.2f} s {usage.ru_utime + usage.ru_stime:8.2f} s "
              f"{usage.ru_maxrss / 2**20:6.2f} GiB", flush=True)


def large_machine(commands: Commands, gpus: int) -> None:
    commands.run(f"topo new, {gpus} GPUs", "topo", "new", "--gpus", str(gpus), "--islands", str(gpus // 8), "--sockets",
                 str(gpus // 4), "--pcie", "5", "--nvlink", "450", "--kernels", "h200", "-o", "large.toml")
    commands.run("loaded: topo validate", "topo", "validate", "large.toml")
    commands.run("topo show", "topo", "show", "large.toml")
    problem = ["--gemm", "64K", "--tile", "2048", "--topology", "large.toml"]
    for name, policy in {"plan": [], "plan, effort=fast": ["--effort", "fast"]}.items():
        commands.run(name, "plan", *problem, *policy, "-o", "plan.json")
    commands.run("simulate --plan", "simulate", "--plan", "plan.json", "--topology", "large.toml")


def large_plan(commands: Commands, tile: int) -> None:
    commands.run("plan -o", "plan", "--gemm", "64K", "--tile", str(tile), "--topology", "hgx-h200", "--effort",
                 "fast", "-o", "plan.json")
    # Of another machine, so that the file is read and checked, and nothing is simulated.
    commands.run("plan read and refused", "simulate", "--plan", "plan.json", "--topology", "two-gpu", expected=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilerail", default="build/release/tilerail")
    parser.add_argument("--gpus", type=int, default=1024)
    parser.add_argument("--tile", type=int, default=352, help="of the large plan: 64K^3 in tiles of 352 are 6.9e6")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(given.tilerail, pathlib.Path(folder))
        large_machine(commands, given.gpus)
        large_plan(commands, given.tile)


if __name__ == "__main__":
    main()
