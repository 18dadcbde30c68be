"""CoCoPeLia (section V): models of one GPU against the simulator of the two published testbeds, GEMM and axpy.

Each problem and tile is predicted by the models and simulated. See docs/experiments.md.
"""

import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import statistics

from harness import (Failure, Parser, Tilerail, aligned, command_text, plotting, positive, quantile, read_table,
                     run_experiment, save_figure, write_csv)

NAME = "cocopelia_models"
TESTBEDS = ("cocopelia-testbed-1", "cocopelia-testbed-2")
ROUTINES = {"dgemm": "f64", "sgemm": "f32", "daxpy": "f64"}  # and their types
MODELS = ("baseline", "dataloc", "bts", "dr", "cso")
SHOWN = {"dgemm": ("cso", "bts", "dr"), "sgemm": ("cso", "bts", "dr"), "daxpy": ("cso", "bts")}  # figures 4 and 5
LIMITS = {"dgemm": 100, "sgemm": 100, "daxpy": 20}  # of the figure, in %
STATIC_TILE = 2048  # of BLASX, the paper's figure 6
SIDES = tuple(side * 1024 for side in (4, 8, 12, 16))
RATIOS = (3, 4, 5)
LEAST_TILE, OVERLAP = 1024, 1.5  # tiles are at most the least size / 1.5
LENGTHS = tuple(length * 2**20 for length in (8, 64, 128, 256))
VECTOR_STEP, LONGEST_TILE = 2**20, 2**26  # of daxpy; the paper looks up kernels up to 2^26
# One stream for transfers each way and one for kernels, every tile fetched once, tiles of C one after another.
WRAPPER = ("--policy", "gemmex", "--set", "compute-streams=1", "--set", "c-tiles=eager", "--set", "order=fifo")
DR_TARGET, BTS_TARGET = 0.05, 0.02  # of GEMMs; of axpy, which reuses nothing
KEY = ["testbed", "routine", "M", "N", "K", "place"]
COLUMNS = [*KEY, "tile", "searched", "simulated_s", "bound_s", *(f"{model}_s" for model in MODELS)]
CHOSEN_TARGET = 0.02


@dataclasses.dataclass(frozen=True)
class Problem:
    testbed: str
    routine: str
    sizes: tuple[int, int, int]  # m, n, k; of daxpy its length, 1 and 1
    place: str

    def tiles(self, step: int) -> range:
        if self.routine == "daxpy":
            return range(VECTOR_STEP, min(int(self.sizes[0] / OVERLAP), LONGEST_TILE) + 1, VECTOR_STEP)
        return range(LEAST_TILE, int(min(self.sizes) / OVERLAP) + 1, step)

    def arguments(self) -> list[str]:
        of = ["--axpy", str(self.sizes[0])] if self.routine == "daxpy" else ["--gemm", ",".join(map(str, self.sizes))]
        return [*of, "--dtype", ROUTINES[self.routine], "--place", self.place, "--topology", self.testbed,
                "--devices", "0", "--json", "-", *WRAPPER]


def shapes(sides) -> list[tuple[tuple[int, int, int], str]]:
    """Cubes with all placements but all on the GPU; of the same volume on the host, long or short in K."""
    found = [((side, side, side), ":".join(place)) for side in sides for place in itertools.product("h0", repeat=3)
             if place != ("0", "0", "0")]
    for side, ratio in itertools.product(sides, RATIOS):
        factor = ratio**3 / 8
        short, long = side / factor ** (2 / 3), side * factor ** (2 / 3)
        found.append(((round(short * factor), round(short * factor), round(short)), "h:h:h"))
        found.append(((round(long / factor), round(long / factor), round(long)), "h:h:h"))
    return found


def vectors(lengths) -> list[tuple[tuple[int, int, int], str]]:
    return [((length, 1, 1), place) for length in lengths for place in ("h:h", "h:0", "0:h")]


def measure(tilerail: Tilerail, options) -> list[list]:
    few = slice(1 if options.quick else None)
    problems = [Problem(testbed, routine, sizes, place) for testbed in TESTBEDS for routine in ROUTINES
                for sizes, place in (vectors(LENGTHS[few]) if routine == "daxpy" else shapes(SIDES[few]))]
    problems = [problem for problem in problems if problem.tiles(options.step)]
    cases = [(problem, tile) for problem in problems for tile in problem.tiles(options.step)]

    def predict(problem: Problem, tile: int, bound: float, searched: bool = False) -> list:
        text = tilerail.run(["predict", *problem.arguments(), "--tile", str(tile)])
        rows = {row["model"]: row for row in json.loads(text)["predictions"]}
        return [problem.testbed, problem.routine, *problem.sizes, problem.place, tile, int(searched),
                rows["policy"]["simulated_s"], bound, *(rows[model]["predicted_s"] for model in MODELS)]

    def search(problem: Problem) -> dict:
        return json.loads(tilerail.run(["simulate", *problem.arguments(), "--tile", "auto:search"]))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(problems, pool.map(search, problems)))
        cases = [(problem, tile, found[problem]["bound_s"]) for problem, tile in cases]
        cases += [(problem, result["tile"], result["bound_s"], True) for problem, result in found.items()]
        return list(pool.map(lambda case: predict(*case), cases))


def shown(routine: str) -> tuple[str, ...]:
    if routine not in SHOWN:
        raise Failure(f"routine: '{routine}' is none of {', '.join(SHOWN)}")
    return SHOWN[routine]


