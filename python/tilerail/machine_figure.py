"""A machine as a figure: hosts at the top, then switches, GPUs, and at the bottom switches that join only GPUs."""

import json
import math

from .timeline import TimelineError, read_timeline
from .units import plain

_TEXT = "#30363d"
_LINE = "#8a939c"
_FILL = {"host": "#dfe8d8", "switch": "#e8eaed", "gpu": "#fbe3c3"}
_HULLS = ["#4e79a7", "#b07aa1", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#9c755f", "#ff9da7"]
_BOX = 0.8  # width of a vertex; GPUs are 1 apart
_HIGH = 0.5
_MOST_LABELS = 48
_DEEPEST = 1.2  # of an arc between vertices of one row


def _share(path: str, link: dict) -> float:
    use = float(link["utilisation"] or 0)
    if not -1e-9 <= use <= 1 + 1e-6:  # tolerance for sums of rounded times
        raise TimelineError(f"{path}: link '{link['name']}': utilisation {use} is not a share; expected 0 to 1")
    return use


def link_use(machine: dict, path: str) -> dict[str, float]:
    """Use by link: bytes / bytes possible with its bandwidth, from the JSON of a summary or the CSV of a timeline."""
    rates = {link["name"]: link["bandwidth"] for link in machine["links"]}
    if path.lower().endswith(".csv"):
        timeline, moved = read_timeline(path), {}
        for queue, size in zip(timeline.queue, timeline.bytes):
            for link, share in zip(timeline.queues[queue].route, timeline.queues[queue].shares):
                moved[link] = moved.get(link, 0) + size * share
        span = timeline.makespan or 1.0
        use = {link: size / span / rates.get(link, 1.0) for link, size in moved.items()}
    else:
        try:
            with open(path, encoding="utf-8") as file:
                use = {link["name"]: _share(path, link) for link in json.load(file)["links"]}
        except OSError as error:
            raise TimelineError(f"cannot read '{path}': {error.strerror}") from None
        except TimelineError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise TimelineError(f"{path}: is not a result; expected the JSON or the CSV timeline of simulate or run") from None
    unknown = sorted(use.keys() - rates.keys())
    if unknown:
        raise TimelineError(f"{path}: link '{unknown[0]}' is not in {machine['name']}; expected a result on this machine")
    return use


def _depths(machine: dict) -> dict[str, float]:
    """Row by vertex: 0 for hosts, distance for switches, the next row for GPUs, and the last for vertices that join only
    GPUs."""
    kinds = {vertex["name"]: vertex["kind"] for vertex in machine["vertices"]}
    near = {name: set() for name in kinds}
    for link in machine["links"]:
        near[link["from"]].add(link["to"])
        near[link["to"]].add(link["from"])
    depth = {name: 0 for name, kind in kinds.items() if kind == "host"}
    layer = list(depth)
    while layer:
        layer = [b for a in layer for b in sorted(near[a]) if kinds[b] == "switch" and depth.setdefault(b, depth[a] + 1) ==
                 depth[a] + 1 and b not in layer]
    gpus = max(depth.values(), default=0) + 1
    for name, kind in kinds.items():
        if kind == "gpu":
            depth[name] = gpus
        elif name not in depth:
            depth[name] = gpus + 1
    return depth


def layout(machine: dict) -> dict[str, tuple[float, float]]:
    """Positions of vertices: GPUs at distance 1 in their order, other vertices above the middle of their lower neighbours."""
    depth = _depths(machine)
    kinds = {vertex["name"]: vertex["kind"] for vertex in machine["vertices"]}
    gpus = [vertex["name"] for vertex in machine["vertices"] if vertex["kind"] == "gpu"]
    x = {name: float(i) for i, name in enumerate(gpus)}
    near = {name: set() for name in kinds}
    for link in machine["links"]:
        near[link["from"]].add(link["to"])
        near[link["to"]].add(link["from"])
    layer_of_gpus = depth[gpus[0]] if gpus else max(depth.values()) + 1  # without GPUs: below all rows
    for level in [d for d in sorted(set(depth.values()), reverse=True) if d != layer_of_gpus]:
        names = [name for name in depth if depth[name] == level]
        toward = (lambda d: d > level) if level < layer_of_gpus else (lambda d: d == layer_of_gpus)
        for name in names:
            below = [x[other] for other in near[name] if other in x and toward(depth[other])]
            x[name] = sum(below) / len(below) if below else (len(gpus) - 1) / 2
        names.sort(key=lambda name: x[name])
        middle = sum(x[name] for name in names) / len(names)
        for before, name in zip(names, names[1:]):
            x[name] = max(x[name], x[before] + 1)
        shift = middle - sum(x[name] for name in names) / len(names)
        for name in names:
            x[name] += shift
    return {name: (x[name], -1.6 * depth[name]) for name in depth}


def _hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Convex hull, counterclockwise (Andrew's monotone chain)."""
    points = sorted(set(points))
    if len(points) < 3:
        return points

    def half(order):
        chain = []
        for p in order:
            while len(chain) > 1 and (chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1]) <= \
                    (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0]):
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return half(points) + half(points[::-1])


