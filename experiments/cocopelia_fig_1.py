"""CoCoPeLia figure 1: cuBLASXt over its tile on two testbeds, simulated and measured.

Every measured row of cuBLASXt with tiles from 1024 on; the error of the simulated time, and the loss with the
simulator's choice of tile. See docs/experiments.md.
"""

from harness import Outcome, Paper, quantile, run_experiment, sample, target
from harness.cocopelia import by_problem, one_gpu_rows

NAME = "cocopelia_fig_1"
LEAST_TILE = 1024
TARGET = 0.10  # median of |error|; cuBLASXt's rates (copy-rates=duplex) were fitted to these rows
LOSS_TARGET = 0.05  # median of measured time with the simulator's tile / the best, minus 1
DRAWN = 4  # problems per testbed, as in the figure


def study(tilerail, options) -> Outcome:
    problems = by_problem([row for row in one_gpu_rows(("cuBLASXt",)) if row.tile >= LEAST_TILE])
    problems = {key: problems[key] for key in sample(list(problems), options.quick, 12)}
    problems = {key: sample(tried, options.quick, 6) for key, tried in problems.items()}
    rows = [row for tried in problems.values() for row in tried]
    found = tilerail.simulate(row.simulation() for row in rows)
    seconds = {row: found[row.simulation()]["makespan_s"] for row in rows}
    errors, losses, findings = {}, {}, []
    for row in rows:
        errors.setdefault((row.testbed, row.routine), []).append(abs(seconds[row] / row.seconds - 1))
    for (testbed, routine, *_), tried in problems.items():
        taken = min(tried, key=lambda row: seconds[row])
        if len(tried) > 1:
            loss = taken.seconds / min(row.seconds for row in tried) - 1
            losses.setdefault((testbed, routine), []).append(loss)
    for (testbed, routine), values in errors.items():
        findings.append(target(f"testbed {testbed} {routine}, median |error|", TARGET, quantile(values, 0.5),
                               fitted=True))
    for (testbed, routine), values in losses.items():
        findings.append(target(f"testbed {testbed} {routine}, loss by our tile", LOSS_TARGET, quantile(values, 0.5)))

    def draw(figure):
        drawn = {testbed: sorted((tried for key, tried in problems.items()
                                  if key[:2] == (testbed, "dgemm") and key[3] == "h:h:h" and len(tried) > 3),
                                 key=lambda tried: (len(set(tried[0].sizes)), -len(tried)))[:DRAWN]
                 for testbed in ("1", "2")}
        for axes, (testbed, curves) in zip(figure.subplots(1, 2), drawn.items()):
            for number, tried in enumerate(curves):
                tiles = [row.tile for row in tried]
                label = ",".join(map(str, tried[0].sizes))
                axes.fill_between(tiles, [row.flops / row.seconds / 1e12 * (1 - TARGET) for row in tried],
                                  [row.flops / row.seconds / 1e12 * (1 + TARGET) for row in tried],
                                  color="#d8efd3", linewidth=0)
                axes.plot(tiles, [row.flops / row.seconds / 1e12 for row in tried], "o", ms=2.5, color=f"C{number}",
                          label=label)
                axes.plot(tiles, [row.flops / seconds[row] / 1e12 for row in tried], "-", lw=1, color=f"C{number}")
            axes.set_title(f"testbed {testbed}, dgemm: measured (dots), simulated", fontsize=7)
            axes.set_xlabel("T", fontsize=6)
            axes.tick_params(labelsize=6)
            axes.legend(fontsize=5)
        figure.axes[0].set_ylabel("TFLOP/s", fontsize=6)

    cells = [[row.testbed, row.routine, *row.sizes, row.place, row.tile, row.seconds, repr(seconds[row]),
              f"{seconds[row] / row.seconds - 1:.4f}"] for row in rows]
    columns = ["testbed", "routine", "m", "n", "k", "place", "tile", "measured_s", "simulated_s", "error"]
    return Outcome("testbeds 1 and 2, simulated", columns, cells, findings, [], draw)


PAPER = Paper(NAME, __doc__, study,
              why="cuBLASXt is closed: how its buffers and streams overlap is assumed")

if __name__ == "__main__":
    run_experiment(PAPER.main)
