"""Accuracy on H200: simulated against measured times of random problems, placements and policies.

The same seed gives the same cases. Calibration uses none of them.
"""

import math
import random
import re

import pandas

import tilerail as tr
from tilerail import InputError

from .harness import Check, count, hardware, numbers, Outcome, quantile, Run

NAME = "h200_accuracy"
COUNT, QUICK_COUNT, SEED = 72, 8, 20
TARGETS = {"median": (0.5, 0.02), "95th percentile": (0.95, 0.06), "largest": (1.0, 0.15)}  # of |error|
INTERVAL_TARGET = 0.9
LARGEST_WORK = 16384**3  # m n k of a case: bounds the time of the whole experiment
MOST_KERNELS = 20000  # of a case with a given tile, for the same reason
SIDES = (1000, 60000)
# Drawn twice as often as other presets: tilerail, the default, and gemmex, its origin.
POLICIES = "tilerail tilerail gemmex gemmex xkblas paralia blasx cublasxt cocopelia baseline".split()
TILES = [None, None, None, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192]
FIELDS = {"tilerail": ["", "", "batch=off", "sends=free"], "gemmex": ["", "", "order=fifo", "c-tiles=eager"]}
DTYPES = ["f64", "f64", "f64", "f64", "f32", "f32", "tf32", "f16", "bf16"]
HOST_DTYPES = {"f64", "f32"}  # supported by --backend host
PLACES = ["host", "host", "one GPU", "GPUs", "mixed"]
PARTS = ["kernel", "copy", "waiting", "issue"]


def between(generator: random.Random, least: int, most: int, step: int) -> int:
    """A multiple of `step` with a uniform logarithm."""
    return step * round(math.exp(generator.uniform(math.log(least), math.log(most))) / step)


def shape(generator: random.Random, step: int) -> tuple[int, int, int]:
    """A cube, a long inner side, a short inner side, one thin side, or three independent sides."""
    kind = generator.choice(["cube", "cube", "deep", "flat", "thin", "free", "free"])
    if kind == "cube":
        return (between(generator, 1024, 16384, step),) * 3
    least, most = SIDES
    ranges = {"deep": [(2048, 5000), (2048, 5000), (12000, most)],
              "flat": [(10000, 28000), (10000, 28000), (least, 4096)],
              "thin": [(least, 2048), (3000, 30000), (3000, most)],
              "free": [(least, 20000)] * 3}[kind]
    sides = [between(generator, low, high, step) for low, high in ranges]
    if kind == "thin":
        generator.shuffle(sides)
    return tuple(sides)


def placement(generator: random.Random, kind: str, gpus: int) -> str:
    memories = [str(gpu) for gpu in range(gpus)]
    if kind == "host":
        return "h:h:h"
    if kind == "one GPU":
        return ":".join([generator.choice(memories)] * 3)
    places = [generator.choice(memories) for _ in "ABC"]
    if kind == "mixed":
        for matrix in generator.sample(range(3), generator.choice([1, 2])):
            places[matrix] = "h"
    return ":".join(places)


