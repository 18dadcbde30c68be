"""CoCoPeLia figure 7 and table IV: cuBLASXt with the best of ten tiles, BLASX and CoCoPeLia on two testbeds.

Measured and simulated with the same tiles. CoCoPeLia's gain over the better of the two others is the geometric mean
over problems, for full offload (all on the host) and partial offload.
"""

import numpy
import pandas

from .harness import cocopelia, colour, Compared, draw_errors, error_checks, error_table, Outcome, Run

OURS, XT, BLASX = "CoCoPeLia-selected", "cuBLASXt-best", "BLASX"
BY = {OURS: "CoCoPeLia", XT: "cuBLASXt", BLASX: "BLASX, empty caches"}
TARGETS = {OURS: 0.04, XT: 0.10, BLASX: 0.20}  # median of |error|
PROBLEM = ["testbed", "blas", "m", "n", "k", "place"]


def gains(rows: pandas.DataFrame, seconds: str) -> pandas.Series:
    """The gain by testbed, routine and offload, over the problems that have all three libraries."""
    times = rows.pivot(index=PROBLEM, columns="library", values=seconds).dropna()
    ratio = numpy.log(times[[XT, BLASX]].min(axis=1) / times[OURS]).reset_index(name="log")
    offload = (ratio.place == "h:h:h").map({True: "full", False: "partial"})
    return numpy.exp(ratio.groupby("testbed " + ratio.testbed + " " + ratio.blas + ", " + offload).log.mean()) - 1


def draw(figure, rows, found):
    left, right = figure.subplots(1, 2)
    draw_errors(left, {BY[name]: of.error for name, of in rows.groupby("library")}, TARGETS[XT],
                f"{len(rows)} measured rows")
    (100 * found).plot.barh(ax=right, width=0.8, color=[colour("measured"), colour("CoCoPeLia")], ylabel="",
                            title="gain of CoCoPeLia, %")


def study(run: Run) -> Outcome:
    rows = cocopelia(OURS, XT, BLASX)
    rows = rows[rows.place.str.contains("h")].assign(by=lambda of: of.library.map(BY))
    rows = run.simulate(run.sample_problems(rows, PROBLEM, 16, len(BY)))
    found = pandas.DataFrame({"measured": gains(rows, "measured_s"), "simulated": gains(rows, "simulated_s")})
    compared = Compared("cocopelia_fig_7", "cocopelia_measured")
    for name, gain in found.simulated.items():
        compared.add(name, gain, rows[("testbed " + rows.testbed + " " + rows.blas) == name.split(",")[0]])
    table = found.apply(lambda column: column.map("{:.1%}".format)).rename_axis("gain of CoCoPeLia").reset_index()
    tables = {"gains, these problems": table, "errors": error_table(rows)}
    return Outcome(rows, compared.findings, error_checks(rows, TARGETS), tables,
                   lambda figure: draw(figure, rows, found))
