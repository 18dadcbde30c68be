"""Draws docs/figures/house.svg: the rooms of the house, and the way of a plan through them.

    python3 docs/figures/house.py

Rooms and arrows are the targets of CMake and the links between them, as `python3 scripts/structure` reads them. A link
that follows from others is not drawn. A room stands above all that it links.
"""

import pathlib
import sys

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts/structure"))

import rooms  # noqa: E402
import sources  # noqa: E402

# Where a room stands, from left to right, and what is inside.
INSIDE = {
    "cli": (1.15, "parses, calls, prints"),
    "python/binding": (3.45, "the Python package"),
    "api": (4.6, "C and C++, as BLAS"),
    "study": (1.15, "cases, runs, predictions,\ncalibration, error split"),
    "study/planning": (2.3, "finds machines,\nevaluates plans"),
    "sched": (0, "policy, routes, tiles:\nmakes the plan"),
    "sched/emulation": (0, "policies like those\nof libraries"),
    "report": (1.15, "timelines, traces,\ntables"),
    "backends/factory.hpp": (3.45, "executors by name"),
    "backends/simulator.hpp": (2.3, "simulator by name"),
    "backends/sim": (2.3, "executor:\nsimulates"),
    "backends/fluid": (2.3, "model time"),
    "backends/ranks": (-1.15, "messages between\nprocesses"),
    "backends/host": (3.45, "executor:\nCPU threads"),
    "backends/cuda": (4.6, "executor:\nGPUs"),
    "backends/executor.hpp": (2.3, "what executors are:\nPlan to Timeline"),
    "check": (3.45, "is the result right?"),
    "calibration": (4.6, "measurements\nto machine"),
    "cost": (1.15, "what a plan costs on a\nmachine; arrival times"),
    "plan": (1.15, "operations, buffers,\nqueues, dependencies"),
    "model/published": (0, "what papers predict"),
    "model/import": (-1.15, "machines as other\ntools print them"),
    "model/machine": (0.575, "memories, links, routes, rates; their file: reader, checker, writer"),
    "model/kernels": (2.3, "kernel times,\nenergy metrics"),
    "model/problem.hpp": (3.45, "problem, matrices,\ntimes of a run"),
    "model/base": (1.725, "units, ids, texts, files, errors, threads"),
}
WIDE = {"model/machine": 4.49, "model/base": 6.79}  # what most rooms stand on
WAY = [
    ("problem, machine, policy", "what is asked for"),
    ("Plan", "made by sched"),
    ("Timeline", "made by an executor"),
    ("comparison, figure, table", "made by study and report"),
]
WIDTH, HEIGHT = 1.04, 0.62  # of a box, where rows are 1 apart
BLUE, ORANGE = "#dce6f2", "#f7e6cf"


def rows(links):
    """{room: its height}: at the top where nobody links it, else one below the lowest that does."""
    users = {room: [user for user in links if room in links[user]] for room in links}

    def row(room):
        return min((row(user) - 1 for user in users[room]), default=0)

    return {room: row(room) for room in links}


def arrows(links):
    """The links that do not follow from others."""
    for room, linked in links.items():
        indirect = set().union(*(rooms.below(links, other) for other in linked)) if linked else set()
        yield from ((room, other) for other in sorted(linked - indirect))


def box(axes, x, y, title, text, colour, width=WIDTH):
    axes.add_patch(FancyBboxPatch((x - width / 2, y - HEIGHT / 2), width, HEIGHT, facecolor=colour, edgecolor="#444444",
                                  linewidth=0.8, boxstyle="round,pad=0,rounding_size=0.05"))
    axes.text(x, y + 0.15, title, ha="center", va="center", fontsize=7.5, fontweight="bold")
    axes.text(x, y - 0.12, text, ha="center", va="center", fontsize=7, color="#333333")


def arrow(axes, start, end):
    style = {"arrowstyle": "-|>", "color": "#666666", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "zorder": 0}
    axes.annotate("", xy=end, xytext=start, arrowprops=style)


def draw_house(axes, links):
    height = rows(links)
    place = {room: (INSIDE[room][0], height[room]) for room in links}
    for room, other in arrows(links):
        (x, y), (to_x, to_y) = place[room], place[other]
        if other in WIDE:
            to_x = x
        lean = max(-0.4, min(0.4, 0.2 * (to_x - x)))  # arrows of one box do not begin, or end, at one point
        arrow(axes, (x + lean, y - HEIGHT / 2), (to_x - lean, to_y + HEIGHT / 2))
    for room, (x, y) in place.items():
        box(axes, x, y, room, INSIDE[room][1], BLUE, WIDE.get(room, WIDTH))
    axes.set_title("The house: an arrow goes from a room to one that it may include", fontsize=9, loc="left")
    axes.set_xlim(-1.75, 5.2)
    axes.set_ylim(min(height.values()) - 0.4, max(height.values()) + 0.4)


def draw_way(axes):
    step, wide = 1.43, 1.27
    for index, (title, text) in enumerate(WAY):
        box(axes, index * step, 0, title, text, ORANGE, wide)
        if index:
            arrow(axes, ((index - 1) * step + wide / 2, 0), (index * step - wide / 2, 0))
    axes.set_title("The way of a plan", fontsize=9, loc="left")
    axes.set_xlim(-1.85, 5.1)
    axes.set_ylim(-0.4, 0.4)


def description(links):
    return "links: " + ", ".join(f"{room} > {other}" for room in sorted(links) for other in sorted(links[room]))


def main():
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "house"})
    links = rooms.House(sources.ROOT).links()
    figure = Figure(figsize=(9.5, 12), layout="constrained")
    way, house = figure.subplots(2, 1, height_ratios=[0.8, len(set(rows(links).values()))])
    draw_way(way)
    draw_house(house, links)
    for axes in (way, house):
        axes.axis("off")
    figure.savefig(HERE / "house.svg", metadata={"Date": None, "Description": description(links)})


if __name__ == "__main__":
    main()
