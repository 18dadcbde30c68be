"""Makespans over the bound: cubes on every machine, from the host, on one GPU and on three, with the losses.

Simulates policy `tilerail`. The makespan is the bound plus losses on the resource of the bound; no figure is fitted.
--page writes docs/over_bound.md.
"""

import argparse
import re
from pathlib import Path

import pandas

import tilerail as tr
from tilerail import InputError

from .harness import Check, filled, markdown, names, Outcome, Run

SIZES = ["8K", "16K", "24K", "32K"]
PLACES = {"h": "h:h:h", "0": "0:0:0", "d": "0:1:2"}
TARGET, EXPLAINED_FROM = 1.15, 1.25
LOSSES = {"start": "start", "end": "end", "pauses": "pauses", "unused": "GPUs left out", "slower": "slower",
          "more": "more bytes", "busier": "longer", "avoided": "link left out", "latency": "above latency"}


def gpus_of(machine: tr.Machine) -> list[str]:
    return list(machine.memories.query("kind == 'gpu'").name)


def idle(rows: pandas.DataFrame, makespan: float) -> tuple[dict[str, float], float]:
    """The seconds before, after and between operations, and those with at least one."""
    last = busy = 0.0
    for start, end in sorted(zip(rows.start_s, rows.end_s)):
        busy += max(0.0, end - max(start, last))
        last = max(last, end)
    first = rows.start_s.min()
    return {"start": first, "end": makespan - last, "pauses": last - first - busy}, busy


def loading(result: tr.Result, machine: tr.Machine, rows: pandas.DataFrame) -> tuple[pandas.Series, float | None]:
    """The copies that load the bound's resource (a link, a group or an engine of a GPU), and the least seconds of the
    resource that their bytes need, if known."""
    kind, _, name = re.sub(r" and \d+ more$", "", result.bound_by).partition(" ")
    if kind in ("link", "group"):
        links = {name} if kind == "link" else set(machine.groups.set_index("name").links[name])
        table = result.links if kind == "link" else result.groups
        used = table.set_index("name").utilisation.get(name)
        on = rows.route.astype(str).map(lambda route: bool(links & set(route.split(";"))))
        return on, None if pandas.isna(used) else used * result.makespan
    gpu, host = name.removeprefix("engines of "), lambda memory: memory.str.startswith("host")
    src, dst = rows.src.astype(str), rows.dst.astype(str)
    return {"h2d": (dst == gpu) & host(src), "d2h": (src == gpu) & host(dst),
            "peer": (src == gpu) & (dst != gpu) & ~host(dst)}[kind], None


def losses(result: tr.Result, machine: tr.Machine) -> dict[str, float]:
    """The makespan minus its bound, in parts."""
    rows, makespan, bound, lost = result.timeline, result.makespan, result.bound, dict.fromkeys(LOSSES, 0.0)
    if result.bound_by.startswith(("kernels", "memory")):  # mean over all GPUs
        for gpu in gpus_of(machine):
            mine = rows[(rows.src.astype(str) == gpu) & (rows.dst.astype(str) == gpu)]
            parts, busy = idle(mine, makespan)
            parts = {"unused": makespan} if mine.empty else parts | {"slower": busy}
            for loss, seconds in parts.items():
                lost[loss] += seconds / len(gpus_of(machine))
        return lost | {"slower": lost["slower"] - bound}
    if result.bound_by == "latency":  # nothing else determines the time of such a problem
        return lost | {"latency": makespan - bound}
    copies = rows[rows.kind == "copy"]
    on, least = loading(result, machine, copies)
    if not on.any():
        return lost | {"avoided": makespan - bound}
    parts, busy = idle(copies[on], makespan)
    lost |= parts
    if least is None or least < bound:  # unknown, or the group is unbounded at times
        return lost | {"busier": busy - bound}
    return lost | {"slower": busy - least, "more": least - bound}


