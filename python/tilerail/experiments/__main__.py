"""python -m tilerail.experiments NAME | all | list."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

import pandas

import tilerail as tr

from .harness import gallery
from .harness.gallery import Experiment
from .harness.studies import Outcome, Run

NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))


class Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise tr.InputError(f"{message} (see {self.prog} --help)")


def experiment(name: str) -> Experiment:
    return importlib.import_module(f"tilerail.experiments.{name}").EXPERIMENT


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def chosen(text: str) -> list[str]:
    """Names of experiments of papers, separated by commas."""
    papers = [name for name in NAMES if experiment(name).paper]
    if wrong := [name for name in text.split(",") if name not in papers]:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is not one of {', '.join(papers)}")
    return text.split(",")


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="a part of the problems, as a test of the installation")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of the results [out/NAME]")
    parser.add_argument("--jobs", type=count, default=os.cpu_count() or 1, metavar="N", help="threads [one a core]")


def parser_for(name: str) -> Parser:
    prog = f"python -m tilerail.experiments {name}"
    if name == "all":
        parser = Parser(prog=prog, description="Runs every experiment of the papers.", allow_abbrev=False)
        parser.add_argument("--only", type=chosen, metavar="LIST", help="these, separated by commas")
        parser.add_argument("--again", action="store_true", help="also those with results of this version")
        parser.add_argument("--page", type=Path, metavar="FILE", help="write the gallery of the documentation")
    elif name in NAMES:
        of = experiment(name)
        parser = Parser(prog=prog, description=of.about, formatter_class=argparse.RawDescriptionHelpFormatter,
                        allow_abbrev=False)
        of.arguments(parser)
    else:
        raise tr.InputError(f"'{name}' is not an experiment; expected list, all, or one of: {', '.join(NAMES)}", "NAME",
                            name)
    add_common(parser)
    return parser


def command_of(words: list[str]) -> str:
    """The command without folders and numbers of threads, which do not change results."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in ("-o", "--output", "--jobs", "--again"):
            kept.append(os.path.basename(word) or word)
        skip = not skip and word in ("-o", "--output", "--jobs")
    return " ".join(["python -m tilerail.experiments", *kept])


def run_one(name: str, words: list[str]) -> int:
    options = parser_for(name).parse_args(words)
    of = experiment(name)
    outcome = of.study(Run(options))
    if isinstance(outcome, Outcome):
        gallery.report(of, outcome, options.quick)
        files = gallery.save(of, outcome, options.output or Path("out", name), command_of([name, *words]), options.quick)
        print(f"written: {', '.join(files)}")
        return outcome.code
    return outcome


def run_all(words: list[str]) -> int:
    options = parser_for("all").parse_args(words)
    names = options.only or [name for name in NAMES if experiment(name).paper]
    folder = options.output or Path("out", "all")
    kept = {}
    for name in names:
        own = ["--quick"] * options.quick
        command = command_of([name, *own])
        if options.again or not gallery.is_fresh(folder / name / f"{name}.csv", command):
            print(f"== {name}", flush=True)
            outcome = experiment(name).study(Run(parser_for(name).parse_args([*own, "--jobs", str(options.jobs)])))
            gallery.report(experiment(name), outcome, options.quick)
            gallery.save(experiment(name), outcome, folder / name, command, options.quick)
        else:
            print(f"== {name}: kept from an earlier run (--again repeats it)", flush=True)
        kept[name] = experiment(name)
    page = gallery.page(kept, folder, command_of(["all", *words]), options.quick, options.page)
    print(page.verdicts.to_string(index=False))
    page.verdicts.to_csv(folder / "all.csv", index=False)
    if options.page:
        page.write(options.page)
    return 0


def main(words: list[str]) -> int:
    """Exit code: 0, whatever an experiment finds; 2 for bad input; 3 for missing hardware."""
    name = words[0] if words else "--help"
    try:
        if name in ("-h", "--help"):
            print(f"python -m tilerail.experiments NAME [--quick] [-o DIR] [--jobs N]\n"
                  f"python -m tilerail.experiments all [--quick] [--only LIST] [--page FILE]\n"
                  f"python -m tilerail.experiments list\n\nNAME: {', '.join(NAMES)}")
            return 0
        if name == "list":
            width = max(map(len, NAMES))
            print("\n".join(f"{each.ljust(width)}  {experiment(each).title}" for each in NAMES))
            return 0
        return run_all(words[1:]) if name == "all" else run_one(name, words[1:])
    except tr.InputError as error:
        print(f"tilerail: error: {error}", file=sys.stderr)
        return 2
    except tr.HardwareError as error:
        print(f"tilerail: error: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"tilerail: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    pandas.set_option("display.width", 200, "display.max_columns", 50, "display.max_colwidth", 90)
    sys.exit(main(sys.argv[1:]))
