"""Experiments, their files, and the pages that show all of them."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import pandas

import tilerail as tr

from . import drawing
from .studies import Outcome, Run
from .verdicts import Check, Finding, claim_table, left_out, published

PAGES = Path(__file__).resolve().parents[1] / "pages"
PAPERS = ("CoCoPeLia", "PARALiA", "PARALiA-GEMMex")
SEAL = "seal"  # file name
PART = "a part of the problems: no verdicts on the whole"


@dataclass(frozen=True)
class Experiment:
    """A file of experiments, with its row in reference/experiments.csv."""

    name: str
    about: str  # the docstring of the file
    study: Callable[[Run], Outcome]
    arguments: Callable[[argparse.ArgumentParser], None]
    paper: str  # one of PAPERS, or ""
    whole: bool
    size: tuple[float, float]
    why: str

    @property
    def title(self) -> str:
        return self.about.strip().splitlines()[0].rstrip(".")

    def note(self, quick: bool, outcome: Outcome) -> str:
        return PART if outcome.part or (quick and not self.whole) else ""


def check_table(checks: list[Check]) -> pandas.DataFrame:
    return pandas.DataFrame([each.cells() for each in checks], columns=["check", "value", "target", "", "fitted"])


def finding_table(findings: list[Finding]) -> pandas.DataFrame:
    lines = [{"number": each.value.name, "where": each.value.where, "printed": each.value.printed,
              "band": each.value.span(*each.value.band),
              "ours": each.value.text(each.ours), "": "within" if each.within else "outside",
              "fitted": "fitted" if each.fitted else ""} for each in findings]
    return pandas.DataFrame(lines)


def report(of: Experiment, outcome: Outcome, quick: bool) -> None:
    """Prints tables, printed numbers next to ours, the verdict on each claim unless problems are missing, and the
    checks."""
    note = of.note(quick, outcome)
    claims = claim_table(outcome.findings, [] if note else [of.name])
    parts = outcome.tables | {
        "printed numbers, and ours": finding_table(outcome.findings),
        "claims": claims[["verdict", "fitted", "claim", "printed", "ours"]],
        "checks of the model, no verdicts on papers": check_table(outcome.checks)}
    for title, rows in parts.items():
        if len(rows):
            print(f"{title}\n{rows.to_string(index=False, max_colwidth=90)}\n")
    if note:
        print(f"{note}\n")


def save(of: Experiment, outcome: Outcome, folder: Path, command: str, quick: bool) -> list[str]:
    """NAME.csv (the rows), NAME-verdicts.csv (printed numbers and checks), NAME.png and NAME.svg; without an error also
    a seal, which marks complete results."""
    found = [{"kind": "printed", "name": each.value.name, "ours": each.ours, "fitted": each.fitted}
             for each in outcome.findings]
    found += [{"kind": "check", "ours": each.value} | asdict(each) for each in outcome.checks]
    verdicts = pandas.DataFrame(found, columns=["kind", "name", "ours", "fitted", "target", "least", "share"])
    about = {"version": f"tilerail {tr.__version__}", "command": command, "inputs": inputs()} | outcome.remarks
    head, files = "".join(f"# {key}: {value}\n" for key, value in about.items()), []
    for name, rows in ((of.name, outcome.rows), (f"{of.name}-verdicts", verdicts)):
        if rows is not None:
            files.append(str(folder / f"{name}.csv"))
            Path(files[-1]).write_text(head + rows.to_csv(index=False, lineterminator="\n"), encoding="utf-8")
    files += drawing.save(outcome, of.size, of.note(quick, outcome), folder / of.name)
    if not outcome.code:
        (folder / SEAL).write_text(seal(folder, command), encoding="utf-8")
    return files


@lru_cache
def inputs() -> str:
    """A hash of the inputs: this package with its tables, and the machines."""
    digest = hashlib.sha256()
    roots = [Path(tr.__file__).parent, *map(Path, filter(None, [os.environ.get("TILERAIL_TOPOLOGIES")]))]
    paths = [Path(folder, name) for root in roots for folder, _, names in os.walk(root, followlinks=True)
             for name in names if name.endswith((".py", ".csv", ".toml", ".so"))]
    for path in sorted(filter(Path.is_file, paths)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def seal(folder: Path, command: str) -> str:
    """A hash of the command, of the inputs, and of the tables and figures in the folder."""
    digest = hashlib.sha256(f"{tr.__version__} {command} {inputs()}".encode())
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.svg")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_fresh(folder: Path, command: str) -> bool:
    """Whether the folder has complete results of this command without an error."""
    return (folder / SEAL).is_file() and (folder / SEAL).read_text(encoding="utf-8") == seal(folder, command)


def saved(name: str, folder: Path) -> tuple[list[Finding], list[Check]]:
    """The findings and checks in files of ``save``."""
    values = {each.name: each for each in published() if each.experiment == name}
    rows = pandas.read_csv(folder / name / f"{name}-verdicts.csv", comment="#", float_precision="round_trip")
    findings = [Finding(values[row.name], row.ours, row.fitted) for row in rows[rows.kind == "printed"].itertuples()]
    checks = [Check(row.name, row.ours, row.target, row.least, row.fitted, row.share)
              for row in rows[rows.kind == "check"].itertuples()]
    return findings, checks


def markdown(rows: pandas.DataFrame) -> str:
    lines = [rows.columns, ["---"] * len(rows.columns), *rows.itertuples(index=False)]
    return "".join(f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def filled(name: str, **parts) -> str:
    """The page of the documentation with these parts."""
    return (PAGES / f"{name}.txt").read_text(encoding="utf-8").format(version=tr.__version__, **parts)


def wrapped(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def section(of: Experiment, drawn: bool, verdicts: pandas.DataFrame, checks: list[Check], quick: bool) -> str:
    words = [f"{count} {word}" for word, count in verdicts.verdict.value_counts().items()]
    aims = [each.reached for each in checks if each.reached is not None]
    text = " ".join(f"{name}: {cells}." for name, cells in (
        ("Claims", ", ".join(words)), ("Checks", f"{sum(aims)} of {len(aims)} reached" if aims else ""),
        ("Why results differ", of.why)) if cells)
    figure = f"![{of.name}](figures/gallery/{of.name}.svg)\n\n" if drawn else ""
    return f"""### {of.title}

