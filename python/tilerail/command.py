"""python3 -m tilerail: figures and tables of timelines from the command line."""

import argparse
import io
import json
import os
import sys
import tempfile

from . import figures, machine_figure, sweep_figure, tornado
from .figures import DPI
from .tables import summary_table
from .timeline import TimelineError, read_timeline

FORMATS = (".png", ".svg")


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line, like the `tilerail` command."""

    def error(self, message: str):
        raise TimelineError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python3 -m tilerail", description="Figures and tables of TileRail's timelines.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    draw = commands.add_parser("gantt", help="draw a timeline, or a prediction above a measurement")
    draw.add_argument("timeline", nargs="+", metavar="TIMELINE.csv", help="one file, or PREDICTED MEASURED")
    draw.add_argument("-o", "--output", required=True, metavar="FILE", help="the figure, .png or .svg; - for stdout")
    draw.add_argument("--format", choices=[name[1:] for name in FORMATS], default="svg",
                      help="kind of a figure on stdout [svg]")
    draw.add_argument("--rows", choices=("auto", "queues", "devices"), default="auto",
                      help="a row for each queue, or for each role on a device (auto: by their number)")
    machine = commands.add_parser("machine", help="draw a machine: the JSON of 'tilerail topo show --graph'")
    machine.add_argument("machine", metavar="MACHINE.json")
    machine.add_argument("--timeline", metavar="RESULT", help="colours links by their use: a summary .json, a timeline .csv")
    machine.add_argument("-o", "--output", required=True, metavar="FILE", help="the figure, .png or .svg; - for stdout")
    machine.add_argument("--format", choices=[name[1:] for name in FORMATS], default="svg",
                         help="kind of a figure on stdout [svg]")
    for name, metavar, help_text in (("tornado", "WHATIF.csv", "draw the savings of parts of a machine"),
                                     ("sweep", "SWEEP.csv", "draw the table of a sweep")):
        study = commands.add_parser(name, help=help_text)
        study.add_argument("table", metavar=metavar, help=f"as `tilerail {metavar[:-4].lower()} --csv` writes it")
        study.add_argument("-o", "--output", required=True, metavar="FILE", help="as above")
        study.add_argument("--format", choices=[name[1:] for name in FORMATS], default="svg", help="as above")
    table = commands.add_parser("summary", help="print the use of each queue of a timeline")
    table.add_argument("timeline", metavar="TIMELINE.csv")
    return parser


def write_whole(path: str, content: bytes) -> None:
    """Replaces the file atomically, through a temporary file next to it. Devices are written in place."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(content)
            return
        target = os.path.realpath(path)
        descriptor, temporary = tempfile.mkstemp(prefix=os.path.basename(target) + ".tmp-", dir=os.path.dirname(target))
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o666 & ~mask)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise TimelineError(f"cannot write '{path}': {error.strerror}") from None


def _format_of(output: str, stdout_format: str) -> str:
    extension = "." + stdout_format if output == "-" else os.path.splitext(output)[1].lower()
    if extension not in FORMATS:
        raise TimelineError(f"-o '{output}': expected a name that ends in {' or '.join(FORMATS)}")
    return extension[1:]


def _save(output: str, kind: str, shape: dict, paint) -> None:
    """Saves the figure drawn by `paint` as a file of this kind. The same input gives the same bytes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise TimelineError("matplotlib is missing; install the package python3-matplotlib") from None
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "tilerail"}):
        figure = Figure(**shape)
        paint(figure)
        stamp = {"Date": None} if kind == "svg" else {}
        figure.savefig(content, format=kind, dpi=DPI, facecolor="white", metadata=stamp)
    if output == "-":
        sys.stdout.buffer.write(content.getvalue())
        sys.stdout.buffer.flush()
    else:
        write_whole(output, content.getvalue())


def draw_figure(paths: list[str], output: str, rows: str = "auto", stdout_format: str = "svg") -> None:
    """The Gantt figure of one timeline, or of two of the same plan. `output`: a file, whose extension selects the
    format, or "-"."""
    kind = _format_of(output, stdout_format)
    if len(paths) > 2:
        raise TimelineError(f"{len(paths)} timelines; expected one, or a predicted and a measured one")
    timelines = [read_timeline(path) for path in paths]

    def paint(figure):
        if len(timelines) == 1:
            figures.gantt(timelines[0], figure.add_subplot(), rows=rows)
        else:
            figures.compare_gantt(*timelines, figure, rows=rows)

    _save(output, kind, figures.figure_shape(timelines, rows), paint)


def draw_machine(path: str, result: str | None, output: str, stdout_format: str = "svg") -> None:
    """The figure of a machine in a JSON file; with a result, links are coloured by their use."""
    kind = _format_of(output, stdout_format)
    with open(path, encoding="utf-8") as file:
        machine = json.load(file)
    use = machine_figure.link_use(machine, result) if result else None
    shape = {"figsize": machine_figure.figure_size(machine), "dpi": DPI, "layout": "constrained"}
    _save(output, kind, shape, lambda figure: machine_figure.draw(machine, figure.add_subplot(), use))


def draw_table(command: str, path: str, output: str, stdout_format: str = "svg") -> None:
    """The figure of a what-if or sweep table."""
    paint = tornado.tornado if command == "tornado" else sweep_figure.sweep_figure
    shape = {"dpi": DPI, "layout": "constrained"}
    _save(output, _format_of(output, stdout_format), shape, lambda figure: paint(path, figure))


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # it is flushed again at exit
        raise TimelineError(f"cannot write to standard output: {error.strerror}") from error


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 success, 2 invalid usage or input, with one line on stderr."""
    try:
        given = _parser().parse_args(arguments)
        if given.command == "gantt":
            draw_figure(given.timeline, given.output, given.rows, given.format)
        elif given.command == "machine":
            draw_machine(given.machine, given.timeline, given.output, given.format)
        elif given.command in ("tornado", "sweep"):
            draw_table(given.command, given.table, given.output, given.format)
        else:
            _print(summary_table(given.timeline))
    except TimelineError as error:
        print(f"tilerail: {error}", file=sys.stderr)
        return 2
    return 0
