"""Thesis figures 3.3, 3.5 and 3.8: the link map of CLX-AI, and the transfers of each library over its links.

Bandwidths of all pairs of memories, measured in the simulator, against the published ones; then the transfers of a
16384^3 DGEMM with T = 2048, all matrices on the host and A, B and C on GPUs 0, 1 and 2, against the traced transfers. A
transfer is a whole tile over one link; over several links it counts on each, with its part of the time.
"""

import pandas

import tilerail as tr

from .harness import Check, CLX_AI, Compared, link, numbers, Outcome, Run, table

SIZE, TILE = 16384, 2048
TILE_BYTES = 8 * TILE**2
PLACES = ("h:h:h", "0:1:2")
POLICIES = {"BLASX": {"policy": "blasx"}, "XKBLAS": {"policy": "xkblas"}, "PARALiA": {"policy": "paralia"},
            "PARALiA, no hops": {"policy": "paralia", "options": {"routing": "link-map(rule=bottleneck,max-hops=0)"}},
            "PARALiA-GEMMex": {"policy": "gemmex"}, "tilerail": {"policy": "tilerail", "effort": "fixed"}}
TRACED = {"blasx": "BLASX", "xkblas": "XKBLAS", "paralia": "PARALiA"}
SAME = 0.01  # relative difference of equal bandwidths
COUNT_TARGET, LINKS_TARGET = 0.10, 0.80


def link_map() -> pandas.DataFrame:
    """src, dst, published and simulated GB/s, latency."""
    rows = table("clx_ai_link_map").melt("to", var_name="src", value_name="published").rename(columns={"to": "dst"})
    rows = numbers(rows[rows.published != ""], "clx_ai_link_map", "published").reset_index(drop=True)
    found = [link(CLX_AI, src, dst) for src, dst in zip(rows.src, rows.dst)]
    return rows.assign(simulated=[rate / 1e9 for _, rate in found], latency_s=[latency for latency, _ in found])


