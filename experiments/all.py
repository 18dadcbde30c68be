"""Every experiment of the papers, one after another, with a table of all verdicts.

Each experiment writes its table and figure to its own folder; an interrupted run continues. --page writes the gallery
of the documentation. See docs/experiments.md.
"""

import importlib
import os
import pathlib
import shutil
import time

from harness import (FINDING_HEAD, Failure, Journal, Outcome, Paper, Parser, Tilerail, aligned, check_free, names,
                     page_file, plotting, run_experiment, save_text, verdict, write_csv)

NAME = "all"
PAPERS = {
    "CoCoPeLia": ("cocopelia_fig_1", "cocopelia_table_2", "cocopelia_models", "cocopelia_fig_7"),
    "PARALiA": ("thesis_table_3_1", "clx_ai_link_map", "clx_ai_paralia", "clx_ai_hetero"),
    "PARALiA-GEMMex": ("thesis_fig_4_6", "thesis_fig_4_8", "thesis_fig_4_9", "thesis_fig_4_11", "thesis_fig_4_12",
                       "karolina_gemmex"),
}
NAMES = [name for names in PAPERS.values() for name in names]
FIGURES = "figures/gallery"  # next to the page


def paper_of(name: str) -> Paper:
    return importlib.import_module(name).PAPER


def run_one(paper: Paper, tilerail: Tilerail, options, version: str) -> Outcome:
    arguments = ["--tilerail", options.tilerail, "--jobs", str(options.jobs)] + (["--quick"] if options.quick else [])
    parsed = paper.parser().parse_args(arguments)
    outcome = paper.study(tilerail, parsed)
    command = f"tilerail experiment run {paper.name}" + (" --quick" if options.quick else "")
    paper.save(outcome, os.path.join(options.output, paper.name), version, command, paper.is_part(parsed))
    return outcome


def summary(outcomes: dict[str, Outcome]) -> list[list[str]]:
    lines = [["experiment", "within", "of", "fitted", "farthest"]]
    for name, outcome in outcomes.items():
        findings = outcome.findings
        far = max(findings, key=lambda each: abs(each.distance()), default=None)
        lines.append([name, str(sum(each.within for each in findings)), str(len(findings)),
                      str(sum(each.within and each.fitted for each in findings)),
                      f"{far.value.name}: {far.value.text(far.ours)} for {far.value.published()}"
                      if far and not far.within else "-"])
    return lines


def section(name: str, outcome: Outcome, drawn: bool, quick: str) -> str:
    paper = paper_of(name)
    why = f" Why we differ: {paper.why}." if paper.why and not all(each.within for each in outcome.findings) else ""
    figure = f"![{name}]({FIGURES}/{name}.svg)\n\n" if drawn else ""
    return f"""### {paper.title.removesuffix(".")}

{figure}    tilerail experiment run {name}{quick}

{wrapped(verdict(outcome.findings) + why)}
"""


def only_text(options, before: str = "") -> str:
    return f"{before} --only {','.join(options.only)}" if options.only else ""


def wrapped(text: str, width: int = 118) -> str:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def page(path: pathlib.Path, outcomes: dict[str, Outcome], options, version: str) -> None:
    """Writes the page, and its figures next to it."""
    drawn = plotting() is not None
    quick = " --quick" if options.quick else ""
    only = only_text(options)
    which = ("Some experiments of the papers: their figures, the commands that draw them" if only else
             "Every experiment of the papers that can be repeated: its figure, the command that draws it")
    text = f"""# Gallery

Written by `tilerail experiment run all{quick} --{only} --page {path}` ({version}).
{which}, and the distance to the
published values. [experiments.md](experiments.md) describes each experiment.

On the right of a figure each dot is a value of ours. The green band is the tolerance around the published or measured
value, or our target, and has the same width for all values. A red dot lies outside; dots beyond three half widths are
drawn at the edge of the frame. *Fitted* counts the values within their tolerance that were used to fit the simulation,
so that agreement is not evidence.

| experiment | within | of | fitted |
|---|---|---|---|
"""
    text += "".join(f"| {' | '.join(cells)} |\n" for *cells, _ in summary(outcomes)[1:])
    for title, of_paper in PAPERS.items():
        if found := [name for name in of_paper if name in outcomes]:
            text += f"\n## {title}\n\n" + "\n".join(section(name, outcomes[name], drawn, quick) for name in found)
    folder = path.parent / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    for name in outcomes if drawn else ():
        shutil.copyfile(os.path.join(options.output, name, name + ".svg"), folder / f"{name}.svg")
    save_text(str(path), text)


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="a few problems of each, in minutes")
    parser.add_argument("--only", type=names, metavar="LIST", help="these experiments, separated by commas [all]")
    parser.add_argument("--page", type=page_file, metavar="FILE", help="write the gallery of the documentation, too")
    options = parser.parse_args()
    chosen = options.only or NAMES
    if unknown := [name for name in chosen if name not in NAMES]:
        raise Failure(f"--only: '{unknown[0]}' is not one of {', '.join(NAMES)}")
    check_free([os.path.join(options.output, file) for file in ("all.csv", "some.csv", "all.journal")])
    for name in chosen:
        folder = os.path.join(options.output, name)
        check_free(paper_of(name).files(folder).values(), [folder])
    if options.page:
        check_free([], [str(options.page.parent / folder) for folder in (pathlib.Path(FIGURES).parent, FIGURES)])
    journal = Journal(pathlib.Path(options.output, NAME + ".journal"), options.tilerail)
    tilerail = Tilerail(options.tilerail, options.jobs, journal)
    version, outcomes = tilerail.version(), {}
    for name in chosen:
        start = time.monotonic()
        outcomes[name] = run_one(paper_of(name), tilerail, options, version)
        print(f"{name}, {time.monotonic() - start:.0f} s: {verdict(outcomes[name].findings)}", flush=True)
    print("\n" + aligned(summary(outcomes)))
    if options.quick:
        print("\nOnly a few problems of most experiments: no verdicts on the whole.")
    table = os.path.join(options.output, ("some" if options.only else NAME) + ".csv")
    columns = ["experiment", *FINDING_HEAD]
    quick, only = " --quick" if options.quick else "", only_text(options, " --")
    write_csv(table, {"version": version, "command": f"tilerail experiment run all{quick}{only}"}, columns,
              [[name, *each.cells()] for name, outcome in outcomes.items() for each in outcome.findings])
    if options.page:
        page(options.page, outcomes, options, version)
    journal.remove()
    print(f"\nwritten: {table}" + (f", {options.page}" if options.page else ""))


if __name__ == "__main__":
    run_experiment(main)
