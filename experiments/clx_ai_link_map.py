"""Thesis figures 3.8 and 3.5: the link map of CLX-AI, and the transfers of each library over its links.

Bandwidths of all pairs of memories against the published ones; then the transfers of a 16384^3 DGEMM with T = 2048, all
matrices on the host and A, B and C on GPUs 0, 1 and 2, against the traced transfers. See docs/experiments.md.
"""

import collections
import csv
import itertools
import pathlib
import tempfile

from harness import (BOUND_COLUMNS, REFERENCE, SIMULATE_EACH, Failure, Finding, Outcome, Paper, Simulation, Tilerail,
                     Value, over_bound, policy_of, read_table, read_trace, run_experiment, share_target, transfers)
from harness.traffic import Pair, Run, Traffic, as_traced, count, same_pairs
from tilerail.timeline import read_timeline

NAME = "clx_ai_link_map"
MACHINE = "clx-ai"
SIZE, TILE = 16384, 2048
TILE_BYTES = 8 * TILE**2
PLACES = ("h:h:h", "0:1:2")
POLICIES = {
    "blasx": ("--policy", "blasx", "--tile", str(TILE)),  # the first call, with empty caches as in the trace
    "xkblas": policy_of("XKBLAS", TILE),
    "paralia, no hops": (*policy_of("PARALiA", TILE), "--set", "routing=link-map(rule=bottleneck,max-hops=0)"),
    "paralia": policy_of("PARALiA", TILE),
    "gemmex": policy_of("PARALiA-GEMMex", TILE),
    "tilerail": (*policy_of("tilerail", TILE), *SIMULATE_EACH),  # with squares as the other libraries
}
NAME_HOMES_HOST = ("blasx",)  # their traces name the home of a tile "host"
SAME = 0.01  # relative difference of equal bandwidths
COUNT_TOLERANCE, RATE_TOLERANCE, SAME_PAIRS = "10%", "20%", 0.80

Links = dict[Pair, tuple[float, float]]  # latency in s, GB/s


def link_map(tilerail: Tilerail) -> Links:
    """Latency and bandwidth by pair, in the order of the topology."""
    table = csv.DictReader(tilerail.run(["topo", "show", MACHINE, "--link-map", "-"]).splitlines())
    return {(row["src"], row["dst"]): (float(row["latency_s"]), float(row["bytes_per_s"]) / 1e9)
            for row in table if not row["slowdown"]}


def published_map(memories: list[str]) -> dict[Pair, float]:
    """GB/s by pair."""
    rows = read_table(REFERENCE / f"{NAME}.csv", ["to", *memories])[1]
    return {(src, row["to"]): row.positive(src) for row in rows for src in memories if src != row["to"]}


def simulated_runs(tilerail: Tilerail) -> tuple[list[Run], dict[str, dict]]:
    """The runs, and a result per placement for its bound."""
    with tempfile.TemporaryDirectory(prefix="tilerail-") as folder:
        calls = []
        for place, (name, policy) in itertools.product(PLACES, POLICIES.items()):
            path = pathlib.Path(folder) / f"{len(calls)}.csv"
            arguments = [*Simulation(str(SIZE), MACHINE, place, policy).arguments(), "--timeline", str(path)]
            named_host = homes_of(place) if name in NAME_HOMES_HOST else {}
            calls.append(((place, name), arguments,
                          lambda result, at=path, homes=named_host: {**result, "links": links_of(at, homes)}))
        results = tilerail.call(calls, len(calls), remember=False)
    runs = [Run(place, name, False, result["makespan_s"], result["links"]) for (place, name), result in results.items()]
    return runs, {place: result for (place, _), result in results.items()}


def homes_of(place: str) -> dict[str, str]:
    return {matrix: "host" if home == "h" else f"gpu{home}" for matrix, home in zip("ABC", place.split(":"))}


def links_of(path: pathlib.Path, named_host: dict[str, str]) -> dict[Pair, Traffic]:
    """The traffic in a timeline. A tile sent over a host's buffer or in pieces counts as one transfer between GPUs.
    Copies from the given homes of matrices count as copies from the host."""
    links = collections.defaultdict(Traffic)
    for transfer in transfers(read_timeline(path), TILE):
        home, seconds = named_host.get(transfer.tile[0]), (transfer.end - transfer.start) / len(transfer.pairs)
        for src, dst in transfer.pairs:
            links["host" if src == home else src, dst].add(transfer.bytes, seconds)
    return dict(links)


