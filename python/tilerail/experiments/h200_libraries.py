"""Emulated libraries on GPUs: times of `gemmex` and `xkblas` plans against the libraries themselves.

TileRail's plans run every problem measured with the libraries on two H200, with the tiles of the libraries.
"""

from .harness import Check, colour, hardware, Outcome, Run

NAME, QUICK_SIDE = "h200_libraries", 4096
TILES = {"PARALiA-GEMMex": ("",), "XKBLAS": ("", 1024, 2048, 4096)}  # as measured; "": the library's own
POLICIES = {"PARALiA-GEMMex": "gemmex", "XKBLAS": "xkblas"}
TARGET = 0.15  # of |plan / library - 1|
PROBLEM = ["m", "n", "k", "dtype", "place"]


def study(run: Run) -> Outcome:
    gpus, peers = hardware.gpus_of(run.options), hardware.peers("hgx_h200_2_peers")
    cases = peers[(peers.gpus <= gpus) & ((peers[["m", "n", "k"]].max(axis=1) <= QUICK_SIDE) | (not run.quick))]
    cases = cases.assign(policy=cases.library.map(POLICIES), tile=cases.library.map(TILES)).explode("tile")
    rows = hardware.results(run, NAME, cases.drop(columns=["library", "seconds"]))
    names = {policy: library for library, policy in POLICIES.items()}
    best = rows.assign(library=rows.policy.str.split("+").str[0].map(names))
    best = best.loc[best.groupby([*PROBLEM, "library"]).measured_s.idxmin()].drop(columns=["gpus", "label"])
    found = peers.merge(best, on=[*PROBLEM, "library"]).sort_values("library")
    found["error"], found["simulated"] = found.measured_s / found.seconds - 1, found.predicted_s / found.measured_s - 1
    checks = [Check(f"{library}: |plan / library - 1|, {what} of {len(of)}", getattr(of.error.abs(), how)(), TARGET)
              for library, of in found.groupby("library") for what, how in (("median", "median"), ("largest", "max"))]

    def draw(figure):
        axes = figure.subplots()
        axes.axvspan(-TARGET, TARGET, color="#e9ecef")
        axes.barh(found.label + ", " + found.library, found.error.clip(-0.5, 0.5), color=found.library.map(colour))
        axes.set_xlabel("time of the emulated plan / time of the library, minus 1")
        axes.invert_yaxis()

    shown = found[["label", "library", "seconds", "measured_s", "tile", "error", "simulated", "check"]].round(4)
    return hardware.outcome(run, rows, checks, {"plans and libraries": shown}, draw if len(found) else None)


arguments = hardware.add_arguments
