"""CoCoPeLia figures 4, 5 and 6: its models against measurements on two testbeds with one GPU.

The models predict each measured problem and tile of CoCoPeLia's library (CSO, DR), of cuBLASXt and of daxpy (CSO, BTS);
rows of CoCoPeLia's library are also simulated. Then each model chooses a tile, and its measured time is compared with
the times for T = 2048 and T = 4096. The gains of the best tile are simulated.
"""

import pandas

from .harness import chosen_times, cocopelia, Compared, draw_violins, error_checks, error_table, Outcome, quantile, Run
from .harness.models import predictions

SHOWN = {"CoCoPeLia": ("CSO", "DR"), "cuBLASXt": ("CSO", "BTS"), "daxpy": ("CSO", "BTS")}  # figures 5 and 4
OVERLAP = 1.5  # V-B: tiles are at most the least size / this
FIRST_TILE = 1024  # for GEMMs in the paper's validation sets (V-B)
SIMULATED_FROM, TARGET = 512, 0.04  # for CoCoPeLia's library: the median |error| of the simulator
LENGTHS = [length * 2**20 for length in (8, 64, 128, 256)]  # for daxpy in these sets
STATIC_TILES, CHOICE_TESTBED = (2048, 4096), "2"  # figure 6
CHOICES = {"best measured tile": "measured_s", "baseline": "baseline_s", "dataloc": "dataloc_s", "BTS": "bts_s",
           "DR": "dr_s", "CSO": "cso_s", "simulator": "simulated_s"}
PROBLEM = ["testbed", "blas", "library", "m", "n", "k", "place"]


def model_errors(rows):
    """Rows with the errors of the models that the figures show: kind, model, error."""
    parts = []
    validated = rows[(rows.kind == "daxpy") | (rows.tile >= FIRST_TILE)]
    for kind, models in SHOWN.items():
        for model in models:
            of = validated[validated.kind == kind]
            parts.append(of.assign(model=model, error=of[CHOICES[model]] / of.measured_s - 1))
    return pandas.concat(parts)


def gains(rows, static: int, choices: dict[str, str], seconds: str):
    """Time for a static tile / time with each chosen tile, minus 1: blas, choice, gain."""
    fixed = rows[rows.tile == static].set_index(PROBLEM)[seconds]
    found = chosen_times(rows, PROBLEM, choices, seconds).rdiv(fixed, axis=0).dropna() - 1
    return found.rename_axis(columns="choice").stack().rename("gain").reset_index()


def compare(errors, library) -> tuple[Compared, dict]:
    """Printed are the ranges of medians over routines and testbeds (ours: the median farthest from the range), and
    gains."""
    compared, tables = Compared("cocopelia_models", "cocopelia_measured"), {}

    def add_farthest(name: str, values, **of) -> None:
        middle = sum(compared.values[name].band) / 2
        compared.add(name, values[(values - middle).abs().idxmax()], errors, **of)

    medians = errors.groupby(["kind", "model", "testbed", "blas"]).error.apply(lambda errors: quantile(errors, 0.5))
    for (kind, model), of in medians.groupby(level=["kind", "model"]):
        add_farthest(f"{kind}, {model}, median error", of, kind=kind, model=model)
    ratios = (medians["cuBLASXt", "BTS"] / medians["cuBLASXt", "CSO"]).abs()
    add_farthest("cuBLASXt, BTS over CSO, median error", ratios, kind="cuBLASXt")
    for static in STATIC_TILES:
        found = pandas.concat([gains(library, static, CHOICES, "measured_s"),
                               gains(library, static, {"best tile": "simulated_s"}, "simulated_s")])
        groups = found.groupby(["blas", "choice"], sort=False).gain
        tables[f"gain over T = {static}"] = groups.agg(["count", "min", "median", "max"]).reset_index()
        median = groups.agg(lambda gains: quantile(gains, 0.5)).sort_index()
        for (blas, choice), of in groups:
            compared.add(f"{blas}, {choice} over {static}, median", median[blas, choice], library, blas=blas)
            compared.add(f"{blas}, {choice} over {static}, largest", of.max(), library, blas=blas)
            for other, gain in median[blas].items():
                compared.add(f"{blas}, {choice} over {other}, medians of the gain over {static}",
                             (1 + median[blas, choice]) / (1 + gain) - 1, library, blas=blas)
    return compared, tables


def draw(figure, errors):
    draw_violins(figure, {kind if kind == blas else f"{kind}\n{blas}": {
        f"{model}\n{testbed}": part.error for (model, testbed), part in of.groupby(["model", "testbed"])}
        for (kind, blas), of in errors.groupby(["kind", "blas"], sort=False)})


def study(run: Run) -> Outcome:
    rows = cocopelia("CoCoPeLia", "cuBLASXt")
    rows["kind"] = rows.library.where(rows.blas != "daxpy", "daxpy")
    overlaps = rows.place.str.contains("h") & (OVERLAP * rows.tile <= rows.least)
    rows = rows[overlaps & (rows.m.isin(LENGTHS) | ((rows.blas != "daxpy") & (rows.tile >= SIMULATED_FROM)))]
    rows = run.sample_problems(rows, PROBLEM, 16, 4).reset_index(drop=True)
    rows = rows.join(predictions(rows))
    simulated = run.simulate(rows[rows.kind == "CoCoPeLia"])
    library = simulated[simulated.tile >= FIRST_TILE]
    errors = model_errors(rows)
    compared, tables = compare(errors, library[library.testbed == CHOICE_TESTBED])
    return Outcome(rows.merge(simulated[[*PROBLEM, "tile", "simulated_s"]], on=[*PROBLEM, "tile"], how="left"),
                   compared.findings, error_checks(simulated, {"CoCoPeLia": TARGET}),
                   {"errors of the models": error_table(errors, ["kind", "blas", "testbed", "model"]), **tables},
                   lambda figure: draw(figure, errors))
