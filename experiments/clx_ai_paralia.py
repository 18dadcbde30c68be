"""PARALiA's 630 problems on CLX-AI in simulation: all GPUs against selections by speed, EDP and PDP.

DGEMM of 21 squares, 21 fat-by-thin and 21 thin-by-fat shapes at 10 placements (thesis 3.3.2.2), by the policies
`paralia` and `tilerail`; mean rates and efficiencies as in thesis table 3.4. See docs/experiments.md.
"""

import dataclasses
import os

from harness import (BOUND_COLUMNS, Failure, Parser, Simulation, Tilerail, aligned, command_text, plotting, quantile,
                     run_experiment, save_figure, write_csv)

MACHINE = "clx-ai"
# The thesis names 10 without a list. Measured data of it has the first four; the others are ours, of the same kinds.
PLACES = ("h:h:h", "0:0:0", "0:1:2", "4:2:h", "h:h:0", "h:0:h", "0:h:h", "0:1:h", "h:2:4", "5:h:5")
VARIANTS = {"comm_opt": ("--policy", "paralia"), "select(PERF)": ("--policy", "paralia", "--select", "perf"),
            "select(EDP)": ("--policy", "paralia", "--select", "edp"),
            "select(PDP)": ("--policy", "paralia", "--select", "pdp"), "tilerail": ("--policy", "tilerail")}
# Thesis table 3.4: GFLOP/s and GFLOP/s/W of small, large and all problems.
PUBLISHED = {"comm_opt": ((9396, 45840, 39996), (4.06, 19.79, 17.27)),
             "select(PERF)": ((10641, 46066, 40933), (5.32, 19.94, 18.06)),
             "select(EDP)": ((9453, 45433, 39804), (6.30, 20.16, 18.64)),
             "select(PDP)": ((3970, 6700, 6530), (13.71, 23.14, 22.56))}
PARTS = ("small", "large", "all")
# Watts of an active GPU in that table: rate over efficiency of comm_opt, which always uses eight.
ACTIVE_WATTS = 39996 / 17.27 / 8


@dataclasses.dataclass(frozen=True)
class Problem:
    m: int
    n: int
    k: int
    place: str

    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    def simulation(self, variant: str) -> Simulation:
        return Simulation(f"{self.m},{self.n},{self.k}", MACHINE, self.place, VARIANTS[variant])