def errors_of(rows) -> dict[tuple[str, str, str], list[float]]:
    """Predicted over simulated time - 1, by testbed, routine and model."""
    errors = {}
    for row in rows:
        for model in shown(row["routine"]) if row["searched"] == "0" else ():
            error = row.positive(f"{model}_s") / row.positive("simulated_s") - 1
            errors.setdefault((row["testbed"], row["routine"], model), []).append(error)
    return errors


def print_errors(errors) -> None:
    lines = [["testbed and routine", "model", "cases", "5%", "median", "95%",
              f"DR within {DR_TARGET:.0%}, BTS of daxpy {BTS_TARGET:.0%}, CSO low"]]
    for (testbed, routine, model), values in errors.items():
        low, high = quantile(values, 0.05), quantile(values, 0.95)
        median = statistics.median(values)
        verdict = {"dr": abs(median) <= DR_TARGET, "cso": median < 0}.get(model)
        if (routine, model) == ("daxpy", "bts"):
            verdict = abs(median) <= BTS_TARGET
        lines.append([f"{testbed} {routine}", model, str(len(values)), f"{low:+.1%}", f"{median:+.1%}", f"{high:+.1%}",
                      "" if verdict is None else "yes" if verdict else "no"])
    print(aligned(lines))


def losses_of(rows) -> dict[str, list[float]]:
    """Simulated time with each way's tile over the least simulated one of the problem - 1."""
    problems = {}
    for row in rows:
        problems.setdefault(tuple(row[column] for column in KEY), []).append(row)
    losses = {}
    for tried in problems.values():
        best = min(row.positive("simulated_s") for row in tried)
        given = [row for row in tried if row["searched"] == "0"]
        chosen = {model: min(given, key=lambda row: row.positive(f"{model}_s")) for model in MODELS}
        if given[0]["routine"] != "daxpy":
            chosen["T = 2048"] = min(given, key=lambda row: abs(row.whole("tile") - STATIC_TILE))
        chosen["search"] = next(row for row in tried if row["searched"] == "1")
        for way, row in chosen.items():
            losses.setdefault(way, []).append(row.positive("simulated_s") / best - 1)
    return losses


def print_bounds(rows) -> None:
    """Of each problem with the tile that was searched for."""
    ratios = {}
    for row in rows:
        if row["searched"] == "1":
            ratio = row.positive("simulated_s") / row.positive("bound_s")
            ratios.setdefault((row["testbed"], row["routine"]), []).append(ratio)
    lines = [["simulated over bound", "problems", "least", "median", "largest"]]
    for (testbed, routine), values in ratios.items():
        lines.append([f"{testbed} {routine}", str(len(values)),
                      *(f"{value:.2f}" for value in (min(values), statistics.median(values), max(values)))])
    print("\n" + aligned(lines))


def print_losses(title: str, losses) -> None:
    lines = [[title, "problems", "median loss", "mean", "largest", f"median within {CHOSEN_TARGET:.0%}"]]
    for way, values in losses.items():
        median = statistics.median(values)
        lines.append([way, str(len(values)), f"{median:.1%}", f"{statistics.mean(values):.1%}", f"{max(values):.1%}",
                      "yes" if median <= CHOSEN_TARGET else "no"])
    print("\n" + aligned(lines))


def draw(figure_type, errors):
    figure = figure_type(figsize=(11, 3.5), dpi=150, layout="constrained")
    kinds = list(dict.fromkeys((testbed, routine) for testbed, routine, _ in errors))
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds):
        models, limit = shown(kind[1]), LIMITS[kind[1]]
        axes.violinplot([[error * 100 for error in errors[(*kind, model)]] for model in models], showmedians=True)
        axes.axhline(0, color="#adb5bd", linewidth=0.8)
        axes.set_xticks(range(1, len(models) + 1), [model.upper() for model in models])
        axes.set_title(f"{kind[0].removeprefix('cocopelia-')}\n{kind[1]}", fontsize=8)
        axes.set_ylim(-limit, limit)
        axes.tick_params(labelsize=7)
    figure.axes[0].set_ylabel("error of the prediction, %")
    return figure


def main() -> int:
    parser = Parser(__doc__)
    parser.add_argument("--step", type=positive, default=256, metavar="N", help="between tiles of GEMMs [256]")
    parser.add_argument("--quick", action="store_true", help="only the smallest problems")
    parser.add_argument("--from-saved", type=pathlib.Path, metavar="CSV", help="table and figure of saved results")
    options = parser.parse_args()
    files, table = [], options.from_saved
    if not table:
        tilerail = Tilerail(options.tilerail, options.jobs)
        table = os.path.join(options.output, NAME + ".csv")
        header = {"version": tilerail.version(), "command": command_text()}
        write_csv(table, header, COLUMNS, measure(tilerail, options))
        files.append(table)
    rows = read_table(pathlib.Path(table), COLUMNS)[1]
    if not rows:
        raise Failure(f"{table}: has no results")
    errors = errors_of(rows)
    print_errors(errors)
    for title, of_axpy in (("tile chosen by", False), ("tile of daxpy by", True)):
        if some := [row for row in rows if (row["routine"] == "daxpy") == of_axpy]:
            print_losses(title, losses_of(some))
    print_bounds(rows)
    if figure_type := plotting():
        files.append(os.path.join(options.output, NAME + ".png"))
        save_figure(draw(figure_type, errors), files[-1])
    print(f"\nwritten: {', '.join(files) or 'nothing'}")
    return 0


if __name__ == "__main__":
    run_experiment(main)
