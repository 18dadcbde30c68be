"""Thesis figure 4.12: PARALiA-GEMMex against the other libraries on the 305 points of the irregular dataset.

Squares, fat by thin and thin by fat at five placements (thesis 4.3.5), FP64 on eight A100: the mean factors over each
library, of all points and by shape, and the share of points at which GEMMex is the fastest of the four.
"""

import pandas

from .harness import (colour, Compared, factors, irregular_dataset, MEASURED_COLOUR, near_best, Outcome, rates, Run,
                      SHAPES, with_karolina_tiles, with_libraries)
from .karolina_gemmex import OURS, measured_rows
from .thesis_fig_4_9 import OTHERS

LIBRARIES = (OURS, *OTHERS, "tilerail")
PROBLEM = ["shape", "m", "n", "k", "place"]


def draw(figure, rows: pandas.DataFrame, measured: pandas.DataFrame) -> None:
    for axes, shape in zip(figure.subplots(1, len(SHAPES), sharey=True), SHAPES):
        of, points = (each[each["shape"] == shape] for each in (rows, measured))
        drawn = axes.boxplot([of.tflops[of.library == library] for library in LIBRARIES], widths=0.6, patch_artist=True,
                             whis=(0, 100), medianprops={"color": MEASURED_COLOUR})
        for number, (box, library) in enumerate(zip(drawn["boxes"], LIBRARIES), 1):
            box.set_facecolor(colour(library))
            mine = points[points.library == library]
            axes.plot([number] * len(mine), rates(mine), "x", ms=3, color=MEASURED_COLOUR)
        axes.set_xticks(range(1, len(LIBRARIES) + 1), LIBRARIES, rotation=60, ha="right")
        axes.set_title(f"{shape}; crosses: measured")
    figure.axes[0].set_ylabel("TFLOP/s, simulated")


def shape_of(rows: pandas.DataFrame) -> pandas.Series:
    return pandas.Series([SHAPES[0 if k == m else 1 if k < m else 2] for m, k in zip(rows.m, rows.k)], index=rows.index)


def study(run: Run) -> Outcome:
    rows = run.simulate(with_karolina_tiles(with_libraries(run.sample(irregular_dataset(), 5), LIBRARIES)))
    found, compared = factors(rows, PROBLEM, OURS, OTHERS), Compared("thesis_fig_4_12", "karolina_dgemm")
    for name, shapes in ({"all": SHAPES} | {shape: (shape,) for shape in SHAPES}).items():
        of = found[found.index.isin(shapes, level="shape")]
        for library in OTHERS:
            compared.add(f"over {library}, {name}", of[library].mean(), rows, shape=shapes, library=(OURS, library))
        won = (of >= 1).all(axis=1).mean()
        compared.add(f"{OURS} the fastest of four, {name}", won, rows, shape=shapes, library=(OURS, *OTHERS))
    measured = measured_rows()
    measured = measured[measured.devices == "0-7"].assign(shape=shape_of)
    table = found.groupby(level="shape", sort=False).agg(["mean", "min"]).round(2)
    table.columns = [f"{library}, {what}" for library, what in table.columns]
    return Outcome(rows, compared.findings, near_best(rows, PROBLEM), {f"times over {OURS}": table.reset_index()},
                   lambda figure: draw(figure, rows, measured))
