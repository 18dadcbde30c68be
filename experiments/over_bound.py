"""Makespans over the bound: cubes on every machine, from the host, on one GPU and on three, with the losses.

Simulates policy `tilerail`. The makespan is the bound plus losses on the resource of the bound; no figure is fitted.
--page writes docs/over_bound.md. See docs/experiments.md.
"""

import concurrent.futures
import dataclasses
import json
import os
import re
import statistics
import tempfile
import tomllib

from harness import (Failure, Parser, Tilerail, aligned, check_free, command_text, names, page_file, run_experiment,
                     save_text, sizes, write_csv)
from tilerail.timeline import Timeline, read_timeline

NAME = "over_bound"
SIZES = [8192, 16384, 24576, 32768]
PLACES = ("h:h:h", "0:0:0", "0:1:2")
MEDIAN_TARGET, EXPLAINED_FROM = 1.15, 1.25
WORDS = {"start": "start", "end": "end", "pauses": "pauses", "unused": "GPUs left out", "slower": "slower",
         "more": "more bytes", "busier": "longer", "avoided": "way left out",
         "beside": "beside latency"}
SHORT = {"h:h:h": "h", "0:0:0": "0", "0:1:2": "d"}
COLUMNS = ["machine", "m", "place", "tile", "makespan_s", "bound_s", "bound_by", "over_bound", "busiest",
           *(f"{loss}_s" for loss in WORDS)]


@dataclasses.dataclass(frozen=True)
class Problem:
    machine: str
    size: int
    kind: str  # key of PLACES
    place: str  # on this machine

    def arguments(self) -> list[str]:
        return ["simulate", "--gemm", str(self.size), "--topology", self.machine, "--place", self.place]


@dataclasses.dataclass(frozen=True)
class Result:
    problem: Problem
    makespan: float
    bound: float
    by: str
    tile: int
    busiest: str  # the longest part of the critical path
    losses: dict[str, float]  # seconds, by key of WORDS; their sum is makespan - bound

    @property
    def ratio(self) -> float:
        return self.makespan / self.bound

    def reasons(self) -> str:
        """The relevant losses, largest first, in percent of the bound."""
        largest = sorted(self.losses.items(), key=lambda loss: -loss[1])[:3]
        return ", ".join(f"{WORDS[name]} {seconds / self.bound:.0%}" for name, seconds in largest
                         if seconds >= 0.03 * self.bound)


def spread(place: str, gpus: int) -> str:
    """Replaces GPU i with GPU i mod gpus."""
    return ":".join(str(int(at) % gpus) if at.isdigit() else at for at in place.split(":"))