{figure}    python -m tilerail.experiments {of.name}{' --quick' * quick}

{wrapped(text)}
"""


def page(of: dict[str, Experiment], folder: Path, command: str, quick: bool, path: Path | None) -> pandas.DataFrame:
    """The verdicts of the results in the folder. With ``path``, writes the page, and figures in figures/gallery next to
    it."""
    found = {name: saved(name, folder) for name in of}
    verdicts = claim_table([each for findings, _ in found.values() for each in findings], of)
    if not path:
        return verdicts
    figures = {name: folder / name / f"{name}.svg" for name in of if (folder / name / f"{name}.svg").exists()}
    (path.parent / "figures/gallery").mkdir(parents=True, exist_ok=True)
    for figure in figures.values():
        shutil.copyfile(figure, path.parent / "figures/gallery" / figure.name)
    checks = pandas.concat([check_table(checks).assign(experiment=name) for name, (_, checks) in found.items()])
    papers = ""
    for paper in PAPERS:
        parts = [section(of[name], name in figures, claim_table(findings, [name]), own, quick)
                 for name, (findings, own) in found.items() if of[name].paper == paper]
        papers += f"\n## {paper}\n\n" + "\n".join(parts) if parts else ""
    reasons = [wrapped(f"* **{row.claim}** ({row.paper}): {row.reason}") for row in verdicts.itertuples() if row.reason]
    path.write_text(filled("gallery", command=command, limit=f"\nLimit: {PART}.\n" * quick, papers=papers,
                           verdicts=markdown(verdicts.drop(columns="reason")), reasons="\n".join(reasons),
                           checks=markdown(checks[["experiment", *check_table([]).columns]]),
                           left_out=markdown(left_out())), encoding="utf-8")
    return verdicts
