"""CoCoPeLia's models of one GPU and the simulator against a real GPU: dgemm, sgemm and daxpy, all placements.

Each problem runs with several tiles. The models, and the simulator with the calibrated machine, predict each run; their
choices of tile are compared with the best measured tile. See docs/experiments.md.
"""

import concurrent.futures
import itertools
import json
import statistics

from harness import (Case, Failure, HardwareParser, Results, Row, Tilerail, aligned, finish, quantile,
                     results_of, run_experiment, write_csv)

NAME = "h200_models"
ROUTINES = {"dgemm": ("gemm", "f64"), "sgemm": ("gemm", "f32"), "daxpy": ("axpy", "f64")}
MODELS = ("baseline", "dataloc", "bts", "dr", "cso")
SHAPES = ((8192, 8192, 8192), (16384, 16384, 2048), (4096, 4096, 32768))
TILES = (1024, 1536, 2048, 3072, 4096)
LENGTHS, VECTOR_TILES = (64 * 2**20, 256 * 2**20), (2**22, 2**23, 2**24, 2**25)
STATIC_TILE = 2048  # for BLASX in CoCoPeLia's figure 6
# CoCoPeLia's library: one stream per direction and one for kernels, every tile fetched once, tiles of C sequentially.
POLICY, OVERRIDES = "gemmex", "compute-streams=1 c-tiles=eager order=fifo"
ERROR_TARGET, CHOSEN_TARGET = 0.05, 0.02  # medians: the simulator's error, and the loss with its tile


def problems(quick: bool) -> list[tuple[str, tuple[int, int, int], str]]:
    """Routine, sizes and placement: cubes at all placements except all on the GPU, other shapes on the host."""
    shapes, lengths = (SHAPES[:1], LENGTHS[:1]) if quick else (SHAPES, LENGTHS)
    places = [":".join(place) for place in itertools.product("h0", repeat=3)][:-1]
    found = [(routine, shape, place) for routine in ("dgemm", "sgemm") for shape in shapes
             for place in (places if len(set(shape)) == 1 else places[:1])]
    return found + [("daxpy", (length, 1, 1), place) for length in lengths for place in ("h:h", "h:0", "0:h")]


def cases(options) -> list[Case]:
    found = []
    for routine, (m, n, k), place in problems(options.quick):
        kind, dtype = ROUTINES[routine]
        tiles = VECTOR_TILES if kind == "axpy" else TILES
        limit = m if kind == "axpy" else min(m, n, k)
        name = f"{routine} {m}x{n}x{k} {place}" if kind == "gemm" else f"{routine} {m} {place}"
        found += [Case(m, n, k, place, 1, dtype, policy=POLICY, tile=tile, overrides=OVERRIDES, group=name,
                       label=routine, routine=kind) for tile in tiles if tile <= limit]
    return [case for case in found if case.dtype in options.machine.dtypes]


def with_models(tilerail: Tilerail, options, results: Results) -> Results:
    """Adds a column with the prediction of each model."""
    def predictions(row: Row) -> Row:
        of = {"axpy": ["--axpy", row["m"]], "gemm": ["--gemm", ",".join(row[side] for side in "mnk")]}
        text = tilerail.run(["predict", *of[row["routine"]], "--dtype", row["dtype"], "--place", row["place"],
                             "--topology", str(options.topology), "--devices", "0", "--tile", row["tile"], "--policy",
                             POLICY, "--json", "-"])
        times = {each["model"]: each["predicted_s"] for each in json.loads(text)["predictions"]}
        return Row(row.where, row.cells | {f"{model}_s": repr(times[model]) for model in MODELS})

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(predictions, results.rows))
    write_csv(results.files[0], results.remarks, list(rows[0].cells), [list(row.cells.values()) for row in rows])
    return Results(results.remarks, rows, results.files)


def predicted(row: Row, way: str) -> float:
    return row.positive("predicted_s" if way == "simulator" else f"{way}_s")


def errors_of(rows: list[Row]) -> dict[tuple[str, str], list[float]]:
    """Predicted / measured time - 1, by routine and model or simulator."""
    errors = {}
    for row in rows:
        for way in (*MODELS, "simulator"):
            errors.setdefault((row["label"], way), []).append(predicted(row, way) / row.positive("measured_s") - 1)
    return errors


def print_errors(errors: dict[tuple[str, str], list[float]]) -> None:
    lines = [["routine", "by", "runs", "5%", "median", "95%", "median |error|", f"simulator within {ERROR_TARGET:.0%}"]]
    for (routine, way), values in errors.items():
        low, high = quantile(values, 0.05), quantile(values, 0.95)
        size = statistics.median(map(abs, values))
        verdict = ("yes" if size <= ERROR_TARGET else "no") if way == "simulator" else ""
        lines.append([routine, way, str(len(values)), f"{low:+.1%}", f"{statistics.median(values):+.1%}",
                      f"{high:+.1%}", f"{size:.1%}", verdict])
    print(aligned(lines))


def print_losses(rows: list[Row]) -> None:
    """Prints measured time with each chosen tile / the problem's least measured time."""
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    losses = {}
    for tried in groups.values():
        best = min(row.positive("measured_s") for row in tried)
        chosen = {way: min(tried, key=lambda row: predicted(row, way)) for way in (*MODELS, "simulator")}
        if tried[0]["routine"] == "gemm":
            chosen[f"T = {STATIC_TILE}"] = min(tried, key=lambda row: abs(row.whole("tile") - STATIC_TILE))
        for way, row in chosen.items():
            losses.setdefault(way, []).append(row.positive("measured_s") / best - 1)
    lines = [["tile chosen by", "problems", "median loss", "mean", "largest", f"median within {CHOSEN_TARGET:.0%}"]]
    for way, values in losses.items():
        median = statistics.median(values)
        lines.append([way, str(len(values)), f"{median:.1%}", f"{statistics.mean(values):.1%}", f"{max(values):.1%}",
                      "yes" if median <= CHOSEN_TARGET else "no"])
    print("\n" + aligned(lines))


def draw(errors: dict[tuple[str, str], list[float]]):
    def of(figure_type):
        figure = figure_type(figsize=(9, 3.2), dpi=150, layout="constrained")
        routines = list(dict.fromkeys(routine for routine, _ in errors))
        ways = (*MODELS, "simulator")
        for axes, routine in zip(figure.subplots(1, len(routines), squeeze=False)[0], routines):
            axes.violinplot([[100 * error for error in errors[routine, way]] for way in ways], showmedians=True)
            axes.axhline(0, color="#adb5bd", linewidth=0.8)
            axes.set_xticks(range(1, len(ways) + 1), ways, rotation=40, fontsize=7)
            axes.set_title(routine, fontsize=8)
            axes.set_ylim(-100, 100)
        figure.axes[0].set_ylabel("error of the prediction, %")
        return figure
    return of


def main() -> int:
    parser = HardwareParser(__doc__, iterations=5)
    options = parser.parse_args()
    results = results_of(NAME, options, cases(options) if options.machine else [])
    if options.machine:
        results = with_models(Tilerail(options.tilerail, options.jobs), options, results)
    elif missing := [model for model in MODELS if f"{model}_s" not in results.rows[0].cells]:
        raise Failure(f"{options.from_saved}: has no column '{missing[0]}_s'")
    errors = errors_of(results.rows)
    print_errors(errors)
    print_losses(results.rows)
    return finish(NAME, options, results, draw(errors))


if __name__ == "__main__":
    run_experiment(main)
