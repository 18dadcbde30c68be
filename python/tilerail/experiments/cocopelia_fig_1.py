"""CoCoPeLia figure 1: cuBLASXt over its tile on two testbeds, measured and simulated.

Every measured row of cuBLASXt with tiles from 1024 on: the error of the simulated time, and the loss by the tile for
which the simulator is fastest.
"""

import pandas

from .harness import Check, chosen_times, cocopelia, Compared, error_checks, error_table, Outcome, rates, Run

LEAST_TILE = 1024
TARGET, LOSS_TARGET = 0.10, 0.05  # medians: |error|; measured time with the simulator's tile / the best, minus 1
PROBLEM = ["testbed", "blas", "m", "n", "k", "place"]
DRAWN = 4  # problems of a testbed, as in the figure
STATIC_TILES = (1024, 2048, 3072, 4096, 6144, 8192)


def losses(rows):
    """By testbed and routine: the loss by the simulator's tile for each problem with several tiles."""
    several = rows.groupby(PROBLEM).filter(lambda of: len(of) > 1)
    times = chosen_times(several, PROBLEM, {"simulator": "simulated_s", "best": "measured_s"})
    return (times.simulator / times.best - 1).groupby(["testbed", "blas"])


def static_losses(rows, seconds: str):
    """The loss by each static tile (a library takes its largest one below it) for dgemm from the host, by problem."""
    found = {}
    for problem, of in rows[(rows.blas == "dgemm") & (rows.place == "h:h:h")].groupby(PROBLEM):
        if of.tile.max() > 4096:
            taken = {tile: of[of.tile <= tile].sort_values("tile")[seconds] for tile in STATIC_TILES}
            found[problem] = {tile: each.iloc[-1] / of[seconds].min() - 1 for tile, each in taken.items() if len(each)}
    return pandas.DataFrame(found, index=STATIC_TILES).T


def compare(rows) -> tuple[Compared, pandas.DataFrame]:
    compared, simulated = Compared("cocopelia_fig_1", "cocopelia_measured"), static_losses(rows, "simulated_s")
    if len(simulated):
        for bed, loss in simulated[4096].groupby(level=0).max().items():
            compared.add(f"testbed {bed} dgemm, largest loss by T = 4096", loss, rows, testbed=bed)
        compared.add("best static tile of cuBLASXt", float(simulated.mean().idxmin()), rows)
    table = pandas.DataFrame({kind: static_losses(rows, f"{kind}_s").mean() for kind in ("measured", "simulated")})
    return compared, table.rename_axis("mean loss by T").reset_index()


def draw(figure, rows):
    for axes, testbed in zip(figure.subplots(1, 2), "12"):
        found = rows[(rows.testbed == testbed) & (rows.blas == "dgemm") & (rows.place == "h:h:h")]
        curves = [of for _, of in found.groupby(PROBLEM)]
        squares_first = sorted(curves, key=lambda of: (of.m.iloc[0] != of.k.iloc[0], -len(of)))
        for number, of in enumerate(squares_first[:DRAWN]):
            label = "x".join(str(of[side].iloc[0]) for side in "mnk")
            axes.plot(of.tile, rates(of), "o", ms=3, color=f"C{number}", label=label)
            axes.plot(of.tile, of.tflops, "-", lw=1, color=f"C{number}")
        axes.set(title=f"testbed {testbed}, dgemm: measured (dots), simulated", xlabel="T", ylabel="TFLOP/s")
        axes.legend()


def study(run: Run) -> Outcome:
    rows = cocopelia("cuBLASXt")
    rows = rows[rows.tile >= LEAST_TILE]
    rows = run.simulate(run.sample_problems(rows, PROBLEM, 8, 4))
    rows["group"] = "cuBLASXt, testbed " + rows.testbed + " " + rows.blas
    checks = error_checks(rows, dict.fromkeys(rows.group, TARGET), "group")
    checks += [Check(f"testbed {testbed} {blas}, loss by the simulator's tile", of.median(), LOSS_TARGET)
               for (testbed, blas), of in losses(rows)]
    compared, table = compare(rows)
    return Outcome(rows, compared.findings, checks, {"errors": error_table(rows, "group"), "static tiles": table},
                   lambda figure: draw(figure, rows))