def measured_runs(folder: pathlib.Path, memories: list[str]) -> list[Run]:
    """Runs from files LIBRARY-A.B.C.csv; transfers over several links may be in LIBRARY-rerouted-A.B.C.csv."""
    runs = []
    for place in PLACES:
        files = collections.defaultdict(list)
        ending = f"-{place.replace(':', '.')}.csv"
        for path in sorted(folder.glob("*" + ending)):
            files[path.name.removesuffix(ending).removesuffix("-rerouted")].append(path)
        for library, paths in files.items():
            traced = [transfer for path in paths for transfer in read_trace(path, memories)]
            links = collections.defaultdict(Traffic)
            for pairs, moved, start, end in traced:
                for pair in pairs:
                    if pair[0] != pair[1]:  # some libraries also list copies within a GPU
                        links[pair].add(moved, (end - start) / len(pairs))
            if not links:
                raise Failure(f"{paths[0]}: no transfers between memories")
            span = max(end for *_, end in traced) - min(start for _, _, start, _ in traced)
            runs.append(Run(place, library, True, span, dict(links)))
    if not runs:
        raise Failure(f"--measured: '{folder}' has no files such as paralia-{PLACES[0].replace(':', '.')}.csv")
    return runs


def traced_runs() -> list[Run]:
    """The libraries' copies in figure 3.5."""
    columns = ["place", "library", "src", "dst", "transfers", "busy_s", "run_s"]
    runs = {}
    for row in read_table(REFERENCE / "clx_ai_transfers.csv", columns)[1]:
        run = runs.setdefault((row["place"], row["library"]),
                              Run(row["place"], row["library"], True, row.positive("run_s"), {}))
        count = row.whole("transfers")
        run.links[row["src"], row["dst"]] = Traffic(count, count * TILE_BYTES, row.positive("busy_s"))
    return list(runs.values())


def findings_of(runs: list[Run], of_others: bool) -> list[Finding]:
    """`of_others`: traces other than ours."""
    simulated = {(run.place, run.name): run for run in runs if not run.measured}
    found = []

    def beside(traced: Run, what: str, theirs: float, ours: float, tolerance: str, unit: str = "") -> None:
        """The sharing of links was fitted to the times of the same traces (machines.md)."""
        found.append(Finding(Value(f"{traced.name} {traced.place}, {what}", "thesis figure 3.5, traces", theirs, theirs,
                                   tolerance, unit), ours, unit != "" and not of_others))

    for traced in runs:
        if not traced.measured or (traced.place, traced.name) not in simulated:
            continue
        run = as_traced(simulated[traced.place, traced.name], traced)
        beside(traced, "transfers", traced.transfers, run.transfers, COUNT_TOLERANCE)
        for kind in ("from the host", "between GPUs"):
            if count(traced, kind):
                beside(traced, kind, count(traced, kind), count(run, kind), COUNT_TOLERANCE)
        beside(traced, "mean bandwidth", traced.bandwidth, run.bandwidth, RATE_TOLERANCE, "GB/s")
        found.append(share_target(f"{traced.name} {traced.place}, over the same links", SAME_PAIRS,
                                  same_pairs(run, traced)))
    return found


def map_tables(memories: list[str], pairs: Links) -> list[list[str]]:
    lines = [["GB/s, from \\ to", *memories]]
    for src in memories:
        lines.append([src, *(f"{pairs[src, dst][1]:.2f}" if src != dst else "-" for dst in memories)])
    return lines


def agreement(pairs: Links, published: dict[Pair, float]) -> str:
    other = [f"{src}->{dst} {pairs[src, dst][1]:.2f} for {value:.2f}" for (src, dst), value in published.items()
             if abs(pairs[src, dst][1] / value - 1) > SAME]
    return (f"as published within {SAME:.0%}: {len(published) - len(other)} of {len(published)} pairs"
            + (f"; not {', '.join(other)}" if other else ""))


def run_table(runs: list[Run], pairs: Links, bounds: dict[str, dict]) -> list[list[str]]:
    """Totals, and the transfers by bandwidth of the link."""
    levels = sorted({f"{bandwidth:.2f}" for _, bandwidth in pairs.values()}, key=float, reverse=True)
    lines = [["place", "policy", "ms", "x bound", "transfers", "GB/s",
              *(f"at {level}" for level in levels)]]
    for run in runs:
        at = collections.Counter()
        for pair, link in run.links.items():
            at[f"{pairs[pair][1]:.2f}"] += link.transfers
        lines.append([run.place, run.name + (", measured" if run.measured else ""), f"{run.seconds * 1e3:.1f}",
                      over_bound(run.seconds, bounds[run.place]), f"{run.transfers:g}", f"{run.bandwidth:.1f}",
                      *(f"{at[level]:g}" for level in levels)])
    return lines


