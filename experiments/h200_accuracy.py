"""Accuracy on H200: simulated against measured times of random problems, placements and policies.

The same seed gives the same cases. Calibration uses none of them. See docs/experiments.md.
"""

import math
import random

from harness import (GIVEN_GPUS, Case, Failure, HardwareParser, Results, Row, aligned, finish, over_bound_of,
                     positive, quantile, results_of, run_experiment)

NAME = "h200_accuracy"
COUNT, QUICK_COUNT, SEED = 72, 8, 20
MEDIAN_TARGET, TAIL_TARGET, LARGEST_TARGET, TAIL = 0.02, 0.06, 0.15, 0.95
INTERVAL_TARGET = 0.9
LARGEST_WORK = 16384**3  # m n k of a case: bounds the time of the whole experiment
MOST_KERNELS = 20000  # of a case with a given tile, for the same reason
SIDES = (1000, 60000)
# Drawn twice as often as other presets: tilerail, the default, and gemmex, its origin.
POLICIES = ["tilerail", "tilerail", "gemmex", "gemmex", "xkblas", "paralia", "blasx", "cublasxt", "cocopelia",
            "baseline"]
TILES = [None, None, None, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192]
OVERRIDES = {"tilerail": ["", "", "batch=off", "sends=free"], "gemmex": ["", "", "order=fifo", "c-tiles=eager"]}
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
    sides = [between(generator, least, most, step) for least, most in ranges]
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


