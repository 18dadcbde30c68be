"""Thesis figure 4.8: what each optimisation of PARALiA-GEMMex gains on eight A100 of Karolina.

FP64 squares of the regular dataset (thesis 4.3.1.3) with all data on the host and all on GPU 0, from the baseline to
all optimisations, one step at a time. As in the thesis, a factor is a bar over the bar at its left, and a bar is the
mean rate of a placement.
"""

import pandas

from .harness import Compared, KAROLINA, Outcome, REGULAR_SIZES, Run, squares

PLACES = ("h:h:h", "0:0:0")
_EAGER = "c-tiles=eager order=fifo"
_ALONE = f"{_EAGER} batch=off"
STEPS = {  # each disables the later ones
    "baseline": f"{_ALONE} routing=initial caching=off overlap=off compute-streams=1",
    "cache+overlap": f"{_ALONE} routing=initial",
    "bandwidth": f"{_ALONE} routing=bandwidth",
    "eta+batch": _EAGER,
    "lazy+order": "",
}
LIBRARY = "PARALiA-GEMMex, one tile"  # the tile that its model ranks first, the same for all steps
COLOURS = ("#e9c46a", "#f4a261", "#8ab17d", "#2a9d8f", "#287299")


def factors(rows: pandas.DataFrame) -> pandas.DataFrame:
    """By step and placement: the mean rate over the mean rate of the step before; "both": of both placements."""
    means = rows.groupby(["step", "place"], sort=False).tflops.mean().unstack().loc[list(STEPS), list(PLACES)]
    ratios = (means / means.shift()).iloc[1:]
    return ratios.assign(both=ratios.mean(axis=1))


def draw(figure, rows: pandas.DataFrame) -> None:
    axes = figure.subplots()
    means = rows.groupby(["place", "step"], sort=False).tflops.mean().unstack().loc[list(PLACES), list(STEPS)]
    means.columns = [step if number == 0 else f"+ {step}" for number, step in enumerate(STEPS)]
    means.plot.bar(ax=axes, color=COLOURS, width=0.8, rot=0)
    for bars, step in zip(axes.containers[1:], list(STEPS)[1:]):
        axes.bar_label(bars, [f"{factors(rows).loc[step, place]:.2f}x" for place in PLACES])
    axes.set(xlabel="", ylabel="mean TFLOP/s, simulated", title=f"{KAROLINA}, 8 GPUs, FP64, M = N = K")
    axes.legend(ncols=3, loc="upper left")
    axes.set_ylim(top=1.25 * axes.get_ylim()[1])


def study(run: Run) -> Outcome:
    rows = squares(run.sample(REGULAR_SIZES, 3), PLACES, KAROLINA)
    steps = pandas.DataFrame(STEPS.items(), columns=["step", "options"])
    rows = run.simulate(rows.merge(steps, how="cross").assign(library="PARALiA-GEMMex", by=LIBRARY))
    found, compared = factors(rows), Compared("thesis_fig_4_8", "karolina_dgemm")
    for step, line in found.iterrows():
        for place, factor in line.items():
            compared.add(f"{step}, {place}", factor, rows[rows.place == place] if place != "both" else rows)
    by_size = rows.pivot(index=["place", "m"], columns="step", values="simulated_s")[list(STEPS)]
    by_size = by_size.shift(axis=1).iloc[:, 1:] / by_size.iloc[:, 1:]
    busiest = rows[rows.step == "lazy+order"].set_index(["place", "m"])
    by_size = by_size.round(2).assign(tile=busiest.used_tile, bound=(busiest.simulated_s / busiest.bound_s).round(2))
    return Outcome(rows, compared.findings, tables={"speed-up over the step before, by size": by_size.reset_index(),
                                                    "ratios of mean rates": found.round(3).reset_index()},
                   draw=lambda figure: draw(figure, rows))