def _cables(machine: dict) -> list[dict]:
    """Both directions between two vertices, with all parallel links: names, and GB/s of each direction."""
    cables = {}
    for link in machine["links"]:
        ends = (link["from"], link["to"])
        key = ends if ends in cables or ends[::-1] not in cables else ends[::-1]
        cable = cables.setdefault(key, {"ends": key, "names": [], "there": 0.0, "back": 0.0})
        cable["names"].append(link["name"])
        cable["there" if key == ends else "back"] += link["bandwidth"] / 1e9
    return list(cables.values())


def _rate(cable: dict) -> str:
    there, back = f"{cable['there']:.4g}", f"{cable['back']:.4g}"
    return there if there == back or not cable["back"] else f"{there} / {back}"


def _curve(a: tuple[float, float], b: tuple[float, float], down: bool) -> list[tuple[float, float]]:
    """A straight line; between vertices of one row, an arc below or above it, deeper for larger distances."""
    if a[1] != b[1]:
        return [a, b]
    deep = min(0.35 + 0.1 * abs(a[0] - b[0]), _DEEPEST)
    return [(a[0] + (b[0] - a[0]) * t / 20, a[1] + (-deep if down else deep) * math.sin(math.pi * t / 20)) for t in range(21)]


def _draw_cables(ax, machine, where, use) -> dict[str, tuple[float, float]]:
    """Returns the middle of each link. With many links, equal labels between the same rows are drawn once."""
    import matplotlib
    from matplotlib.colors import Normalize

    cables = _cables(machine)
    colours = matplotlib.colormaps["YlOrRd"] if use is not None else None
    scale = Normalize(0, 1)
    most = max((max(c["there"], c["back"]) for c in cables), default=1)
    middles, labelled = {}, set()
    row_of_gpus = max((where[vertex["name"]][1] for vertex in machine["vertices"] if vertex["kind"] == "gpu"), default=-math.inf)
    for cable in cables:
        a, b = (where[name] for name in cable["ends"])
        points = _curve(a, b, down=a[1] <= row_of_gpus)
        share = max((use.get(name, 0) for name in cable["names"]), default=0) if use is not None else 0
        width = 1 + 4 * math.sqrt(max(cable["there"], cable["back"]) / most)
        ax.plot(*zip(*points), color=colours(scale(0.15 + 0.85 * share)) if use is not None else _LINE, linewidth=width,
                solid_capstyle="round", zorder=2)
        # The lower part of a line, because lines of one switch are separate there.
        middle = points[10] if len(points) > 2 else (a[0] + 0.5 * (b[0] - a[0]), a[1] + 0.5 * (b[1] - a[1]))
        label_at = points[10] if len(points) > 2 else (a[0] + 0.62 * (b[0] - a[0]), a[1] + 0.62 * (b[1] - a[1]))
        for name in cable["names"]:
            middles[name] = middle
        text = _rate(cable) + (f"\n{share:.0%}" if use is not None and share else "")
        once = (a[1], b[1], _rate(cable))
        if len(cables) > _MOST_LABELS and once in labelled and not (use is not None and share):
            continue
        labelled.add(once)
        ax.text(*label_at, text, fontsize=7, ha="center", va="center", color=_TEXT, zorder=4,
                bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85})
    if use is not None:
        ax.figure.colorbar(matplotlib.cm.ScalarMappable(scale, colours), ax=ax, shrink=0.5, label="use of the link")
    return middles