def draw_case(generator: random.Random, gpus: int, most: int, dtypes: list[str]) -> tuple:
    """A case for `gpus` GPUs of a machine with `most` GPUs; the matrices may be on any of the `most` GPUs."""
    dtype = generator.choice(dtypes)
    # Tensor cores need leading dimensions in multiples of 16 bytes; f64 supports any size.
    step = generator.choice([1, 8, 256]) if dtype == "f64" else generator.choice([8, 256])
    m, n, k = shape(generator, step)
    while m * n * k > LARGEST_WORK:
        m, n, k = shape(generator, step)
    policy = generator.choice(POLICIES)
    tile = generator.choice([tile for tile in TILES
                             if tile is None or -(-m // tile) * -(-n // tile) * -(-k // tile) <= MOST_KERNELS])
    fields = generator.choice(FIELDS.get(policy, [""]))
    transa, transb = generator.choice(["NN", "NN", "NT", "TN", "TT"])
    place = placement(generator, generator.choice(PLACES), most)
    alpha, beta = generator.choice(["1", "1.5"]), generator.choice(["1", "1", "0", "0.5"])
    return m, n, k, place, gpus, dtype, transa, transb, alpha, beta, policy, tile or "", fields


def cases_of(count: int, types: set[str], most: int, seed: int) -> pandas.DataFrame:
    """Distinct cases, grouped by type because each type needs new matrices; every second one drawn uses all `most`
    GPUs, the others 1 to most in turn."""
    generator, dtypes, cases = random.Random(seed), [dtype for dtype in DTYPES if dtype in types], {}
    if not dtypes:
        raise InputError("--topology", None, "has no GEMM times", f"times of one of {', '.join(dict.fromkeys(DTYPES))}")
    while len(cases) < count:
        at = len(cases)
        cases[draw_case(generator, most if at % 2 else 1 + at // 2 % most, most, dtypes)] = None
    columns = ["m", "n", "k", "place", "gpus", "dtype", "transa", "transb", "alpha", "beta", "policy", "tile", "set"]
    return pandas.DataFrame(list(cases), columns=columns).sort_values("dtype", kind="stable", ignore_index=True)


def types_of(options) -> set[str]:
    """The types with GEMM times for every kind of GPU."""
    text, types = tr.machine(options.topology).to_toml(), set(DTYPES)
    for kind in re.findall('^kernels = "(.*)"', text, re.M):
        types &= set(re.findall(rf'^\[\[kernels\."?{re.escape(kind)}"?\.gemm\]\]\ndtype = "(\w+)"', text, re.M))
    return types & HOST_DTYPES if options.backend == "host" else types


def place_kind(place: str) -> str:
    hosts = sum(at.startswith("h") for at in place.split(":"))
    if 0 < hosts < 3:
        return "mixed"
    return "all on host" if hosts else "one GPU" if len(set(place.split(":"))) == 1 else "several GPUs"


def groups_of(rows: pandas.DataFrame) -> dict[str, pandas.DataFrame]:
    """All rows, and groups of rows with a common property."""
    kinds = {"type": rows.dtype_, "place": rows.kind, "GPUs": rows.gpus, "policy": rows.policy.str.split("+").str[0]}
    return {"all": rows} | {f"{name}: {value}": of for name, by in kinds.items() for value, of in rows.groupby(by)}


def tables(rows: pandas.DataFrame) -> dict[str, pandas.DataFrame]:
    errors = [{"|error|": name, "cases": len(of), "mean error": f"{of.error.mean():+.1%}"} |
              {what: f"{quantile(of.error.abs(), share):.1%}" for what, (share, _) in TARGETS.items()} |
              {"in the interval": f"{(of.in_interval == 'yes').sum()} of {(of.in_interval != '').sum()}"}
              for name, of in groups_of(rows).items()]
    shares = rows[[f"{part}_s" for part in PARTS]].div(rows.measured_s, axis=0)
    split = pandas.DataFrame({"mean": shares.mean(), "mean size": shares.abs().mean(),
                              "largest in": shares.abs().idxmax(axis=1).value_counts()}).round(4)
    shown = ["m", "n", "k", "dtype", "place", "gpus", "policy", "tile", "predicted_s", "measured_s", "error"]
    worst = rows.loc[rows.error.abs().sort_values(ascending=False).index[:10], shown]
    return {"largest errors": worst.round(4), "errors": pandas.DataFrame(errors),
            "shares of the measured time in the error": split.reset_index()}


def draw(figure, rows: pandas.DataFrame) -> None:
    """Simulated over measured times, by placement."""
    axes, tail = figure.subplots(), TARGETS["95th percentile"][1]
    seconds = 1e3 * pandas.concat([rows.measured_s, rows.predicted_s])
    ends = pandas.Series([seconds.min() / 1.3, seconds.max() * 1.3])
    axes.fill_between(ends, ends * (1 - tail), ends * (1 + tail), color="#e9ecef", label=f"within {tail:.0%}")
    for (kind, of), mark in zip(rows.groupby("kind"), "os^D"):
        axes.plot(1e3 * of.measured_s, 1e3 * of.predicted_s, mark, ms=4, label=kind)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="measured ms", ylabel="simulated ms")
    axes.legend()


def study(run: Run) -> Outcome:
    options, gpus = run.options, hardware.gpus_of(run.options)
    count = options.count or (QUICK_COUNT if run.quick else COUNT)
    cases = cases_of(count, types_of(options), gpus, options.seed) if gpus else pandas.DataFrame()
    rows = hardware.results(run, NAME, cases)
    rows = numbers(rows, NAME, *(f"{part}_s" for part in PARTS))
    rows = rows.assign(error=rows.predicted_s / rows.measured_s - 1, kind=rows.place.map(place_kind),
                       dtype_=rows["dtype"], in_interval=rows.get("in_interval", ""))
    checks = [Check(f"{name} of |error|", quantile(rows.error.abs(), share), target)
              for name, (share, target) in TARGETS.items()]
    if known := (rows.in_interval != "").sum():
        held = (rows.in_interval == "yes").sum() / known
        checks.append(Check(f"in the interval, of {known}", held, INTERVAL_TARGET, least=True))
    return hardware.outcome(run, rows, checks, tables(rows), lambda figure: draw(figure, rows))


def arguments(parser) -> None:
    hardware.add_arguments(parser, 5)
    parser.add_argument("--count", type=count, metavar="N", help=f"cases to draw [{COUNT}, --quick {QUICK_COUNT}]")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"of the cases [{SEED}]")
