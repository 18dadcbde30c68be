"""CoCoPeLia figures 4, 5 and 6: its models against measurements on two testbeds with one GPU.

The models predict each measured problem and tile of CoCoPeLia's library (CSO, DR), of cuBLASXt and of daxpy (CSO, BTS);
rows of CoCoPeLia's library are also simulated. Then each model chooses a tile, and its measured time is compared with
the time for T = 2048. See docs/experiments.md.
"""

import dataclasses

from harness import Finding, Outcome, Paper, quantile, read_published, run_experiment, sample, target
from harness.cocopelia import OneGpu, by_problem, one_gpu_rows

NAME = "cocopelia_models"
MODELS = ("baseline", "dataloc", "bts", "dr", "cso")
SHOWN = {"CoCoPeLia": ("cso", "dr"), "cuBLASXt": ("cso", "bts"), "daxpy": ("cso", "bts")}  # figures 5 and 4
FIRST_TILE = 1024  # for GEMMs in the paper's validation sets (V-B)
LENGTHS = tuple(length * 2**20 for length in (8, 64, 128, 256))  # for daxpy in these sets
SIMULATED_FROM, MEDIAN_TARGET, NINETIETH_TARGET = 512, 0.04, 0.12  # for CoCoPeLia's library, simulated
STATIC_TILE, CHOICE_TESTBED = 2048, "2"  # for BLASX; figure 6
CHOICES = {"best tile": None, "baseline": "baseline", "dataloc": "dataloc", "BTS": "bts", "DR": "dr", "CSO": "cso"}


def kind_of(row: OneGpu) -> str:
    return "daxpy" if row.routine == "daxpy" else row.library


def predict_arguments(row: OneGpu) -> list[str]:
    simulation = dataclasses.replace(row, library="CoCoPeLia").simulation()
    return ["predict", *simulation.arguments()[1:]]


def kept(prediction: dict) -> dict:
    """Seconds predicted by each model, and simulated."""
    rows = {each["model"]: each for each in prediction["predictions"]}
    return {model: rows[model]["predicted_s"] for model in MODELS} | {"simulated": rows["policy"]["simulated_s"]}


def predictions(tilerail, rows: list[OneGpu]) -> dict[tuple, dict]:
    """Stored predictions by problem and tile. CoCoPeLia's plans that are too long for `predict` are simulated
    separately."""
    calls = {(row.problem, row.tile): ((row.problem, row.tile), predict_arguments(row), kept) for row in rows}
    found = tilerail.call(calls.values(), len(calls))
    left = [row for row in rows if row.library == "CoCoPeLia" and found[row.problem, row.tile]["simulated"] is None]
    simulated = tilerail.simulate(row.simulation() for row in left)
    for row in left:
        found[row.problem, row.tile]["simulated"] = simulated[row.simulation()]["makespan_s"]
    return found


def errors_of(rows: list[OneGpu], found: dict) -> dict[tuple[str, str, str, str], list[float]]:
    """Predicted / measured - 1, by library, routine, testbed and model."""
    errors = {}
    for row in rows:
        if row.routine == "daxpy" or row.tile >= FIRST_TILE:
            for model in SHOWN[kind_of(row)]:
                error = found[row.problem, row.tile][model] / row.seconds - 1
                errors.setdefault((kind_of(row), row.routine, row.testbed, model), []).append(error)
    return errors


def error_findings(errors: dict) -> list[Finding]:
    """The medians of each routine and testbed against the printed range for all of them."""
    published, findings = read_published(NAME), []
    for (kind, routine, testbed, model), values in errors.items():
        value = published[f"{kind}, {model.upper()}, median error"]
        of = "" if kind == "daxpy" else f" {routine}"
        name = f"{kind}{of} on testbed {testbed}, {model.upper()}, median"
        findings.append(Finding(dataclasses.replace(value, name=name), quantile(values, 0.5), kind == "CoCoPeLia"))
    return findings


def choice_gains(rows: list[OneGpu], found: dict) -> dict[tuple[str, str], list[float]]:
    """Measured time for T = 2048 / time with each chosen tile, minus 1, by routine and choice."""
    gains = {}
    for (testbed, routine, *_), tried in by_problem(rows).items():
        static = next((row for row in tried if row.tile == STATIC_TILE), None)
        if testbed != CHOICE_TESTBED or static is None:
            continue
        for choice, model in CHOICES.items():
            taken = min(tried, key=lambda row: found[row.problem, row.tile][model] if model else row.seconds)
            gains.setdefault((routine, choice), []).append(static.seconds / taken.seconds - 1)
        taken = min(tried, key=lambda row: found[row.problem, row.tile]["simulated"])
        gains.setdefault((routine, "simulator"), []).append(static.seconds / taken.seconds - 1)
    return gains