def dataset() -> list[Problem]:
    kilo = 1024
    shapes = [(side * kilo,) * 3 for side in range(2, 23)]
    shapes += [(fat * kilo, fat * kilo, fat * kilo // r) for fat in range(8, 33, 4) for r in (2, 8, 32)]
    shapes += [(fat * kilo // r, fat * kilo // r, fat * kilo) for fat in range(12, 37, 4) for r in (2, 8, 32)]
    return [Problem(*shape, place) for place in PLACES for shape in shapes]


def parts(problems: list[Problem]) -> dict[str, list[Problem]]:
    """The half with fewer flops, the other half, and all."""
    by_size = sorted(problems, key=Problem.flops)
    half = len(by_size) // 2
    return dict(zip(PARTS, (by_size[:half], by_size[half:], by_size)))


def means(problems: list[Problem], results: dict, variant: str) -> tuple[float, float, float]:
    """Mean flops over mean time, over mean energy, and over mean energy as if active GPUs always drew ACTIVE_WATTS."""
    chosen = [results[each.simulation(variant)] for each in problems]
    flops = sum(each.flops() for each in problems) / 1e9
    seconds = sum(each["makespan_s"] for each in chosen)
    joules = sum(each["energy_j"] for each in chosen)
    published_joules = sum(each["makespan_s"] * len(each["devices"]) * ACTIVE_WATTS for each in chosen)
    return flops / seconds, flops / joules, flops / published_joules


def print_means(split: dict[str, list[Problem]], results: dict) -> list[list]:
    """The table of means; returns its figures."""
    lines = [["", *(f"GFLOP/s, {part}" for part in PARTS), *(f"GFLOP/s/W, {part}" for part in PARTS),
              *(f"energy of copies and waiting too, {part}" for part in PARTS[2:])]]
    rows = []
    for variant in VARIANTS:
        figures = [means(split[part], results, variant) for part in PARTS]
        lines.append([variant, *(f"{rate:.0f}" for rate, _, _ in figures), *(f"{pdp:.2f}" for _, _, pdp in figures),
                      f"{figures[2][1]:.2f}"])
        rows += [[variant, part, *map(repr, values)] for part, values in zip(PARTS, figures)]
        if variant in PUBLISHED:
            rates, efficiencies = PUBLISHED[variant]
            lines.append(["  thesis", *map(str, rates), *(f"{value:.2f}" for value in efficiencies)])
    print(aligned(lines), end="\n\n")
    return rows


def print_ratios(split: dict[str, list[Problem]], results: dict) -> None:
    lines = [["over comm_opt", *(f"rate, {part}" for part in PARTS), *(f"efficiency, {part}" for part in PARTS)]]
    base = [means(split[part], results, "comm_opt") for part in PARTS]
    for variant in VARIANTS:
        if variant == "comm_opt":
            continue
        figures = [means(split[part], results, variant) for part in PARTS]
        lines.append([variant, *(f"{mine[0] / all_gpus[0]:.3f}" for mine, all_gpus in zip(figures, base)),
                      *(f"{mine[2] / all_gpus[2]:.3f}" for mine, all_gpus in zip(figures, base))])
        if variant in PUBLISHED:
            pairs = [zip(mine, published) for mine, published in zip(PUBLISHED[variant], PUBLISHED["comm_opt"])]
            lines.append(["  thesis", *(f"{mine / all_gpus:.3f}" for pair in pairs for mine, all_gpus in pair)])
    print(aligned(lines))


def print_bounds(split: dict[str, list[Problem]], results: dict) -> None:
    """Quantiles of the makespan over the bound, which is of all eight GPUs."""
    lines = [["makespan over bound", *(f"{share}, {part}" for part in PARTS for share in ("median", "90%"))]]
    for variant in VARIANTS:
        ratios = {part: [result["makespan_s"] / result["bound_s"] for result in
                         (results[each.simulation(variant)] for each in split[part])] for part in PARTS}
        lines.append([variant, *(f"{quantile(ratios[part], share):.2f}" for part in PARTS for share in (0.5, 0.9))])
    print("\n" + aligned(lines))


def draw(path: str, problems: list[Problem], results: dict) -> bool:
    """Boxes of the rates by placement, a box for each variant. False without matplotlib."""
    figure_type = plotting()
    if figure_type is None:
        return False
    figure = figure_type(figsize=(11.0, 3.4), dpi=150, layout="constrained")
    axes = figure.subplots()
    colours = ("#2a9d8f", "#e9c46a", "#f4a261", "#e76f51", "#264653")
    places = [place for place in PLACES if any(each.place == place for each in problems)]
    for v, (variant, colour) in enumerate(zip(VARIANTS, colours)):
        boxes = [[each.flops() / results[each.simulation(variant)]["makespan_s"] / 1e12 for each in problems
                  if each.place == place] for place in places]
        drawn = axes.boxplot(boxes, positions=[p + 0.16 * (v - 2) for p in range(len(places))], widths=0.13,
                             patch_artist=True, showfliers=False, medianprops={"color": "#30363d"})
        for box in drawn["boxes"]:
            box.set_facecolor(colour)
        axes.plot([], [], "s", color=colour, label=variant)
    axes.set_xticks(range(len(places)), places, fontsize=8)
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"{len(problems)} DGEMMs, {MACHINE}, simulated", fontsize=9)
    axes.legend(fontsize=7, ncols=5, loc="upper center")
    save_figure(figure, path)
    return True


def save(folder: str, version: str, problems: list[Problem], results: dict) -> None:
    rows = []
    for each in problems:
        for variant in VARIANTS:
            result = results[each.simulation(variant)]
            devices = ",".join(name.removeprefix("gpu") for name in result["devices"])
            rows.append([each.m, each.n, each.k, each.place, variant, result["tile"], devices,
                         repr(result["makespan_s"]), repr(result["energy_j"]),
                         *(result[column] for column in BOUND_COLUMNS)])
    table, figure = (os.path.join(folder, "clx_ai_paralia" + extension) for extension in (".csv", ".png"))
    header = {"version": version, "machine": f"{MACHINE}, simulated", "command": command_text()}
    columns = ["m", "n", "k", "place", "variant", "tile", "devices", "simulated_s", "energy_j", *BOUND_COLUMNS]
    write_csv(table, header, columns, rows)
    drawn = draw(figure, problems, results)
    print(f"\nwritten: {table}" + (f", {figure}" if drawn else "; no figure: matplotlib is missing"))


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--places", metavar="LIST", help="only these placements, for example h:h:h,0:1:2")
    parser.add_argument("--largest", type=int, default=36 * 1024, metavar="N", help="only problems with sides up to N")
    options = parser.parse_args()
    places = options.places.split(",") if options.places else PLACES
    unknown = [place for place in places if place not in PLACES]
    if unknown:
        raise Failure(f"--places: '{unknown[0]}' is none of {', '.join(PLACES)}")
    problems = [each for each in dataset()
                if each.place in places and max(each.m, each.n, each.k) <= options.largest]
    if not problems:
        raise Failure(f"--largest: {options.largest} leaves no problem; expected 2048 or more")
    tilerail = Tilerail(options.tilerail, options.jobs)
    version = tilerail.version()
    results = tilerail.simulate(each.simulation(variant) for each in problems for variant in VARIANTS)
    split = parts(problems)
    print_means(split, results)
    print_ratios(split, results)
    print_bounds(split, results)
    save(options.output, version, problems, results)


if __name__ == "__main__":
    run_experiment(main)
