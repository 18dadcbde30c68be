"""Thesis figure 4.6: how long four GPUs wait for their first kernel, by bandwidth routing and by ETA with batches.

The figure is a drawn example without a machine. Here: four GPUs with a host link each and a link between each pair,
nothing shared, no latencies and no costs of calls (reference/four-gpus.toml). Links between GPUs have 4/3 of the rate
of host links: this ratio was inferred from the two printed numbers, so that their agreement is half a fit. One
sub-problem on each GPU, C not read; the wait of a GPU is the start of its first kernel.
"""

import pandas

import tilerail as tr

from .harness import Compared, FOUR_GPUS, Outcome, Run

TILE = 2048
NO_COSTS = {"task-us": 0, "request-us": 0, "peer-us": 0}
ROUTES = {"by bandwidth": {"routing": "bandwidth", "batch": "off"}, "by ETA with batches": {}}


def waits(route: str) -> pandas.DataFrame:
    """Seconds by GPU, for a product of 2 x 2 tiles of C with one step in K; in the time of a tile from the host."""
    problem = tr.gemm(2 * TILE, 2 * TILE, TILE, beta=0)
    machine = tr.machine(FOUR_GPUS)
    tile_s = 8 * TILE**2 / machine.links.set_index("name").bandwidth_bytes_per_s["host->gpu0"]
    found = tr.simulate(problem, machine, "gemmex", tile=TILE, options=NO_COSTS | ROUTES[route]).timeline
    found = found[found.kind == "gemm"].astype({"device": str}).groupby("device").start_s.min()
    return found.reset_index(name="wait_s").assign(route=route, tiles=found.values / tile_s)


def study(run: Run) -> Outcome:
    rows = pandas.concat(map(waits, ROUTES), ignore_index=True)
    table = rows.pivot(index="device", columns="route", values="tiles")
    saved = 1 - table["by ETA with batches"] / table["by bandwidth"]
    compared = Compared("thesis_fig_4_6", "thesis figure 4.6")
    given = rows.assign(machine=FOUR_GPUS.stem, library="PARALiA-GEMMex")
    compared.add("less idle time, mean of the GPUs", saved.mean(), given)
    compared.add("less idle time, best GPU", saved.max(), given)

    def draw(figure):
        axes = figure.subplots()
        table.plot.bar(ax=axes, rot=0)
        axes.set(xlabel="", ylabel="wait for the first kernel / time of a tile from the host")
        axes.legend(title="")

    return Outcome(rows, compared.findings, tables={"wait, in times of a tile from the host": table.reset_index()},
                   draw=draw)
