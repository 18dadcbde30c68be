"""Thesis figure 4.6: how long four GPUs wait for their first kernel, by bandwidth routing and by ETA with batches.

One sub-problem on each of four A100, A and B from the host, C not read; the wait of a GPU is the start of its first
kernel. The saving is the mean over GPUs and over three tiles, because the thesis does not name its tile. See
docs/experiments.md.
"""

import os
import pathlib
import statistics
import tempfile

from harness import KAROLINA, Outcome, Paper, beside_published, policy_of, run_experiment
from tilerail.timeline import Timeline, read_timeline

NAME = "thesis_fig_4_6"
DEVICES = "0,2,4,6"  # each with a separate PCIe link, as in thesis 4.3.4
TILES = (1024, 2048, 4096)
ROUTES = {"reactive": ("--set", "routing=bandwidth", "--set", "batch=off"), "batched": ()}
NAMES = {"reactive": "bandwidth", "batched": "ETA and batches"}


def first_kernels(timeline: Timeline) -> dict[str, float]:
    """Start of the first kernel on each GPU."""
    starts = {}
    for queue, start in zip(timeline.queue, timeline.start):
        each = timeline.queues[queue]
        if each.src == each.dst:
            starts[each.src] = min(start, starts.get(each.src, start))
    return dict(sorted(starts.items()))


def waits(tilerail, tile: int, route: str) -> dict[str, float]:
    """For a product of 2 x 2 tiles of C with one step in K."""
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        path = os.path.join(folder, "timeline.csv")
        tilerail.run(["simulate", "--gemm", f"{2 * tile},{2 * tile},{tile}", "--beta", "0", "--topology", KAROLINA,
                      "--devices", DEVICES, *policy_of("PARALiA-GEMMex", tile), *ROUTES[route], "--timeline", path])
        return first_kernels(read_timeline(pathlib.Path(path)))


def study(tilerail, options) -> Outcome:
    found = {(tile, route): waits(tilerail, tile, route) for tile in TILES for route in ROUTES}
    rows = [[tile, route, gpu, repr(seconds)] for (tile, route), starts in found.items()
            for gpu, seconds in starts.items()]
    saved = {tile: {gpu: 1 - found[tile, "batched"][gpu] / seconds for gpu, seconds in found[tile, "reactive"].items()}
             for tile in TILES}
    findings = beside_published(NAME, {
        "less idle time, mean of the GPUs": statistics.mean(statistics.mean(saved[tile].values()) for tile in TILES),
        "less idle time, best GPU": statistics.mean(max(saved[tile].values()) for tile in TILES)})
    gpus = list(saved[TILES[0]])
    table = [["wait for the first kernel", *gpus, "mean"]]
    for tile, route in found:
        seconds = [found[tile, route][gpu] for gpu in gpus]
        table.append([f"T = {tile}, {NAMES[route]}", *(f"{each * 1e3:.2f} ms" for each in seconds),
                      f"{statistics.mean(seconds) * 1e3:.2f} ms"])

    def draw(figure):
        for axes, tile in zip(figure.subplots(1, len(TILES)), TILES):
            for number, route in enumerate(ROUTES):
                starts = found[tile, route]
                places = [gpu + (number - 0.5) * 0.4 for gpu in range(len(starts))]
                axes.bar(places, [seconds * 1e3 for seconds in starts.values()], 0.4, label=NAMES[route])
            axes.set_xticks(range(len(starts)), list(starts), fontsize=6)
            axes.tick_params(axis="y", labelsize=6)
            axes.set_title(f"T = {tile}", fontsize=7)
        figure.axes[0].set_ylabel("wait for the first kernel, ms", fontsize=6)
        figure.axes[0].legend(fontsize=6, loc="lower left")

    return Outcome(f"{KAROLINA}, simulated", ["tile", "route", "gpu", "first_kernel_s"], rows, findings, [table],
                   draw)


PAPER = Paper(NAME, __doc__, study, quick_is_whole=True, height=2.6,
              why="the thesis names neither the machine nor the tile of its example; here are the four GPUs of its "
                  "strong scaling")

if __name__ == "__main__":
    run_experiment(PAPER.main)
