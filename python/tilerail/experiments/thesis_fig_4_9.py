"""Thesis figures 4.9 and 4.10: PARALiA-GEMMex against cuBLASXt, XKBLAS and PARALiA, FP64 and FP32, on eight A100.

Squares of the regular dataset (thesis 4.3.1.3), all matrices on the host and all on GPU 0: the mean of the factors over
the sizes. Measured rows are in the figure.
"""

import pandas

from .harness import (Compared, draw_rates, factors, KAROLINA, near_best, Outcome, REGULAR_SIZES, Run, squares,
                      with_karolina_tiles, with_libraries)
from .karolina_gemmex import OURS, measured_rows

PLACES = ("h:h:h", "0:0:0")
OTHERS = ("cuBLASXt", "XKBLAS", "PARALiA")
PROBLEM = ["dtype", "place", "m"]


def measured_squares() -> pandas.DataFrame:
    rows = measured_rows()
    return rows[(rows.m == rows.n) & (rows.n == rows.k) & (rows.devices == "0-7") & rows.place.isin(PLACES)]


def draw(figure, rows: pandas.DataFrame, measured: pandas.DataFrame) -> None:
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
    rows, measured = (of.assign(side=of.m / 1024) for of in (rows, measured))
    draw_rates(figure, panels, ["dtype", "place"], "side", rows, measured)
    figure.supxlabel("M = N = K, 1024s")


def study(run: Run) -> Outcome:
    rows = with_libraries(squares(run.sample(REGULAR_SIZES, 2), PLACES, KAROLINA), (OURS, *OTHERS, "tilerail"))
    rows = with_karolina_tiles(rows)
    rows = run.simulate(pandas.concat([rows.assign(dtype=dtype) for dtype in ("f64", "f32")]))
    found, compared = factors(rows, PROBLEM, OURS, OTHERS), Compared("thesis_fig_4_9", "karolina_dgemm")
    means = found.groupby(level=["dtype", "place"], sort=False).mean()
    for (dtype, place, library), mean in means.stack().items():
        compared.add(f"{dtype} {place}, over {library}", mean, rows, dtype=dtype, place=place, library=(OURS, library))
    for dtype, mean in found[["XKBLAS", "PARALiA"]].groupby(level="dtype").mean().mean(axis=1).items():
        compared.add(f"{dtype}, over XKBLAS and PARALiA", mean, rows, dtype=dtype, library=(OURS, "XKBLAS", "PARALiA"))
    measured = measured_squares()
    tables = {"mean factors, simulated": means.round(2).reset_index(), "factors of measured rows":
              factors(measured, PROBLEM, OURS, OTHERS, "measured_s").round(2).reset_index()}
    return Outcome(rows, compared.findings, near_best(rows, PROBLEM), tables,
                   lambda figure: draw(figure, rows, measured))
