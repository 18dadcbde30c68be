"""PARALiA's 630 problems on CLX-AI: its variants and other libraries, thesis figures 3.9 and 3.10 and table 3.4.

DGEMM of 21 squares, 21 fat-by-thin and 21 thin-by-fat shapes at 10 placements (thesis 3.3.2.2): mean rates and
efficiencies as in table 3.4, factors as in 3.3.3, and measured rows of cuBLASXt, BLASX and XKBLAS.
"""

from itertools import permutations

import pandas

from .harness import (Check, CLX_AI, clx_ai_dataset, CLX_AI_PLACES, colour, Compared, draw_errors, error_checks,
                      error_table, measured, MEASURED_COLOUR, names, near_best, Outcome, rates, Run, SHAPES,
                      with_libraries)
from .harness.paralia import NAMES, Variants, table_rows

OTHERS = ("cuBLASXt", "BLASX", "XKBLAS")
LIBRARIES = (*OTHERS, *NAMES, "tilerail")
DRAWN = (*OTHERS, "PARALiA-comm_opt", "PARALiA-select-EDP", "tilerail")
SELECTION = ("PARALiA-select-EDP", "PARALiA-comm_opt")
PEAK = 8 * 7e12  # FLOP/s (thesis 3.3.1)
TARGET, ORDER_TARGET = 0.20, 0.85  # median |error| of a library; share of library pairs in the measured order
PROBLEM = ["m", "n", "k", "place"]
SMALL = 310  # problems in the smaller part of table 3.4: the printed cells fit these shares of all flops


def order_check(rows: pandas.DataFrame) -> Check:
    """The share of pairs of libraries that the simulator ranks as the measurement does, over problems with both."""
    pairs = rows.merge(rows, on=PROBLEM)
    pairs = pairs[pairs.library_x < pairs.library_y]
    right = (pairs.measured_s_x < pairs.measured_s_y) == (pairs.simulated_s_x < pairs.simulated_s_y)
    return Check(f"the faster of two libraries, {len(pairs)} pairs", right.mean(), ORDER_TARGET, least=True)


def compare(of: Variants) -> Compared:
    compared = Compared("clx_ai_paralia", "thesis table 3.4", "clx_ai_libraries")
    table_rows(compared, of, LIBRARIES)
    rows, seconds = of.rows, of.table("simulated_s")
    best = seconds[["BLASX", "XKBLAS"]]
    factors = [of.factor("PARALiA-comm_opt", other, "simulated_s") for other in best]
    compared.add("PARALiA over BLASX and XKBLAS, mean", sum(factors) / len(factors), of.of("BLASX", "XKBLAS"))
    host = of.part(rows.place == "h:h:h")
    compared.add("XKBLAS over comm_opt, h:h:h", host.factor("XKBLAS", "PARALiA-comm_opt", "simulated_s"),
                 host.of("XKBLAS", "PARALiA-comm_opt"))
    selected = of.of(*SELECTION).assign(metric="efficiency")
    gain = {shape: of.part(rows["shape"] == shape).ratio(*SELECTION, "joules") for shape in SHAPES}
    gain |= {name: part.ratio(*SELECTION, "joules") for name, part in of.parts().items()}
    for shape in SHAPES:
        compared.add(f"select(EDP) over comm_opt, mean efficiency, {shape}", gain[shape], selected)
    for one, other in permutations(gain, 2):
        compared.add(f"gain by EDP, {one} over {other}", gain[one] / gain[other], selected)
    on_gpus = of.part(~rows.place.str.contains("h")).of("BLASX", "XKBLAS")
    compared.add("BLASX and XKBLAS, share of the peak", (on_gpus.flops / on_gpus.simulated_s).mean() / PEAK, on_gpus)
    return compared


def draw_places(axes, rows: pandas.DataFrame, value: str, label: str) -> None:
    """By placement and library: median, middle half and middle 90 % of the problems."""
    places = [place for place in CLX_AI_PLACES if (rows.place == place).any()]
    for number, library in enumerate(DRAWN):
        found = rows[rows.library == library].groupby("place")[value].quantile([0.05, 0.25, 0.5, 0.75, 0.95]).unstack()
        found = found.loc[places]
        at = [place + 0.14 * (number - 2.5) for place in range(len(places))]
        axes.vlines(at, found[0.05], found[0.95], colors=colour(library), lw=0.7)
        axes.vlines(at, found[0.25], found[0.75], colors=colour(library), lw=4, label=library)
        axes.plot(at, found[0.5], "_", ms=5, color=MEASURED_COLOUR)
    axes.set_xticks(range(len(places)), places)
    axes.set_ylabel(label)


def draw(figure, rows: pandas.DataFrame, libraries: pandas.DataFrame) -> None:
    speeds, efficiencies, errors = figure.subplots(3, 1)
    draw_places(speeds, rows.assign(rate=rows.flops / rows.simulated_s / 1e12), "rate", "TFLOP/s")
    draw_places(efficiencies, rows.assign(rate=rows.flops / rows.joules / 1e9), "rate", "GFLOP/s/W")
    points = libraries.assign(rate=rates(libraries))
    places = [tick.get_text() for tick in speeds.get_xticklabels()]
    for library, of in points[points.place.isin(places)].groupby("library"):
        at = [places.index(place) + 0.14 * (DRAWN.index(library) - 2.5) for place in of.place]
        speeds.plot(at, of.rate, "x", ms=2, color=MEASURED_COLOUR)
    speeds.plot([], [], "x", ms=3, color=MEASURED_COLOUR, label="measured")
    speeds.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    groups = {f"{library}\n{place}": of.error for (library, place), of in libraries.groupby(["library", "place"])}
    draw_errors(errors, groups or {"none": pandas.Series([0.0])}, TARGET, "measured rows")


def study(run: Run) -> Outcome:
    problems = clx_ai_dataset(1, CLX_AI)
    problems = problems[problems.place.isin(run.options.places)]
    problems = run.sample(problems, 6)
    libraries = measured("clx_ai_libraries", CLX_AI).merge(problems[PROBLEM], on=PROBLEM)
    rows = run.simulate(pandas.concat([with_libraries(problems, LIBRARIES).assign(origin="dataset"),
                                       libraries.assign(origin="measured")]))
    libraries = rows[rows.origin == "measured"].copy()
    of = Variants(rows[rows.origin == "dataset"].copy(), len(problems) * SMALL // 630)
    checks = error_checks(libraries, dict.fromkeys(OTHERS, TARGET)) + near_best(of.rows, PROBLEM)
    if len(libraries):
        checks.append(order_check(libraries))
    tables = {"means, as in table 3.4": of.means(LIBRARIES), "errors of measured rows": error_table(libraries)}
    return Outcome(rows, compare(of).findings, checks, tables, lambda figure: draw(figure, of.rows, libraries),
                   part=not set(run.options.places).issuperset(CLX_AI_PLACES))


def arguments(parser) -> None:
    parser.add_argument("--places", type=lambda text: names(text, CLX_AI_PLACES), default=list(CLX_AI_PLACES),
                        metavar="LIST", help="only these placements")
