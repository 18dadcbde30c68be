"""An experiment of a paper: published values, our findings, and a common way to run, save and draw experiments."""

import collections.abc
import dataclasses
import os
import pathlib

from .program import Parser, check_free, command_text
from .published import FINDING_HEAD, Finding, draw_findings, verdict
from .results import aligned, plotting, save_figure, write_csv
from .simulations import Journal, Tilerail


@dataclasses.dataclass(frozen=True)
class Outcome:
    machine: str
    columns: list[str]  # of the saved table
    rows: list[list]
    findings: list[Finding]
    tables: list[list[list[str]]]  # printed before the findings
    draw: collections.abc.Callable | None  # draws on the figure to the left of the findings
    remarks: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Paper:
    """`study(tilerail, options)` returns an Outcome."""

    name: str
    about: str  # the docstring of the script
    study: collections.abc.Callable
    arguments: collections.abc.Callable | None = None  # adds to the parser
    why: str = ""  # reason for differences from published values
    quick_is_whole: bool = False  # --quick also uses all problems
    width: float = 7.0  # inches, for the study's drawing
    height: float = 3.4

    @property
    def title(self) -> str:
        return self.about.strip().splitlines()[0]

    def parser(self) -> Parser:
        parser = Parser(self.about)
        parser.add_argument("--quick", action="store_true", help="a few of the problems, in seconds")
        if self.arguments:
            self.arguments(parser)
        return parser

    def figure(self, figure_type, outcome: Outcome, is_part: bool):
        """The study's drawing, and the verdict to its right."""
        right = 5.0 if outcome.findings else 0.0
        left = self.width if outcome.draw else 0.0
        lines = min(24, len(outcome.findings))
        figure = figure_type(figsize=(left + right, max(self.height, 0.8 + 0.15 * lines)), dpi=150)
        parts = figure.subfigures(1, 2, width_ratios=[left, right]) if left and right else [figure, figure]
        if outcome.draw:
            outcome.draw(parts[0])
        if is_part:
            figure.suptitle("a part of the problems, or other rows: no verdict on the whole", fontsize=7)
        if outcome.findings:
            axes = parts[1].add_axes([0.40, 0.08, 0.27, 0.82])
            draw_findings(axes, outcome.findings)
        return figure

    def save(self, outcome: Outcome, folder: str, version: str, command: str, is_part: bool) -> list[str]:
        """The table, and the figure as PNG and SVG. Returns their names."""
        files = self.files(folder)
        header = {"version": version, "machine": outcome.machine, "command": command, **outcome.remarks,
                  "verdict": verdict(outcome.findings) + " Of a part of the problems, or other rows." * is_part}
        write_csv(files["csv"], header, outcome.columns, outcome.rows)
        figure_type = plotting()
        kinds = ("png", "svg") if figure_type and (outcome.draw or outcome.findings) else ()
        figure = self.figure(figure_type, outcome, is_part) if kinds else None
        for kind in kinds:
            save_figure(figure, files[kind])
        return [files[kind] for kind in ("csv", *kinds)]

    def is_part(self, options) -> bool:
        """Whether these options select a part of the problems, or other rows."""
        parser = self.parser()
        own = set(vars(options)) - {"tilerail", "output", "jobs", "quick"}
        return (options.quick and not self.quick_is_whole) or any(
            getattr(options, name) != parser.get_default(name) for name in own)

    def files(self, folder: str) -> dict[str, str]:
        """Output files in the folder, by kind."""
        return {kind: os.path.join(folder, f"{self.name}.{kind}") for kind in ("csv", "png", "svg", "journal")}

    def report(self, outcome: Outcome, is_part: bool) -> None:
        for table in outcome.tables:
            print(aligned(table), end="\n\n")
        if outcome.findings:
            print(aligned([FINDING_HEAD, *(each.cells() for each in outcome.findings)]), end="\n\n")
            print(verdict(outcome.findings))
            if is_part:
                print("These are a part of the problems, or other rows: no verdict on the whole.")
            elif self.why and not all(each.within for each in outcome.findings):
                print(f"Why we differ: {self.why}.")

    def main(self) -> None:
        """Runs this experiment. Reuses the journal of an interrupted run and removes it at the end."""
        options = self.parser().parse_args()
        places = self.files(options.output)
        check_free(places.values())
        journal = Journal(pathlib.Path(places["journal"]), options.tilerail)
        tilerail = Tilerail(options.tilerail, options.jobs, journal)
        version = tilerail.version()
        outcome = self.study(tilerail, options)
        is_part = self.is_part(options)
        self.report(outcome, is_part)
        files = self.save(outcome, options.output, version, command_text(self.name), is_part)
        journal.remove()
        print(f"\nwritten: {', '.join(files)}" + ("" if len(files) > 1 or not plotting() is None
                                                  else "; no figure: matplotlib is missing"))


def sample(items: list, quick: bool, most: int = 8) -> list:
    """All items, or with --quick at most `most`, evenly spread."""
    if not quick or len(items) <= most:
        return items
    return [items[i * len(items) // most] for i in range(most)]
