"""python -m tilerail: figures of saved timelines, tables and machines."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys

from .errors import InputError


def _shares(path: str | None) -> dict[str, float] | None:
    """The use of each link in a result, the JSON of ``simulate`` or ``run``."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return {link["name"]: float(link["utilisation"] or 0) for link in json.load(file)["links"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("", None, "is not a result", "the JSON of simulate or run", path) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tilerail", description="Figures of saved files of TileRail.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, file, text in (("gantt", "TIMELINE.csv", "a timeline, or a prediction above a measurement"),
                             ("sweep", "SWEEP.csv", "the --csv of 'tilerail sweep'"),
                             ("whatif", "WHATIF.csv", "the --csv of 'tilerail whatif', as a tornado"),
                             ("machine", "MACHINE", "a machine: its .toml file or its name")):
        command = commands.add_parser(name, help=f"draw {text}")
        command.add_argument("file", metavar=file)
        if name == "gantt":
            command.add_argument("measured", nargs="?", metavar="MEASURED.csv")
        if name == "machine":
            command.add_argument("--use", metavar="RESULT.json", help="colour links by their use in a result")
        command.add_argument("-o", "--output", required=True, metavar="FILE", help="the figure: .svg, .png or .pdf")
    return parser


def _paint(given: argparse.Namespace) -> None:
    from . import plot

    if given.command == "machine":
        plot.machine(given.file, use=_shares(given.use))
    elif given.command == "gantt" and given.measured:
        plot.compare(given.file, given.measured)
    else:
        {"gantt": plot.gantt, "sweep": plot.sweep, "whatif": plot.tornado}[given.command](given.file)


def draw(given: argparse.Namespace) -> None:
    """Draws and writes the figure. Equal input gives equal bytes."""
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    kind = os.path.splitext(given.output)[1][1:].lower()
    if kind not in stamps:
        raise InputError("--output", given.output, "has an unknown extension", ".svg, .png or .pdf")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "tilerail"}):
        _paint(given)
        content = io.BytesIO()
        pyplot.gcf().savefig(content, format=kind, dpi=150, facecolor="white", metadata=stamps[kind])
        pyplot.close()
    try:
        with open(given.output, "wb") as file:
            file.write(content.getvalue())
    except OSError as error:
        raise InputError("--output", given.output, f"cannot be written: {error.strerror}") from None


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 success, 2 invalid usage or input, with a line on stderr."""
    try:
        draw(_parser().parse_args(arguments))
    except (InputError, ImportError) as error:
        print(f"tilerail: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
