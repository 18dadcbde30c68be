"""Thesis figure 4.11: strong scaling of PARALiA-GEMMex and other libraries on one to eight A100.

Three squares, from the host and from GPU 0, on the GPUs of thesis 4.3.4: 0, then 0 and 2, then 0, 2, 4 and 6, then all.
The 66 printed speed-ups over one GPU, and the three printed ratios of one-GPU times.
"""

import pandas

from .harness import (Compared, draw_rates, KAROLINA, near_best, Outcome, Run, squares, with_karolina_tiles,
                      with_libraries)
from .karolina_gemmex import OURS, measured_rows

SIZES = [8192, 16384, 32768]
PLACES = ("h:h:h", "0:0:0")
GPUS = {1: "0", 2: "0,2", 4: "0,2,4,6", 8: "all"}
LIBRARIES = (OURS, "cuBLASXt", "XKBLAS", "PARALiA", "tilerail")


def draw(figure, rows: pandas.DataFrame, measured: pandas.DataFrame) -> None:
    panels = figure.subplots(len(PLACES), rows.m.nunique(), squeeze=False, sharex=True).flat
    draw_rates(figure, panels, ["m", "place"], "gpus", rows, measured)
    for axes in panels:
        axes.set(xscale="log", yscale="log")
        axes.minorticks_off()
        axes.set_xticks(list(GPUS), list(map(str, GPUS)))
    figure.supxlabel("GPUs")


def study(run: Run) -> Outcome:
    rows = with_libraries(squares(SIZES[:1] if run.quick else SIZES, PLACES, KAROLINA), LIBRARIES)
    counts = pandas.DataFrame(GPUS.items(), columns=["gpus", "devices"])
    rows = run.simulate(with_karolina_tiles(rows.merge(counts, how="cross")))
    compared = Compared("thesis_fig_4_11", "karolina_dgemm")
    seconds = rows.pivot(index=["library", "place", "m"], columns="gpus", values="simulated_s")
    speed_ups = 1 / seconds.div(seconds[1], axis=0)
    for (library, place, size), line in speed_ups.iterrows():
        of = {"place": place, "m": size, "library": library}
        for count, speed_up in line.items():
            compared.add(f"{library}, {size} {place}, {count} GPUs over 1", speed_up, rows, gpus=[1, count], **of)
        of["library"], name = [OURS, library], f"{OURS} over {library}, {size} {place}"
        alone, scaled = seconds[1].loc[:, place, size], speed_ups[8].loc[:, place, size]
        compared.add(f"{name}, 1 GPU", alone[library] / alone[OURS], rows, gpus=1, **of)
        compared.add(f"{name}, speed-up by 8 GPUs", scaled[OURS] / scaled[library], rows, gpus=[1, 8], **of)
    measured = measured_rows()
    measured = measured[(measured.m == measured.n) & (measured.n == measured.k)].astype({"gpus": int})
    return Outcome(rows, compared.findings, near_best(rows, ["place", "m", "gpus"]),
                   {"speed-ups over one GPU": speed_ups.round(2).reset_index()},
                   lambda figure: draw(figure, rows, measured))
