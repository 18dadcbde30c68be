"""python3 -m tilerail: figures and tables of timelines from the command line."""

import argparse
import io
import os
import sys
import tempfile

from .tables import summary_table
from .timeline import TimelineError, read_timeline

FORMATS = (".png", ".svg")


class _Parser(argparse.ArgumentParser):
    """Reports one line, like the `tilerail` command."""

    def error(self, message: str):
        raise TimelineError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python3 -m tilerail", description="Figures and tables of TileRail's timelines.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    draw = commands.add_parser("gantt", help="draw a timeline, or a prediction above a measurement")
    draw.add_argument("timeline", nargs="+", metavar="TIMELINE.csv", help="one file, or PREDICTED MEASURED")
    draw.add_argument("-o", "--output", required=True, metavar="FILE", help="the figure, .png or .svg; - for stdout")
    draw.add_argument("--format", choices=[name[1:] for name in FORMATS], default="svg",
                      help="of a figure that goes to stdout [svg]")
    draw.add_argument("--rows", choices=("auto", "queues", "devices"), default="auto",
                      help="a row for each queue, or for each role on a device (auto: by their number)")
    table = commands.add_parser("summary", help="print what each queue of a timeline did")
    table.add_argument("timeline", metavar="TIMELINE.csv")
    return parser


def write_whole(path: str, content: bytes) -> None:
    """Writes beside the file and moves it there: the file is whole or as it was. Devices are written in place."""
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


def draw_figure(paths: list[str], output: str, rows: str = "auto", stdout_format: str = "svg") -> None:
    """The Gantt figure of one timeline, or of two of the same plan. The same input gives the same bytes. `output`: a
    file, whose name says the format, or "-"."""
    extension = "." + stdout_format if output == "-" else os.path.splitext(output)[1].lower()
    if extension not in FORMATS:
        raise TimelineError(f"-o '{output}': expected a name that ends in {' or '.join(FORMATS)}")
    if len(paths) > 2:
        raise TimelineError(f"{len(paths)} timelines; expected one, or a predicted and a measured one")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise TimelineError("matplotlib is missing; install the package python3-matplotlib") from None
    from . import figures

    timelines = [read_timeline(path) for path in paths]
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "tilerail"}):
        figure = Figure(**figures.figure_shape(timelines, rows))
        if len(timelines) == 1:
            figures.gantt(timelines[0], figure.add_subplot(), rows=rows)
        else:
            figures.compare_gantt(*timelines, figure, rows=rows)
        stamp = {"Date": None} if extension == ".svg" else {}
        figure.savefig(content, format=extension[1:], dpi=figures.DPI, facecolor="white", metadata=stamp)
    if output == "-":
        sys.stdout.buffer.write(content.getvalue())
        sys.stdout.buffer.flush()
    else:
        write_whole(output, content.getvalue())


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 done, 2 bad usage or input, with one line on stderr."""
    try:
        given = _parser().parse_args(arguments)
        if given.command == "gantt":
            draw_figure(given.timeline, given.output, given.rows, given.format)
        else:
            sys.stdout.write(summary_table(given.timeline))
    except TimelineError as error:
        print(f"tilerail: {error}", file=sys.stderr)
        return 2
    return 0
