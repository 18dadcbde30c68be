"""Ranking on H200: does the simulator order policies and tiles as the hardware does?

Each problem is a group of alternatives. Kendall's tau compares the two orders. The regret is the loss from choosing by
simulation: measured time of the simulated best / measured best. See docs/experiments.md.
"""

import statistics

from harness import (Case, Failure, HardwareParser, Results, Row, aligned, finish, kendall_tau, over_bound_of,
                     regret, results_of, run_experiment)

NAME = "h200_ranking"
PROBLEMS = [(16384, 16384, 16384, "h:h:h"), (8192, 8192, 8192, "h:h:h"), (4096, 4096, 4096, "h:h:h"),
            (16384, 16384, 16384, "0:0:0"), (8192, 8192, 8192, "0:0:0"), (16384, 16384, 16384, "3:2:1"),
            (16384, 16384, 16384, "0:1:h"), (3000, 3000, 30000, "h:h:h"), (30000, 30000, 3000, "h:h:h"),
            (12288, 6144, 12288, "h:h:h")]
ALTERNATIVES = [("tilerail", 1024, ""), ("tilerail", 1536, ""), ("tilerail", 2048, ""), ("tilerail", 3072, ""),
                ("tilerail", 4096, ""), ("gemmex", 2048, ""), ("gemmex", 4096, "batch=off"),
                ("tilerail", 2048, "batch=off"), ("tilerail", 2048, "batch=chain(chunks=2)"), ("baseline", 4096, "")]
TAU_TARGET, REGRET_TARGET = 0.9, 0.01
QUICK = 3  # problems


def cases_of(gpus: int, quick: bool) -> list[Case]:
    """With fewer GPUs than a placement needs, matrices on GPU i are on GPU i mod gpus."""
    cases = []
    for m, n, k, place in PROBLEMS[:QUICK] if quick else PROBLEMS:
        place = ":".join(str(int(at) % gpus) if at.isdigit() else at for at in place.split(":"))
        group = f"{m} x {n} x {k} {place}"
        for policy, tile, overrides in ALTERNATIVES:
            label = f"{policy} T={tile} {overrides}".strip()
            cases.append(Case(m, n, k, place, gpus, policy=policy, tile=tile, overrides=overrides, group=group,
                              label=label))
    return cases


class Group:
    """The alternatives for one problem."""

    def __init__(self, name: str, rows: list[Row]):
        self.name = name
        self.rows = rows
        self.predicted = [row.positive("predicted_s") for row in rows]
        self.measured = [row.positive("measured_s") for row in rows]
        self.tau = kendall_tau(self.predicted, self.measured)
        self.regret = regret(self.predicted, self.measured)

    def best(self, seconds: list[float]) -> str:
        return self.rows[seconds.index(min(seconds))]["label"]


def groups_of(results: Results) -> list[Group]:
    groups = {}
    for row in results.rows:
        groups.setdefault(row["group"], []).append(row)
    alone = [name for name, rows in groups.items() if len(rows) < 2]
    if alone:
        raise Failure(f"group '{alone[0]}' has one case; expected alternatives")
    return [Group(name, rows) for name, rows in groups.items()]


def print_groups(groups: list[Group]) -> None:
    rows = [["problem", "alternatives", "tau", "regret", "simulated best", "measured best", "best ms", "over bound",
             "worst ms"]]
    for group in groups:
        rows.append([group.name, str(len(group.rows)), f"{group.tau:+.3f}", f"{group.regret:.2%}",
                     group.best(group.predicted), group.best(group.measured), f"{min(group.measured) * 1e3:.2f}",
                     over_bound_of(min(group.rows, key=lambda row: row.positive("measured_s"))),
                     f"{max(group.measured) * 1e3:.2f}"])
    print(aligned(rows), end="\n\n")
    tau, cost = (statistics.mean(getattr(group, value) for group in groups) for value in ("tau", "regret"))
    print(aligned([["mean of the problems", "problems", "tau", f"target {TAU_TARGET}", "regret",
                    f"target {REGRET_TARGET:.0%}"],
                   ["", str(len(groups)), f"{tau:+.3f}", "reached" if tau >= TAU_TARGET else "missed", f"{cost:.2%}",
                    "reached" if cost <= REGRET_TARGET else "missed"]]))


def draw(figure_type, results: Results, groups: list[Group]):
    """A panel per problem: its alternatives, simulated against measured."""
    columns = min(6, len(groups) + 1)
    lines = len(groups) // columns + 1
    figure = figure_type(figsize=(2.2 * columns, 2.3 * lines + 0.3), dpi=150, layout="constrained")
    panels = iter(figure.subplots(lines, columns, squeeze=False).flat)
    labels = list(dict.fromkeys(row["label"] for group in groups for row in group.rows))
    marks = {label: (f"C{i % 10}", "os^vDPX*<>"[i % 10]) for i, label in enumerate(labels)}
    handles = {}
    for group, axes in zip(groups, panels):
        limit = 1.1e3 * max(*group.measured, *group.predicted)
        axes.plot([0, limit], [0, limit], color="#adb5bd", linewidth=0.8)
        for row, predicted, measured in zip(group.rows, group.predicted, group.measured):
            colour, mark = marks[row["label"]]
            handles[row["label"]] = axes.scatter(measured * 1e3, predicted * 1e3, s=18, c=colour, marker=mark)
        axes.set_xlim(0, limit)
        axes.set_ylim(0, limit)
        axes.set_title(f"{group.name}\ntau {group.tau:+.2f}, regret {group.regret:.1%}", fontsize=7)
        axes.tick_params(labelsize=6)
    rest = list(panels)
    for axes in rest:
        axes.set_axis_off()
    rest[0].legend(handles.values(), handles.keys(), loc="center", fontsize=6)
    figure.supxlabel("measured ms", fontsize=8)
    figure.supylabel("simulated ms", fontsize=8)
    figure.suptitle(results.machine, fontsize=9)
    return figure


def main() -> int:
    options = HardwareParser(__doc__, iterations=5).parse_args()
    results = results_of(NAME, options, [] if options.from_saved else cases_of(options.gpus, options.quick))
    groups = groups_of(results)
    print_groups(groups)
    return finish(NAME, options, results, lambda figure_type: draw(figure_type, results, groups))


if __name__ == "__main__":
    run_experiment(main)