def draw_heat(axes, memories: list[str], heat: dict[Pair, float], labels: dict[Pair, str],
              title: str) -> None:
    """Sources are columns, destinations rows."""
    rows = [[heat.get((src, dst), float("nan")) for src in memories] for dst in memories]
    axes.imshow(rows, cmap="YlGn", vmin=0)
    for (src, dst), label in labels.items():
        colour = "white" if heat[src, dst] > 0.7 * max(heat.values()) else "black"
        axes.text(memories.index(src), memories.index(dst), label, ha="center", va="center", fontsize=5, color=colour)
    names = [memory.removeprefix("gpu") for memory in memories]
    axes.set_xticks(range(len(names)), names, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.tick_params(length=0)
    axes.set_title(title, fontsize=7)


def draw_bars(axes, runs: list[Run], value, title: str) -> None:
    names = list(dict.fromkeys((run.name, run.measured) for run in runs))
    for number, place in enumerate(PLACES):
        bars = [(names.index((run.name, run.measured)), value(run)) for run in runs if run.place == place]
        axes.barh([y + (number - 0.5) * 0.4 for y, _ in bars], [width for _, width in bars], 0.4, label=place)
    axes.set_yticks(range(len(names)), [name + (", measured" if measured else "") for name, measured in names],
                    fontsize=6)
    axes.invert_yaxis()
    axes.margins(x=0.3)  # room for the legend
    axes.tick_params(axis="x", labelsize=6)
    axes.set_title(title, fontsize=7)
    axes.legend(fontsize=6)


def draw(figure, memories: list[str], pairs: Links, published: dict[Pair, float], runs: list[Run]) -> None:
    """The link map, totals, and maps of transfers of each traced library and of its simulation."""
    bandwidths = {pair: bandwidth for pair, (_, bandwidth) in pairs.items()}
    traced = {run.name for run in runs if run.measured}
    of_place = [sorted((run for run in runs if run.place == place and run.name in traced),
                       key=lambda run: (run.name, run.measured)) for place in PLACES]
    columns = max(6, *map(len, of_place))
    grid = figure.add_gridspec(1 + len(PLACES), columns)
    draw_heat(figure.add_subplot(grid[0, 0]), memories, bandwidths,
              {pair: f"{value:.0f}" for pair, value in bandwidths.items()}, "from (across) to (down), GB/s")
    draw_heat(figure.add_subplot(grid[0, 1]), memories, published, {}, "published, the same colours")
    bars = [figure.add_subplot(grid[0, column:column + 2]) for column in (2, 4)]
    draw_bars(bars[0], runs, lambda run: run.transfers, "transfers of tiles")
    draw_bars(bars[1], runs, lambda run: run.bandwidth, "mean bandwidth, GB/s")
    for row, of_one in enumerate(of_place, 1):
        for column, run in enumerate(of_one):
            each = figure.add_subplot(grid[row, column])
            labels = {pair: f"{link.transfers:.0f}" for pair, link in run.links.items() if link.transfers >= 2}
            name = run.name + (", measured" if run.measured else "")
            draw_heat(each, memories, bandwidths, labels,
                      f"{name}, {run.place}\ntransfers in {run.seconds * 1e3:.0f} ms")
            if column > 0:  # as in the first column
                each.set_yticks([])
                each.set_xticks([])
    figure.subplots_adjust(left=0.03, right=0.99, hspace=0.5, wspace=0.4)
    for each in bars:  # room for the names
        box = each.get_position()
        each.set_position([box.x0 + 0.3 * box.width, box.y0, 0.7 * box.width, box.height])


def study(tilerail, options) -> Outcome:
    pairs = link_map(tilerail)
    memories = sorted({src for src, _ in pairs})  # the host after the GPUs, as published
    published = published_map(memories)
    if options.measured and not options.measured.is_dir():
        raise Failure(f"--measured: '{options.measured}' does not exist; expected a folder of traces")
    traced = measured_runs(options.measured, memories) if options.measured else traced_runs()
    runs, bounds = simulated_runs(tilerail)
    runs += traced
    runs.sort(key=lambda run: PLACES.index(run.place))
    tables = [map_tables(memories, pairs), [[agreement(pairs, published)]], run_table(runs, pairs, bounds),
              [[f"bound of {place}: {result['bound_s'] * 1e3:.1f} ms ({result['bound_by']})"]
               for place, result in bounds.items()]]
    rows = [["", "", "", *pair, "", "", latency, bandwidth, published[pair], "", "", "", ""]
            for pair, (latency, bandwidth) in pairs.items()]
    rows += [[run.place, run.name, int(run.measured), *pair, link.transfers, f"{link.bytes:.0f}",
              "", "", "", link.busy_s, run.seconds, *(bounds[run.place][column] for column in BOUND_COLUMNS)]
             for run in runs for pair, link in run.links.items()]
    columns = ["place", "policy", "measured", "src", "dst", "transfers", "bytes", "latency_s", "gb_per_s",
               "published_gb_per_s", "busy_s", "run_s", *BOUND_COLUMNS]
    return Outcome(MACHINE, columns, rows, findings_of(runs, options.measured is not None), tables,
                   lambda figure: draw(figure, memories, pairs, published, runs))


def arguments(parser) -> None:
    parser.add_argument("--measured", type=pathlib.Path, metavar="DIR",
                        help="transfers of libraries in place of ours: LIBRARY-A.B.C.csv with src,dst,[ hops ],bytes,"
                             "issued,started,ended")


PAPER = Paper(NAME, __doc__, study, arguments, quick_is_whole=True, width=11.0, height=7.0,
              why="BLASX and XKBLAS decide at run time, by the first copy to arrive, so links differ from run to run. "
                  "With matrices on GPUs the traced BLASX copies from GPU to GPU, its policy over the host, as "
                  "measured times suggest. Why PARALiA's copies are slower than their links is unknown")

if __name__ == "__main__":
    run_experiment(PAPER.main)
