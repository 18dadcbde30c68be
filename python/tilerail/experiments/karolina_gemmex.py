"""PARALiA-GEMMex, PARALiA, XKBLAS and cuBLASXt measured on Karolina, and their policies simulated.

Every measured row is simulated with the measured tile; PARALiA-GEMMex's rows also with the policy's choice of tile. The
errors are checks of the model and no verdicts on the paper. Rows that were added later are counted apart.
"""

import pandas

from .harness import Check, draw_errors, error_checks, error_table, KAROLINA, karolina_tile, measured, Outcome, Run

OURS = "PARALiA-GEMMex"
TARGETS = {OURS: 0.08, "PARALiA": 0.15, "XKBLAS": 0.15, "cuBLASXt": 0.15}  # median |error|
LARGEST_TARGET = 0.15  # for GEMMex


def real_tile(mean: float, least: int) -> int:
    """The tile of most runs behind a mean over runs: the nearest of least / 1, / 2, / 4, ..."""
    tiles = [int(mean)] if mean == int(mean) else [least >> step for step in range(9)]
    return min(tiles, key=lambda tile: abs(tile - mean))


def measured_rows() -> pandas.DataFrame:
    rows = measured("karolina_dgemm", KAROLINA)
    least = rows[["m", "n", "k"]].min(axis=1)
    tiles = [karolina_tile(library, side) if pandas.isna(tile) else real_tile(tile, side)
             for library, side, tile in zip(rows.library, least, rows.tile)]
    return rows.assign(tile=tiles, group=rows.library + rows.added.map({"yes": ", added rows", "": ""}))


def study(run: Run) -> Outcome:
    rows = run.sample(measured_rows(), 16).assign(tile_is="measured")
    chosen = rows[rows.library == OURS].assign(tile=None, tile_is="chosen")
    rows = run.simulate(pandas.concat([rows, chosen]))
    given, chosen = rows[rows.tile_is == "measured"], rows[rows.tile_is == "chosen"]
    targets = {group: TARGETS[group.split(",")[0]] for group in given.group}
    checks = error_checks(given, targets, "group")
    checks.append(Check(f"{OURS}, largest |error|", given[given.library == OURS].error.abs().max(), LARGEST_TARGET))
    checks += [Check(f"{group}, chosen tile, median |error| of {len(of)} rows", of.error.abs().median(), TARGETS[OURS])
               for group, of in chosen.groupby("group")]

    def draw(figure):
        groups = {group.replace(", ", "\n"): of.error for group, of in given.groupby("group")}
        groups |= {f"{group}\nchosen tile".replace(", ", "\n"): of.error for group, of in chosen.groupby("group")}
        draw_errors(figure.subplots(), groups, TARGETS["PARALiA"], f"{KAROLINA}: {len(given)} measured rows")

    shown = rows[["library", "m", "n", "k", "place", "devices", "used_tile", "tile_is", "measured_s", "simulated_s"]]
    shown = shown.assign(error=rows.error.map("{:+.1%}".format), busiest=rows.busiest)
    return Outcome(rows, checks=checks, tables={"rows": shown, "errors": error_table(given, "group")}, draw=draw)