def _draw_groups(ax, machine, middles) -> list:
    """A hull around the middles of each group's links; groups with equal bounds share a colour and an entry of the
    legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Ellipse, Polygon

    kinds = {}
    for group in machine["groups"]:
        kinds.setdefault(group["bound"], []).append(group)
    handles = []
    for number, (bound, groups) in enumerate(kinds.items()):
        colour = _HULLS[number % len(_HULLS)]
        for group in groups:
            points = _hull([middles[name] for name in group["links"]])
            if len(points) == 1:
                ax.add_patch(Ellipse(points[0], 0.36, 0.42, facecolor=colour, edgecolor="none", alpha=0.3, zorder=1))
                continue
            ax.add_patch(Polygon(points, closed=True, facecolor=colour, edgecolor=colour, linewidth=26 - 2 * (number % 8),
                                 joinstyle="round", alpha=0.22, zorder=1))
        name = groups[0]["name"] + (f" and {len(groups) - 1} more" if len(groups) > 1 else "")
        handles.append(Line2D([], [], color=colour, linewidth=8, alpha=0.4, label=plain(f"{name}: {bound}")))
    return handles


def draw(machine: dict, ax, use: dict[str, float] | None = None):
    """Draws on matplotlib's Axes and returns them. `machine`: the output of `tilerail topo show --graph`."""
    from matplotlib.patches import FancyBboxPatch

    where = layout(machine)
    middles = _draw_cables(ax, machine, where, use)
    handles = _draw_groups(ax, machine, middles)
    for vertex in machine["vertices"]:
        x, y = where[vertex["name"]]
        ax.add_patch(FancyBboxPatch((x - _BOX / 2, y - _HIGH / 2), _BOX, _HIGH, boxstyle="round,pad=0,rounding_size=0.05",
                                    facecolor=_FILL[vertex["kind"]], edgecolor=_TEXT, linewidth=0.8, zorder=5))
        ax.text(x, y, plain("\n".join([vertex["name"], *vertex["lines"]])), fontsize=7, ha="center", va="center", color=_TEXT, zorder=6)
    xs, ys = zip(*where.values())
    bottom = any(where[link["from"]][1] == where[link["to"]][1] == min(ys) for link in machine["links"])
    ax.set_xlim(min(xs) - 0.7, max(xs) + 0.7)
    ax.set_ylim(min(ys) - (_DEEPEST + 0.2 if bottom else 0.5), max(ys) + 0.5)
    ax.set_axis_off()
    title = f"{machine['name']}: GB/s of each link (there / back where they differ)"
    ax.set_title(plain(title), loc="left", fontsize=10, color=_TEXT)
    if handles:
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False, fontsize=8, ncol=2,
                  title="Links that share a bound", title_fontsize=8)
    return ax


def figure_size(machine: dict) -> tuple[float, float]:
    """Inches."""
    where = layout(machine)
    xs, ys = zip(*where.values())
    bounds = len({group["bound"] for group in machine["groups"]})
    return max(6.0, 1.15 * (max(xs) - min(xs) + 2)), max(4.0, 0.9 * (max(ys) - min(ys)) + 2.5 + 0.12 * bounds)
