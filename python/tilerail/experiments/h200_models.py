"""CoCoPeLia's models of one GPU and the simulator against a real GPU: dgemm, sgemm and daxpy, all placements.

Each problem runs with several tiles. The models, and the simulator with the calibrated machine, predict each run; their
choices of tile are compared with the best measured tile.
"""

import itertools

import pandas

from .harness import Check, chosen_times, draw_violins, error_table, hardware, numbers, Outcome, Run
from .harness.models import MODELS, predictions

NAME = "h200_models"
ROUTINES = {"dgemm": ("gemm", "f64"), "sgemm": ("gemm", "f32"), "daxpy": ("axpy", "f64")}
SHAPES = ((8192, 8192, 8192), (16384, 16384, 2048), (4096, 4096, 32768))
TILES = (1024, 1536, 2048, 3072, 4096)
LENGTHS, VECTOR_TILES = (64 * 2**20, 256 * 2**20), (2**22, 2**23, 2**24, 2**25)
STATIC_TILE = 2048  # for BLASX in CoCoPeLia's figure 6
# CoCoPeLia's library: one stream per direction and one for kernels, every tile fetched once, tiles of C sequentially.
POLICY, FIELDS = "gemmex", "compute-streams=1 c-tiles=eager order=fifo"
ERROR_TARGET, LOSS_TARGET = 0.05, 0.02  # medians: the simulator's error, and the loss with its tile
PREDICTORS = {**{model: f"{model}_s" for model in MODELS}, "simulator": "predicted_s"}


def cases(quick: bool) -> pandas.DataFrame:
    """Cubes at all placements but all on the GPU, other shapes on the host, and vectors; each with several tiles."""
    places = [":".join(place) for place in itertools.product("h0", repeat=3)][:-1]
    found = [(name, shape, place) for name in ("dgemm", "sgemm") for shape in SHAPES[:1 if quick else None]
             for place in (places if len(set(shape)) == 1 else places[:1])]
    found += [("daxpy", (length, 1, 1), place) for length in LENGTHS[:1 if quick else None]
              for place in ("h:h", "h:0", "0:h")]
    rows = [(*shape, place, *ROUTINES[name], tile, f"{name} {'x'.join(map(str, shape))} {place}", name)
            for name, shape, place in found for tile in (VECTOR_TILES if name == "daxpy" else TILES)
            if tile <= (shape[0] if name == "daxpy" else min(shape))]
    columns = ["m", "n", "k", "place", "routine", "dtype", "tile", "group", "label"]
    return pandas.DataFrame(rows, columns=columns).assign(gpus=1, policy=POLICY, set=FIELDS)


def losses(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Measured time with each chosen tile / the problem's least measured time, minus 1."""
    rows = rows.assign(distance=(rows.tile - STATIC_TILE).abs())
    static = chosen_times(rows[rows.routine == "gemm"], "group", {f"T = {STATIC_TILE}": "distance"})
    times = chosen_times(rows, "group", PREDICTORS).join(static)
    return times.div(rows.groupby("group").measured_s.min(), axis=0) - 1


def study(run: Run) -> Outcome:
    hardware.gpus_of(run.options)
    rows = hardware.results(run, NAME, cases(run.quick))
    if run.options.from_saved:
        rows = numbers(rows, NAME, *PREDICTORS.values())
    else:
        rows = rows.join(predictions(rows.assign(machine=str(run.options.topology)).astype({"tile": int})))
    errors = pandas.concat([rows.assign(by=name, error=rows[column] / rows.measured_s - 1)
                            for name, column in PREDICTORS.items()])
    violins = {routine: {name: group.error for name, group in of.groupby("by", sort=False)}
               for routine, of in errors.groupby("label", sort=False)}
    loss = losses(rows)
    checks = [Check(f"{routine}: simulator, median |error|", of.error.abs().median(), ERROR_TARGET)
              for routine, of in errors[errors.by == "simulator"].groupby("label", sort=False)]
    checks.append(Check("loss with the simulator's tile, median", loss["simulator"].median(), LOSS_TARGET))
    return hardware.outcome(run, rows, checks, {"errors": error_table(errors, ["label", "by"]),
                            "loss by the tile": loss.agg(["count", "median", "mean", "max"]).T.round(4).reset_index()},
                            lambda figure: draw_violins(figure, violins))


def arguments(parser) -> None:
    hardware.add_arguments(parser, 5)