def unions(intervals: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The first begin, the last end, and the length of the union; zeros without intervals."""
    if not intervals:
        return 0.0, 0.0, 0.0
    first, last, busy = min(start for start, _ in intervals), 0.0, 0.0
    for start, end in sorted(intervals):
        busy += max(0.0, end - max(start, last))
        last = max(last, end)
    return first, last, busy


def chosen_copies(result: dict, machine: dict, timeline: Timeline):
    """Whether a queue's copies load the bound's resource (a link, a group or an engine of a GPU); and the least seconds
    of it needed by their bytes, if the result contains it."""
    kind, _, name = re.sub(r" and \d+ more$", "", result["bound_by"]).partition(" ")
    if kind in ("link", "group"):
        links = {name}
        if kind == "group":
            group = next(each for each in machine["group"] if each["name"] == name)
            links = {*group.get("forward", []), *group.get("backward", [])}
        used = next((each["utilisation"] for each in result[f"{kind}s"] if each["name"] == name), None)
        return lambda queue: bool(links & set(queue.route)), used and used * result["makespan_s"]
    gpu, hosts = name.removeprefix("engines of "), set(timeline.hosts)
    roles = {"h2d": lambda queue: queue.dst == gpu and queue.src in hosts,
             "d2h": lambda queue: queue.src == gpu and queue.dst in hosts,
             "peer": lambda queue: queue.src == gpu and queue.dst != gpu and queue.dst not in hosts}
    if kind not in roles:
        raise Failure(f"{result['machine']}: bound by '{result['bound_by']}', whose losses are unknown here")
    return roles[kind], None


def losses_of(result: dict, machine: dict, timeline: Timeline) -> dict[str, float]:
    """The makespan minus its bound, in parts."""
    makespan, bound = result["makespan_s"], result["bound_s"]
    spans = list(zip(timeline.queue, timeline.start, timeline.end))
    if result["bound_by"].startswith(("kernels", "memory")):  # mean over all GPUs
        gpus = [memory["name"] for memory in machine["memory"] if memory["kind"] == "gpu"]
        lost = dict.fromkeys(WORDS, 0.0)
        for gpu in gpus:
            queues = {i for i, queue in enumerate(timeline.queues) if queue.src == queue.dst == gpu}
            mine = [(start, end) for queue, start, end in spans if queue in queues]
            if not mine:
                lost["unused"] += makespan / len(gpus)
                continue
            first, last, busy = unions(mine)
            for loss, seconds in (("start", first), ("end", makespan - last), ("pauses", last - first - busy),
                                  ("slower", busy)):
                lost[loss] += seconds / len(gpus)
        lost["slower"] -= bound
        return lost
    if result["bound_by"] == "latency":  # nothing else determines the time of such a problem
        return dict.fromkeys(WORDS, 0.0) | {"beside": makespan - bound}
    loads, least = chosen_copies(result, machine, timeline)
    loaded = [(start, end) for queue, start, end in spans if loads(timeline.queues[queue])]
    if not loaded:  # the plan does not use it
        return dict.fromkeys(WORDS, 0.0) | {"avoided": makespan - bound}
    first, last, busy = unions(loaded)
    lost = dict.fromkeys(WORDS, 0.0) | {"start": first, "end": makespan - last, "pauses": last - first - busy}
    if least is None or least < bound:  # missing, or the group is unbounded at times
        return lost | {"busier": busy - bound}
    return lost | {"slower": busy - least, "more": least - bound}


def simulate(tilerail: Tilerail, problem: Problem, machine: dict) -> Result | None:
    """None if the matrices do not fit."""
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        timeline = os.path.join(folder, "timeline.csv")
        try:
            result = json.loads(tilerail.run([*problem.arguments(), "--json", "-", "--timeline", timeline]))
        except Failure as failure:
            if "--place" not in str(failure) or "are needed" not in str(failure):
                raise
            return None
        losses = losses_of(result, machine, read_timeline(timeline))
    longest = result["critical_path"][0]
    busiest = f"{longest['kind']} {longest['name']}".strip()
    return Result(problem, result["makespan_s"], result["bound_s"], result["bound_by"], result["tile"], busiest, losses)


def problems_of(machine: str, gpus: int, chosen: list[int]) -> list[Problem]:
    return [Problem(machine, size, kind, spread(kind, gpus)) for kind in PLACES if gpus > 1 or kind != PLACES[-1]
            for size in chosen]


def side(size: int) -> str:
    return f"{size // 1024}K" if size % 1024 == 0 else str(size)


Results = dict[Problem, Result | None]


def medians(results: Results) -> tuple[dict[str, float], float]:
    """Per machine, and over all problems."""
    of_machine = {}
    for problem, result in results.items():
        if result:
            of_machine.setdefault(problem.machine, []).append(result.ratio)
    everything = [ratio for ratios in of_machine.values() for ratio in ratios]
    return {machine: statistics.median(ratios) for machine, ratios in of_machine.items()}, statistics.median(everything)


def ratios_table(results: Results, chosen: list[int]) -> list[list[str]]:
    """A line per machine; empty cells for problems that do not fit."""
    lines = [["machine", "median", *(f"{SHORT[kind]} {side(size)}" for kind in PLACES for size in chosen)]]
    for machine, median in medians(results)[0].items():
        own = {(problem.kind, problem.size): result for problem, result in results.items()
               if problem.machine == machine}
        found = [own.get((kind, size)) for kind in PLACES for size in chosen]
        lines.append([machine, f"{median:.2f}", *(f"{result.ratio:.2f}" if result else "" for result in found)])
    return lines


def reasons_table(results: Results) -> list[list[str]]:
    lines = [["machine", "problem", "x", "bound by", "lost"]]
    for problem, result in results.items():
        if result and result.ratio > EXPLAINED_FROM:
            lines.append([problem.machine, f"{side(problem.size)} {problem.place}", f"{result.ratio:.2f}", result.by,
                          result.reasons()])
    return lines


def verdict(results: Results) -> str:
    everything = medians(results)[1]
    above = len(reasons_table(results)) - 1
    count = sum(result is not None for result in results.values())
    return (f"{count} problems, median {everything:.2f}, target {MEDIAN_TARGET}: "
            f"{'reached' if everything <= MEDIAN_TARGET else 'missed'}; {above} above {EXPLAINED_FROM}")


def markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *body))


def page(results: Results, options, version: str) -> str:
    given = [f" --{name} {value}" for name, value in (("sizes", ",".join(map(side, options.sizes))),
                                                      ("machines", ",".join(options.machines or []))) if value]
    return f"""# Makespan over bound

Written by `tilerail experiment run {NAME} --{"".join(given)} --page docs/{NAME}.md`
({version}); [experiments.md](experiments.md#over_bound-how-near-to-the-bound) defines the terms.

Cubes in f64 by policy `tilerail`, simulated, all GPUs: makespan over [bound](model.md#bound). `h`: all on the host,
`0`: all on GPU 0, `d`: A, B, C on GPUs 0, 1, 2 (modulo their number). In an empty cell the problem does not fit in the
memory of the GPUs, or `d` equals `0` because there is only one GPU.

{verdict(results)}.

{markdown(ratios_table(results, options.sizes))}
The largest losses of the problems above {EXPLAINED_FROM}, in percent of the bound, on the resource that limits the bound.

{markdown(reasons_table(results))}"""


def save(folder: str, version: str, results: Results) -> str:
    rows = [[problem.machine, problem.size, problem.place, result.tile, result.makespan, result.bound, result.by,
             f"{result.ratio:.4f}", result.busiest, *result.losses.values()]
            for problem, result in results.items() if result]
    table = os.path.join(folder, f"{NAME}.csv")
    write_csv(table, {"version": version, "machine": "simulated", "command": command_text(NAME)}, COLUMNS, rows)
    return table


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--sizes", type=sizes, default=SIZES, metavar="LIST", help="of the cubes [8K,16K,24K,32K]")
    parser.add_argument("--machines", type=names, metavar="LIST", help="names, separated by commas [all shipped ones]")
    parser.add_argument("--page", type=page_file, metavar="FILE",
                        help="write both tables as a page of the documentation, too")
    options = parser.parse_args()
    check_free([os.path.join(options.output, f"{NAME}.csv")])
    tilerail = Tilerail(options.tilerail, options.jobs)
    version = tilerail.version()
    chosen = options.machines or [line.split()[0] for line in tilerail.run(["topo", "list"]).splitlines()]
    try:
        machines = {name: tomllib.loads(tilerail.run(["topo", "show", "--flat", name])) for name in chosen}
        gpus = {name: sum(memory["kind"] == "gpu" for memory in machine["memory"])
                for name, machine in machines.items()}
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        raise Failure(f"--tilerail: '{options.tilerail}' does not show machines as tilerail does") from None
    wanted = [problem for name in machines for problem in problems_of(name, gpus[name], options.sizes)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(wanted, pool.map(lambda each: simulate(tilerail, each, machines[each.machine]), wanted)))
    if not any(results.values()):
        raise Failure("--sizes: no machine has room for any of these; expected smaller ones")
    print(aligned(ratios_table(results, options.sizes)), end="\n\n")
    print(aligned(reasons_table(results)), end="\n\n")
    print(verdict(results))
    files = [save(options.output, version, results)]
    if options.page:
        save_text(str(options.page), page(results, options, version))
        files.append(str(options.page))
    print(f"\nwritten: {', '.join(files)}")


if __name__ == "__main__":
    run_experiment(main)
