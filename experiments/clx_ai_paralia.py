"""PARALiA's 630 problems on CLX-AI: its variants and other libraries, thesis figures 3.9 and 3.10 and table 3.4.

DGEMM of 21 squares, 21 fat-by-thin and 21 thin-by-fat shapes at 10 placements (thesis 3.3.2.2): mean rates and
efficiencies as in table 3.4, factors as in 3.3.3.3, and measured rows of cuBLASXt, BLASX and XKBLAS. See
docs/experiments.md.
"""

import dataclasses
import statistics

from harness import (CLX_AI_PLACES, COLOURS, REFERENCE, SHAPES, Compared, Failure, Outcome, Paper, Product, Simulation,
                     beside_published, by_library, clx_ai_dataset, draw_errors, error_findings, error_table,
                     names, near_best, order_finding, policy_of, quantile, read_measured, read_published,
                     run_experiment, sample, size)

NAME = "clx_ai_paralia"
MACHINE = "clx-ai"
VARIANTS = {"cuBLASXt": "cuBLASXt", "BLASX": "BLASX", "XKBLAS": "XKBLAS", "comm_opt": "PARALiA-comm_opt",
            "select(PERF)": "PARALiA-select-PERF", "select(EDP)": "PARALiA-select-EDP",
            "select(PDP)": "PARALiA-select-PDP", "tilerail": "tilerail"}
OTHERS = ("cuBLASXt", "BLASX", "XKBLAS")
DRAWN = (*OTHERS, "comm_opt", "select(EDP)", "tilerail")
PARTS = ("small", "large", "all")
# Watts of an active GPU in table 3.4: rate / efficiency of comm_opt, which always uses eight GPUs.
_TABLE = read_published(NAME)
ACTIVE_WATTS = _TABLE["comm_opt, rate, all"].low / _TABLE["comm_opt, efficiency, all"].low / 8
# Fitted to measured rows: the overhead of cuBLASXt's calls on eight GPUs, and BLASX's warm caches.
FITTED = ("cuBLASXt", "BLASX")
TARGET, ORDER_TARGET = 0.20, 0.85  # median of |error| per library; share of library pairs ranked correctly


def simulation(problem: Product, variant: str) -> Simulation:
    return Simulation(problem.sizes, MACHINE, problem.place, policy_of(VARIANTS[variant]))


def parts(problems: list[Product]) -> dict[str, list[Product]]:
    """The half with fewer flops, the other half, and all; without empty parts."""
    by_size = sorted(problems, key=lambda each: each.flops)
    half = len(by_size) // 2
    return {part: of for part, of in zip(PARTS, (by_size[:half], by_size[half:], by_size)) if of}


def joules(result: dict) -> float:
    """The thesis' rule: every participating GPU always draws ACTIVE_WATTS."""
    return result["makespan_s"] * len(result["devices"]) * ACTIVE_WATTS


class Results:
    """The result of each variant for each problem."""

    def __init__(self, tilerail, problems: list[Product], variants: list[str]):
        wanted = {}
        for problem in problems:
            for variant in variants:
                wanted[problem, variant] = simulation(problem, variant)
        found = tilerail.simulate(wanted.values())
        self.variants = variants
        self.best = {key: found[each] for key, each in wanted.items()}

    def rate(self, problems: list[Product], variant: str) -> float:
        """Mean GFLOP over mean seconds."""
        return sum(each.flops for each in problems) / sum(self.best[each, variant]["makespan_s"]
                                                          for each in problems) / 1e9

    def efficiency(self, problems: list[Product], variant: str) -> float:
        """Mean GFLOP over mean joules of ACTIVE_WATTS."""
        return sum(each.flops for each in problems) / sum(joules(self.best[each, variant]) for each in problems) / 1e9

    def factor(self, problems: list[Product], variant: str, other: str, of) -> float:
        """Geometric mean of the other variant's cost / this variant's."""
        return statistics.geometric_mean(of(self.best[each, other]) / of(self.best[each, variant]) for each in problems)


def seconds_of(result: dict) -> float:
    return result["makespan_s"]


def figures(results: Results, problems: list[Product]) -> dict[str, float]:
    """Our values, by the names of the published ones."""
    split, ours = parts(problems), {}
    for part, of in split.items():
        for variant in results.variants:
            ours[f"{variant}, rate, {part}"] = results.rate(of, variant)
            if variant.startswith("select"):  # others use all GPUs: efficiency is rate / the same watts
                ours[f"{variant}, efficiency, {part}"] = results.efficiency(of, variant)
            for other in OTHERS if variant.startswith("select") else ():
                ours[f"{variant} over {other}, speed, {part}"] = results.factor(of, variant, other, seconds_of)
                ours[f"{variant} over {other}, efficiency, {part}"] = results.factor(of, variant, other, joules)
    if from_host := [each for each in problems if each.place == "h:h:h"]:
        ours["XKBLAS over comm_opt, h:h:h"] = results.factor(from_host, "XKBLAS", "comm_opt", seconds_of)
    for what, mean in (("rate", results.rate), ("efficiency", results.efficiency)):
        ours[f"select(EDP) over comm_opt, {what}"] = mean(problems, "select(EDP)") / mean(problems, "comm_opt")
    for shape in SHAPES:
        if of := [each for each in problems if each.shape == shape]:
            gain = results.efficiency(of, "select(EDP)") / results.efficiency(of, "comm_opt")
            ours[f"select(EDP) over comm_opt, efficiency, {shape}"] = gain
    return ours


