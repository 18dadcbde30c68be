"""PARALiA and other libraries on CLX-AI with GPUs of three speeds: thesis figure 3.11 and table 3.5.

Every measured row is simulated on the measured devices and with the measured tile: PARALiA's comm_opt, which does not
select, with equal shares, its selections with the shares of the library's model, or by their metric if the model takes
fewer of the GPUs. Then the 250 problems of thesis 3.3.4, with the selections of the model.
"""

import pandas

from .harness import (Check, clx_ai_dataset, colour, Compared, draw_errors, error_checks, error_table, HETERO, measured,
                      MEASURED_COLOUR, Outcome, rates, Run, with_libraries)
from .harness.paralia import NAMES, Variants, table_rows

COMMUNICATION, SPEED = "PARALiA-comm_opt", "PARALiA-select-PERF"
CHOICES = {SPEED: "best(metric=perf)", "PARALiA-select-EDP": "best(metric=edp)"}
SHARES = {SPEED: "speed", "PARALiA-select-EDP": "edp"}
OTHERS = ("BLASX", "XKBLAS")
LIBRARIES = (*OTHERS, COMMUNICATION, SPEED, "PARALiA-select-EDP")
SMALL = 90  # problems in the smaller part of table 3.5
TARGET = 0.15  # median |error|
ROW = ["m", "n", "k", "place"]


def simulate_measured(run: Run, rows: pandas.DataFrame) -> pandas.DataFrame:
    """On the measured devices: a selection is given, with its shares."""
    rows = rows.reset_index(drop=True).assign(by="")
    selected = rows.library.isin(SHARES)
    chosen = rows.assign(by=COMMUNICATION, devices=rows.library.map(CHOICES) + " of " + rows.devices)
    modelled = run.simulate(rows.where(~selected, chosen)).assign(devices=rows.devices)
    fewer = selected & (modelled.used != rows.devices)
    split = rows[fewer].assign(by=COMMUNICATION, options="shares=" + rows.library.map(SHARES))
    return (pandas.concat([modelled[~fewer], run.simulate(split).set_axis(split.index)]).sort_index() if fewer.any()
            else modelled)


def gains(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The gain of selecting by speed over all devices, by problem: measured and simulated; above 1 if faster."""
    found = {kind: rows.pivot_table(index=ROW, columns="library", values=f"{kind}_s")[[COMMUNICATION, SPEED]].dropna()
             for kind in ("measured", "simulated")}
    return pandas.DataFrame({kind: times[COMMUNICATION] / times[SPEED] for kind, times in found.items()})


def compare(of: Variants) -> Compared:
    compared = Compared("clx_ai_hetero", "thesis table 3.5", "clx_ai_hetero")
    table_rows(compared, of, LIBRARIES)
    rates = of.rows.flops / of.rows.simulated_s / 1e9
    equal = of.rows.library.isin((*OTHERS, COMMUNICATION))
    compared.add("largest rate of BLASX, XKBLAS and comm_opt, upper limit", rates[equal].max(), of.rows[equal])
    compared.add("select(EDP), largest rate", rates[of.rows.library == "PARALiA-select-EDP"].max(),
                 of.of("PARALiA-select-EDP"))
    return compared


def draw(figure, of: Variants, libraries: pandas.DataFrame) -> None:
    errors, shares = figure.subplots(1, 2)
    draw_errors(errors, {library: group.error for library, group in libraries.groupby("library")}, TARGET,
                f"{len(libraries)} measured rows")
    for library in LIBRARIES:
        values = (of.of(library).flops / of.of(library).simulated_s / 1e12).sort_values()
        shares.plot(values, [place / len(values) for place in range(len(values))], lw=1, color=colour(library),
                    label=NAMES.get(library, library))
        points = libraries[(libraries.library == library) & (libraries.place == "h:h:h")]
        shares.plot(rates(points), [0] * len(points), "|", ms=6, color=colour(library))
    shares.plot([], [], "|", color=MEASURED_COLOUR, label="measured, h:h:h")
    shares.set(title="problems of table 3.5, simulated: share that is slower", xlabel="TFLOP/s")
    shares.legend()


def study(run: Run) -> Outcome:
    problems = run.sample(clx_ai_dataset(2, HETERO), 6)
    libraries = simulate_measured(run, run.sample(measured("clx_ai_hetero", HETERO), 12)).assign(origin="measured")
    rows = pandas.concat([run.simulate(with_libraries(problems, LIBRARIES)).assign(origin="dataset"), libraries])
    of = Variants(rows[rows.origin == "dataset"].copy(), len(problems) * SMALL // 250)
    libraries["group"] = libraries.library + libraries.added.map({"yes": ", added rows", "": ""})
    checks = error_checks(libraries, dict.fromkeys(libraries.group, TARGET), "group")
    found = gains(libraries)
    faster = found[found.measured > 1]
    if len(faster):
        checks.append(Check(f"selection by speed faster where measured so, {len(faster)} problems",
                            (faster.simulated > 1).mean(), 1.0, least=True))
    tables = {"errors of measured rows": error_table(libraries, "group"),
              "means, as in table 3.5": of.means(LIBRARIES),
              "time of comm_opt over select(PERF)": found.reset_index()}
    return Outcome(rows, compare(of).findings, checks, tables, lambda figure: draw(figure, of, libraries))
