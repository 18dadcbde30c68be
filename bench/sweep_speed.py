#!/usr/bin/env python3
"""How many points of about 1,500 operations a sweep does in a second.

    bench/sweep_speed.py [--tilerail PROGRAM] [--points 1000] [--jobs N]
"""

import argparse
import csv
import os
import pathlib
import subprocess
import tempfile
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilerail", default="build/release/tilerail")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--jobs", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "points.csv"
        # Machines that differ in the rate of all PCIe links: no two points share what SimGrid knows of a machine.
        step = 30 / max(1, given.points - 1)
        command = [os.path.abspath(given.tilerail), "sweep", "--gemm", "14K", "--topology", "karolina-hgx-a100",
                   "--policy", "tilerail", "--tile", "2048", "--csv", str(table),
                   "--vary", f"link:host<->plx*.bandwidth=10..40.000001 +{step:.6f} GB/s"]
        if given.jobs:
            command += ["--jobs", given.jobs]
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        with open(table, newline="") as file:
            ops = [int(row["ops"]) for row in csv.DictReader(file)]
    print(f"{len(ops)} points of {min(ops)} to {max(ops)} operations: {seconds:.1f} s, {len(ops) / seconds:.1f} a second")


if __name__ == "__main__":
    main()