def choice_findings(gains: dict) -> list[Finding]:
    published, findings = read_published(NAME), []
    for (routine, choice), values in gains.items():
        for what, figure in (("median", quantile(values, 0.5)), ("largest", max(values))):
            if value := published.get(f"{routine}, {choice} over {STATIC_TILE}, {what}"):
                findings.append(Finding(value, figure))
    return findings


def study(tilerail, options) -> Outcome:
    problems = by_problem([row for row in one_gpu_rows(("CoCoPeLia", "cuBLASXt"))
                           if row.overlaps and (row.sizes[0] in LENGTHS if row.routine == "daxpy" else
                                                row.tile >= SIMULATED_FROM)])
    rows = [row for key in sample(list(problems), options.quick, 24) for row in sample(problems[key], options.quick, 6)]
    found = predictions(tilerail, rows)
    errors = errors_of(rows, found)
    library = [row for row in rows if kind_of(row) == "CoCoPeLia"]
    off = [abs(found[row.problem, row.tile]["simulated"] / row.seconds - 1) for row in library]
    gains = choice_gains([row for row in library if row.tile >= FIRST_TILE], found)
    findings = error_findings(errors) + choice_findings(gains)
    findings += [target(f"CoCoPeLia simulated, {name} of |error|", most, quantile(off, share), fitted=True)
                 for name, most, share in (("median", MEDIAN_TARGET, 0.5), ("90%", NINETIETH_TARGET, 0.9)) if off]
    error_table = [["error of the prediction", "model", "rows", "5%", "median", "95%"]]
    error_table += [[f"{kind} {routine} testbed {testbed}", model, str(len(values)),
                     *(f"{quantile(values, share):+.1%}" for share in (0.05, 0.5, 0.95))]
                    for (kind, routine, testbed, model), values in errors.items()]
    gain_table = [[f"gain over T = {STATIC_TILE}", "problems", "least", "median", "largest"]]
    gain_table += [[f"{routine} {choice}", str(len(values)),
                    *(f"{value:+.1%}" for value in (min(values), quantile(values, 0.5), max(values)))]
                   for (routine, choice), values in gains.items()]

    def draw(figure):
        kinds = list(dict.fromkeys((kind, routine) for kind, routine, *_ in errors))
        for axes, (kind, routine) in zip(figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0], kinds):
            of = {f"{model.upper()}\n{testbed}": values for (k, r, testbed, model), values in errors.items()
                  if (k, r) == (kind, routine)}
            value = read_published(NAME)[f"{kind}, {SHOWN[kind][1].upper()}, median error"]
            axes.axhspan(value.band()[0] * 100, value.band()[1] * 100, color="#d8efd3", linewidth=0)
            axes.violinplot([[100 * max(-1.0, min(1.0, error)) for error in values] for values in of.values()],
                            showmedians=True, points=30)
            axes.axhline(0, color="#adb5bd", linewidth=0.8)
            axes.set_xticks(range(1, len(of) + 1), list(of), fontsize=6)
            axes.tick_params(axis="y", labelsize=6)
            axes.set_title(kind if kind == routine else f"{kind}\n{routine}", fontsize=7)
        figure.axes[0].set_ylabel("predicted over measured, minus 1, %", fontsize=6)

    columns = ["testbed", "routine", "library", "m", "n", "k", "place", "tile", "measured_s", "simulated_s",
               *(f"{model}_s" for model in MODELS)]
    cells = [[row.testbed, row.routine, row.library, *row.sizes, row.place, row.tile, row.seconds,
              *(found[row.problem, row.tile][model] for model in ("simulated", *MODELS))] for row in rows]
    return Outcome("testbeds 1 and 2", columns, cells, findings, [error_table, gain_table], draw)


PAPER = Paper(NAME, __doc__, study,
              why="the medians cover the available half of the evaluation data, with problems outside the paper's "
                  "validation sets")

if __name__ == "__main__":
    run_experiment(PAPER.main)