def draw_case(generator: random.Random, gpus: int, most: int, dtypes: list[str]) -> Case:
    """A case for `gpus` GPUs of a machine with `most` GPUs; the matrices may be on any of the `most` GPUs."""
    dtype = generator.choice(dtypes)
    # Tensor cores need leading dimensions in multiples of 16 bytes; f64 supports any size.
    step = generator.choice([1, 8, 256]) if dtype == "f64" else generator.choice([8, 256])
    m, n, k = shape(generator, step)
    while m * n * k > LARGEST_WORK:
        m, n, k = shape(generator, step)
    policy = generator.choice(POLICIES)
    tiles = [tile for tile in TILES if tile is None or -(-m // tile) * -(-n // tile) * -(-k // tile) <= MOST_KERNELS]
    tile = generator.choice(tiles)
    overrides = generator.choice(OVERRIDES.get(policy, [""]))
    transa, transb = generator.choice(["NN", "NN", "NT", "TN", "TT"])
    return Case(m, n, k, placement(generator, generator.choice(PLACES), most), gpus, dtype, transa, transb,
                generator.choice(["1", "1.5"]), generator.choice(["1", "1", "0", "0.5"]), policy, tile, overrides)


def cases_of(count: int, types: set[str], most: int, seed: int) -> list[Case]:
    """Distinct cases, grouped by type because each type needs new matrices; every second one drawn uses all `most`
    GPUs, the others 1 to most in turn."""
    generator = random.Random(seed)
    dtypes = [dtype for dtype in DTYPES if dtype in types]
    if not dtypes:
        raise Failure(f"--topology: GEMM times of none of {', '.join(dict.fromkeys(DTYPES))}")
    cases = {}
    while len(cases) < count:
        i = len(cases)
        cases[draw_case(generator, most if i % 2 else 1 + i // 2 % most, most, dtypes)] = None
    return sorted(cases, key=lambda case: case.dtype)


def error(row: Row) -> float:
    """Above zero if the simulation is slower than the measurement."""
    return row.positive("predicted_s") / row.positive("measured_s") - 1


def place_kind(row: Row) -> str:
    places = row["place"].split(":")
    hosts = sum(at.startswith("h") for at in places)
    if 0 < hosts < 3:
        return "mixed"
    return "all on host" if hosts else "one GPU" if len(set(places)) == 1 else "several GPUs"


def print_worst(rows: list[Row], count: int) -> None:
    lines = [["largest errors", "type", "place", "GPUs", "policy", "tile", "predicted ms", "measured ms", "over bound",
              "error", *PARTS]]
    for row in sorted(rows, key=lambda row: -abs(error(row)))[:count]:
        shares = [f"{row.number(part + '_s') / row.positive('measured_s'):+.1%}" for part in PARTS]
        lines.append([f"{row['m']} x {row['n']} x {row['k']}", row["dtype"], row["place"], row[GIVEN_GPUS],
                      row["policy"], row["tile"], f"{row.positive('predicted_s') * 1e3:.2f}",
                      f"{row.positive('measured_s') * 1e3:.2f}", over_bound_of(row), f"{error(row):+.1%}", *shares])
    print(aligned(lines), end="\n\n")


def groups_of(rows: list[Row]) -> dict[str, list[Row]]:
    """All rows, and groups of rows with a common property."""
    kinds = {"type": lambda row: row["dtype"], "place": place_kind, "GPUs": lambda row: row[GIVEN_GPUS],
             "policy": lambda row: row["policy"].split("+")[0]}
    groups = {"all": rows}
    for kind, value_of in kinds.items():
        for value in sorted({value_of(row) for row in rows}):
            groups[f"{kind}: {value}"] = [row for row in rows if value_of(row) == value]
    return groups


def print_errors(rows: list[Row]) -> None:
    lines = [["|error|", "cases", "median", "95%", "largest", "mean error"]]
    for name, members in groups_of(rows).items():
        sizes = [abs(error(row)) for row in members]
        mean = sum(map(error, members)) / len(members)
        lines.append([name, str(len(members)), f"{quantile(sizes, 0.5):.1%}", f"{quantile(sizes, TAIL):.1%}",
                      f"{max(sizes):.1%}", f"{mean:+.1%}"])
    print(aligned(lines), end="\n\n")
    sizes = [abs(error(row)) for row in rows]
    for name, share, target in (("median", 0.5, MEDIAN_TARGET), ("95th percentile", TAIL, TAIL_TARGET),
                                ("largest", 1.0, LARGEST_TARGET)):
        value = quantile(sizes, share)
        print(f"{name} {value:.1%}, target {target:.0%}: {'reached' if value <= target else 'missed'}")


def print_intervals(rows: list[Row]) -> None:
    """Prints how many measured times lie in their interval. Older results have no intervals."""
    known = [row for row in rows if row.cells.get("in_interval")]
    if not known:
        return
    lines = [["\nin the interval", "cases", "share"]]
    for name, members in groups_of(known).items():
        held = sum(row["in_interval"] == "yes" for row in members)
        lines.append([name, f"{held} of {len(members)}", f"{held / len(members):.0%}"])
    print(aligned(lines), end="\n\n")
    share = sum(row["in_interval"] == "yes" for row in known) / len(known)
    print(f"in the interval {share:.0%}, target {INTERVAL_TARGET:.0%}: "
          f"{'reached' if share >= INTERVAL_TARGET else 'missed'}")


def print_split(rows: list[Row]) -> None:
    """Shares of the measured time; the parts of a case add up to its error."""
    lines = [["\nsplit of the errors", "mean", "mean size", "largest in"]]
    shares = {part: [row.number(part + "_s") / row.positive("measured_s") for row in rows] for part in PARTS}
    for part in PARTS:
        largest = sum(max(PARTS, key=lambda other: abs(shares[other][i])) == part for i in range(len(rows)))
        mean, size = sum(shares[part]) / len(rows), sum(map(abs, shares[part])) / len(rows)
        lines.append([part, f"{mean:+.1%}", f"{size:.1%}", f"{largest} cases"])
    print(aligned(lines))


def draw(figure_type, results: Results):
    """Simulated / measured times, by placement; the band is TAIL_TARGET."""
    figure = figure_type(figsize=(5, 4.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    seconds = [row.positive(column) * 1e3 for row in results.rows for column in ("measured_s", "predicted_s")]
    ends = [min(seconds) / 1.3, max(seconds) * 1.3]
    axes.fill_between(ends, [end * (1 - TAIL_TARGET) for end in ends], [end * (1 + TAIL_TARGET) for end in ends],
                      color="#e9ecef", label=f"within {TAIL_TARGET:.0%}")
    axes.plot(ends, ends, color="#adb5bd", linewidth=0.8)
    for i, kind in enumerate(sorted({place_kind(row) for row in results.rows})):
        rows = [row for row in results.rows if place_kind(row) == kind]
        axes.scatter([row.positive("measured_s") * 1e3 for row in rows],
                     [row.positive("predicted_s") * 1e3 for row in rows], s=14, c=f"C{i}", marker="os^D"[i], label=kind)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_xlabel("measured ms")
    axes.set_ylabel("simulated ms")
    axes.set_title(f"{len(results.rows)} cases, {results.machine}", fontsize=9)
    axes.legend(fontsize=7)
    return figure


def main() -> int:
    parser = HardwareParser(__doc__, iterations=5)
    parser.add_argument("--count", type=positive, metavar="N", help=f"cases to draw [{COUNT}, --quick {QUICK_COUNT}]")
    parser.add_argument("--seed", type=positive, default=SEED, metavar="N", help=f"of the cases [{SEED}]")
    options = parser.parse_args()
    count = options.count or (QUICK_COUNT if options.quick else COUNT)
    cases = []
    if not options.from_saved:
        types = options.machine.dtypes & HOST_DTYPES if options.backend == "host" else options.machine.dtypes
        cases = cases_of(count, types, options.gpus, options.seed)
    results = results_of(NAME, options, cases)
    print_worst(results.rows, 10)
    print_errors(results.rows)
    print_intervals(results.rows)
    print_split(results.rows)
    return finish(NAME, options, results, lambda figure_type: draw(figure_type, results))


if __name__ == "__main__":
    run_experiment(main)