def measured_rows(tilerail, problems: list[Product]) -> list[Compared]:
    """The libraries' rows for these problems, with the row's tile."""
    wanted = {((each.m, each.n, each.k), each.place) for each in problems}
    rows = [row for row in read_measured(REFERENCE / "clx_ai_libraries.csv", MACHINE)
            if (row.sizes, row.place) in wanted]
    found = tilerail.simulate(row.simulation() for row in rows)
    return [Compared(row, found[row.simulation()]) for row in rows]


def tables(results: Results, problems: list[Product]) -> list[list[list[str]]]:
    """Means, as in table 3.4, and makespans / the bound of all eight GPUs."""
    split = parts(problems)
    means = [["", *(f"GFLOP/s, {part}" for part in split), *(f"GFLOP/s/W, {part}" for part in split)]]
    bounds = [["makespan over bound", *(f"{share}, {part}" for part in split for share in ("median", "90%"))]]
    for variant in results.variants:
        means.append([variant, *(f"{results.rate(split[part], variant):.0f}" for part in split),
                      *(f"{results.efficiency(split[part], variant):.2f}" for part in split)])
        ratios = {part: [results.best[each, variant]["makespan_s"] / results.best[each, variant]["bound_s"]
                         for each in split[part]] for part in split}
        bounds.append([variant, *(f"{quantile(ratios[part], share):.2f}" for part in split for share in (0.5, 0.9))])
    return [means, bounds]


def draw_places(axes, results: Results, problems: list[Product], what, label: str) -> None:
    """By placement and variant: median, middle half and middle 90 % of the problems."""
    places = [place for place in CLX_AI_PLACES if any(each.place == place for each in problems)]
    for v, variant in enumerate(DRAWN):
        colour = COLOURS[VARIANTS[variant]]
        at = [p + 0.14 * (v - 2.5) for p in range(len(places))]
        values = [[what(each, results.best[each, variant]) for each in problems if each.place == place]
                  for place in places]
        low, first, middle, third, high = ([quantile(of, share) for of in values]
                                           for share in (0.05, 0.25, 0.5, 0.75, 0.95))
        axes.vlines(at, low, high, colors=colour, lw=0.7)
        axes.vlines(at, first, third, colors=colour, lw=4)
        axes.plot(at, middle, "_", ms=5, color="#30363d")
        axes.plot([], [], "s", ms=4, color=colour, label=variant)
    axes.set_xticks(range(len(places)), places, fontsize=6)
    axes.tick_params(axis="y", labelsize=6)
    axes.set_ylabel(label, fontsize=6)


def study(tilerail, options) -> Outcome:
    places = options.places or CLX_AI_PLACES
    unknown = [place for place in places if place not in CLX_AI_PLACES]
    if unknown:
        raise Failure(f"--places: '{unknown[0]}' is not one of {', '.join(CLX_AI_PLACES)}")
    problems = [each for each in clx_ai_dataset(1)
                if each.place in places and max(each.m, each.n, each.k) <= options.largest]
    if not problems:
        raise Failure(f"--largest: {options.largest} leaves no problem; expected 2048 or more")
    problems = sample(problems, options.quick, 14)
    results = Results(tilerail, problems, list(VARIANTS))
    compared = measured_rows(tilerail, problems)
    targets = dict.fromkeys(OTHERS, TARGET)
    findings = error_findings(compared, targets, FITTED) + order_finding(compared, ORDER_TARGET)
    findings += beside_published(NAME, figures(results, problems))
    seconds = {}
    for (problem, variant), result in results.best.items():
        seconds.setdefault((problem,), {})[variant] = result["makespan_s"]
    findings += near_best(seconds)

    def draw(figure):
        rates, efficiencies, errors = figure.subplots(3, 1)
        draw_places(rates, results, problems, lambda each, result: each.flops / result["makespan_s"] / 1e12, "TFLOP/s")
        draw_places(efficiencies, results, problems, lambda each, result: each.flops / joules(result) / 1e9,
                    "GFLOP/s/W")
        rates.legend(fontsize=5, ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        groups = {f"{library}\n{place}": [each.error for each in of if each.measured.place == place]
                  for library, of in by_library(compared).items() for place in CLX_AI_PLACES}
        draw_errors(errors, {name: of for name, of in groups.items() if of} or {"none": [0.0]}, TARGET,
                    "measured rows")
        figure.subplots_adjust(hspace=0.35)

    measured = {(each.measured.sizes, each.measured.place, each.measured.library): each for each in compared}
    rows = []
    for (problem, variant), result in results.best.items():
        row = measured.get(((problem.m, problem.n, problem.k), problem.place, variant))
        rows.append([problem.m, problem.n, problem.k, problem.place, variant, result["tile"],
                     ",".join(name.removeprefix("gpu") for name in result["devices"]), repr(result["makespan_s"]),
                     repr(result["energy_j"]), result["bound_s"], result["bound_by"],
                     *([row.measured.seconds, f"{row.error:.4f}"] if row else ["", ""])])
    columns = ["m", "n", "k", "place", "variant", "tile", "devices", "simulated_s", "energy_j", "bound_s", "bound_by",
               "measured_s", "error"]
    return Outcome(f"{MACHINE}, simulated", columns, rows, findings,
                   [*tables(results, problems), error_table(compared)], draw)


def arguments(parser) -> None:
    parser.add_argument("--places", type=names, metavar="LIST", help="only these placements, for example h:h:h,0:1:2")
    parser.add_argument("--largest", type=size, default=36 * 1024, metavar="N", help="only problems with sides up to N")


PAPER = Paper(NAME, __doc__, study, arguments, width=8.0, height=6.5,
              why="rates of small problems depend on the libraries' run-time overhead, which is fitted on single rows "
                  "(docs/model.md, Libraries); the rest is unknown")

if __name__ == "__main__":
    run_experiment(PAPER.main)