def simulated(problem: tuple[str, str, str]) -> dict | None:
    """None if the matrices do not fit."""
    name, kind, size = problem
    machine = tr.machine(name)
    gpus = len(gpus_of(machine))
    place = ":".join(str(int(at) % gpus) if at.isdigit() else at for at in PLACES[kind].split(":"))
    try:
        result = tr.simulate(tr.gemm(size, place=place), machine)
    except tr.InputError as error:
        if "are needed" not in str(error):
            raise
        return None
    if not result.bound:
        raise InputError("--sizes", size, expected="a size above 0")
    return {"machine": name, "kind": kind, "size": size, "place": place, "tile": result.plan.tile,
            "makespan_s": result.makespan, "bound_s": result.bound, "bound_by": result.bound_by,
            "over_bound": result.makespan / result.bound, **losses(result, machine)}


def ratios(rows: pandas.DataFrame) -> pandas.DataFrame:
    """A line for each machine; empty cells for problems that do not fit."""
    wide = rows.assign(problem=rows.kind + " " + rows["size"]).pivot_table("over_bound", "machine", "problem")
    order = [f"{kind} {size}" for kind in PLACES for size in rows["size"].unique()]
    wide = wide.assign(median=rows.groupby("machine").over_bound.median()).reindex(columns=["median", *order])
    shown = wide.apply(lambda column: column.map("{:.2f}".format)).replace("nan", "")
    return shown.loc[rows.machine.unique()].reset_index()


def reasons(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The largest losses of the problems far above their bounds, in percent of the bound."""
    def words(row: dict) -> str:
        largest = sorted(((row[loss] / row["bound_s"], word) for loss, word in LOSSES.items()), reverse=True)[:3]
        return ", ".join(f"{word} {share:.0%}" for share, word in largest if share >= 0.03)

    far = rows[rows.over_bound > EXPLAINED_FROM]
    lines = [{"machine": row["machine"], "problem": f"{row['size']} {row['place']}", "x": f"{row['over_bound']:.2f}",
              "bound by": row["bound_by"], "lost": words(row)} for row in far.to_dict("records")]
    return pandas.DataFrame(lines, columns=["machine", "problem", "x", "bound by", "lost"])


def page(rows: pandas.DataFrame, options: argparse.Namespace) -> str:
    given = [f" --{name} {','.join(value)}" for name, value in
             (("sizes", options.sizes), ("machines", options.machines)) if value]
    median, explained = rows.over_bound.median(), reasons(rows)
    return filled("over_bound", given="".join(given), problems=len(rows), median=median, target=TARGET,
                  reached="reached" if median <= TARGET else "missed", far=len(explained), far_from=EXPLAINED_FROM,
                  ratios=markdown(ratios(rows)), reasons=markdown(explained))


def study(run: Run) -> Outcome:
    options = run.options
    machines = options.machines or tr.machine.names()[:3 if run.quick else None]
    options.sizes = options.sizes or SIZES[:1 if run.quick else None]
    wanted = [(name, kind, size) for name in machines for kind in PLACES for size in options.sizes
              if kind != "d" or len(gpus_of(tr.machine(name))) > 1]
    rows = pandas.DataFrame([row for row in run.map(simulated, wanted) if row])
    if rows.empty:
        raise InputError("--sizes", None, "no machine has room for any of these", "smaller ones")
    if options.page:
        options.page.write_text(page(rows, options), encoding="utf-8")
    median = Check("median of makespan / bound", rows.over_bound.median(), TARGET, share=False)
    return Outcome(rows, checks=[median], tables={"makespan over bound": ratios(rows), "losses": reasons(rows)},
                   part=bool(options.machines) or options.sizes != SIZES)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=names, metavar="LIST", help="of the cubes [8K,16K,24K,32K]")
    parser.add_argument("--machines", type=names, metavar="LIST", help="names [all shipped]")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write both tables as a page of the documentation")