def pieces(timeline: pandas.DataFrame) -> pandas.DataFrame:
    """Copies between memories. The two copies over a host's buffer, planned one directly after the other, count as one
    between GPUs."""
    rows = timeline.astype({"src": str, "dst": str, "label": str})
    after, copies = rows.shift(-1), rows.kind == "copy"
    onward = copies & (after.kind == "copy") & (after.label == rows.label)
    onward &= (rows.dst == "host") & (after.src == "host")
    last = rows.where(~onward, after)
    found = pandas.DataFrame({"label": rows.label, "bytes": rows.bytes, "src": rows.src, "dst": last.dst,
                              "start": rows.start_s, "end": last.end_s, "first": rows.index,
                              "last": rows.index + onward})
    found = found[copies & (rows.src != rows.dst) & ~onward.shift(fill_value=False)]
    tile = found.label.str.extract(r"([ABC])\[(\d+):\d+,(\d+):\d+\]")
    return found.assign(matrix=tile[0], line=tile[1].astype(int) // TILE, column=tile[2].astype(int) // TILE)


def goes_on(before: dict, after: dict) -> bool:
    """Whether ``after`` is the next hop: planned directly after, and in pieces or of C, whose tiles are not shared."""
    return (all(before[key] == after[key] for key in ("matrix", "line", "column", "pieces"))
            and before["pairs"][-1][1] == after["src"] and (before["pieces"] > 1 or before["matrix"] == "C"))


def transfers(timeline: pandas.DataFrame) -> list[dict]:
    """Transfers of whole tiles over the pairs of memories on their routes."""
    rows, whole, routes, by_last = pieces(timeline), ["matrix", "line", "column", "src", "dst"], [], {}
    earlier = rows.groupby(whole).bytes.cumsum() - rows.bytes  # of the same tile, which may come several times
    wholes = rows.groupby([*whole, earlier // TILE_BYTES], sort=False).agg(
        bytes=("bytes", "sum"), start=("start", "min"), end=("end", "max"), first=("first", "first"),
        last=("last", "last"), pieces=("bytes", "size")).reset_index(whole)
    for each in wholes.to_dict("records"):
        each["pairs"] = [(each["src"], each["dst"])]
        before = by_last.get(each["first"] - 1)
        if before and goes_on(before, each):
            before.update(pairs=before["pairs"] + each["pairs"], end=max(before["end"], each["end"]), last=each["last"])
            each = before
        else:
            routes.append(each)
        by_last[each["last"]] = each
    return routes


def simulated(case: tuple[str, str]) -> pandas.DataFrame:
    """The transfers of a library by link and matrix. The traces of BLASX call the home of a tile "host", and so do its
    rows here."""
    library, place = case
    result = tr.simulate(tr.gemm(SIZE, place=place), CLX_AI, tile=TILE, **POLICIES[library])
    rows = pandas.DataFrame([(src, dst, each["matrix"], (each["end"] - each["start"]) / len(each["pairs"]))
                             for each in transfers(result.timeline) for src, dst in each["pairs"]],
                            columns=["src", "dst", "matrix", "busy_s"])
    if library == "BLASX":
        homes = {matrix: f"gpu{home}" for matrix, home in zip("ABC", place.split(":"))}
        rows["src"] = rows.src.mask(rows.src == rows.matrix.map(homes), "host")
    rows = rows.groupby(["src", "dst", "matrix"]).busy_s.agg(transfers="size", busy_s="sum").reset_index()
    return rows.assign(library=library, place=place, run_s=result.makespan, measured=False)


def traced() -> pandas.DataFrame:
    rows = numbers(table("clx_ai_transfers"), "clx_ai_transfers", "transfers", "busy_s", "run_s")
    return rows.assign(library=rows.library.map(TRACED), matrix="", measured=True)


def kind_of(rows: pandas.DataFrame) -> pandas.Series:
    kinds = pandas.Series("between GPUs", index=rows.index)
    return kinds.mask(rows.dst == "host", "to the host").mask(rows.src == "host", "from the host")


def compare(rows: pandas.DataFrame, compared: Compared) -> list[Check]:
    """Each traced run next to its simulation, without kinds of transfers that a trace lacks (BLASX: to the host)."""
    checks, rows = [], rows.assign(kind=kind_of(rows))
    for (library, place), trace in rows[rows.measured].groupby(["library", "place"], sort=False):
        ours = rows[~rows.measured & (rows.library == library) & (rows.place == place) & rows.kind.isin(trace.kind)]
        given = ours.assign(machine=CLX_AI)
        compared.add(f"{library} {place}, transfers", ours.transfers.sum(), given)
        compared.add(f"{library} {place}, mean bandwidth", TILE_BYTES * ours.transfers.sum() / ours.busy_s.sum() / 1e9,
                     given.assign(metric="rate"))
        for kind, count in trace.groupby("kind").transfers.sum().items():
            off = abs(ours[ours.kind == kind].transfers.sum() / count - 1)
            checks.append(Check(f"{library} {place}, transfers {kind}, |error|", off, COUNT_TARGET))
        both = pandas.concat([each.groupby(["src", "dst"]).transfers.sum() for each in (ours, trace)], axis=1).fillna(0)
        same = both.min(axis=1).sum() / both.sum().max()
        checks.append(Check(f"{library} {place}, transfers over the same links", same, LINKS_TARGET, least=True))
    return checks


def compare_links(links: pandas.DataFrame, rows: pandas.DataFrame, compared: Compared) -> Check:
    rates = links.set_index(["src", "dst"]).simulated
    fast, sockets = rates["gpu0", "gpu3"], rates["gpu0", "gpu7"]
    for name, value in (("NVLink 1, GB/s", rates["gpu0", "gpu1"]), ("NVLink 2, GB/s", fast),
                        ("PCIe, GB/s", rates["host", "gpu0"]), ("link of the sockets, GB/s", sockets),
                        ("eight NVLink 2 copies over eight between sockets", 8 * fast / sockets)):  # which eight share
        compared.add(name, value, links.assign(machine=CLX_AI))
    shared = rows[(rows.library == "XKBLAS") & (rows.place == "h:h:h") & ~rows.measured & (rows.dst != "host")]
    counts = shared.pivot_table("transfers", "matrix", shared.src == "host", "sum")
    avoided = 1 - counts[True] / counts.sum(axis=1)
    for name, matrix in (("A", "B"), ("B", "A")):  # our grid is 2 x 4, so that A and B exchange
        compared.add(f"copies of {name} from the host avoided", avoided[matrix], shared.assign(machine=CLX_AI))
    equal = (links.simulated / links.published - 1).abs() <= SAME
    return Check(f"pairs of memories as published within {SAME:.0%}", equal.mean(), 71 / 72, least=True)


def draw(figure, links: pandas.DataFrame, rows: pandas.DataFrame) -> None:
    """The link map, and the transfers of each traced library and of its simulation."""
    top, *panels = figure.subplots(2, 2).flat
    top.plot([0, 50], [0, 50], color="#adb5bd", lw=0.8)
    top.plot(links.published, links.simulated, "o", ms=4)
    top.set(title="bandwidth of 72 pairs, GB/s", xlabel="published", ylabel="simulated")
    rows = rows[rows.library.isin(TRACED.values())].assign(
        run=rows.library + " " + rows.place + rows.measured.map({True: ", traced", False: ""}), kind=kind_of(rows))
    counts = rows.pivot_table(index="run", columns="kind", values="transfers", aggfunc="sum")
    sums = rows.groupby("run").agg(transfers=("transfers", "sum"), busy_s=("busy_s", "sum"), run_s=("run_s", "max"))
    counts.plot.barh(ax=panels[0], stacked=True, title="transfers of tiles", ylabel="")
    (TILE_BYTES * sums.transfers / sums.busy_s / 1e9).plot.barh(ax=panels[1], title="mean bandwidth, GB/s", ylabel="")
    (1e3 * sums.run_s).plot.barh(ax=panels[2], title="first start to last end (simulated: makespan), ms", ylabel="")
    panels[0].legend(title="")


def study(run: Run) -> Outcome:
    links = link_map()
    cases = [(library, place) for place in PLACES for library in POLICIES]
    rows = pandas.concat([*run.map(simulated, cases), traced()], ignore_index=True)
    compared = Compared("clx_ai_link_map", "clx_ai_link_map", "clx_ai_transfers")
    checks = [compare_links(links, rows, compared), *compare(rows, compared)]
    totals = rows.groupby(["place", "library", "measured"], sort=False).agg(
        transfers=("transfers", "sum"), busy_s=("busy_s", "sum"), run_s=("run_s", "max")).reset_index()
    totals["GB/s"] = (TILE_BYTES * totals.transfers / totals.busy_s / 1e9).round(1)
    wide = links.pivot(index="src", columns="dst", values="simulated").round(2).fillna("")
    return Outcome(pandas.concat([rows, links]), compared.findings, checks,
                   {"GB/s, from (down) to (across)": wide.reset_index(), "transfers": totals},
                   lambda figure: draw(figure, links, rows))
