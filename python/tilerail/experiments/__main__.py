"""python -m tilerail.experiments NAME | all | list."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from functools import lru_cache
from pathlib import Path

import tilerail as tr
from tilerail import InputError

from .harness import gallery
from .harness.data import count, names, numbers, table
from .harness.gallery import Experiment
from .harness.studies import Run

NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))
USAGE = f"""python -m tilerail.experiments NAME [--quick] [-o DIR] [--jobs N]
python -m tilerail.experiments all [--quick] [--only LIST] [--page FILE]
python -m tilerail.experiments list

NAME: {', '.join(NAMES)}"""


class Parser(argparse.ArgumentParser):
    """With the options of every experiment."""

    def __init__(self, name: str, about: str):
        super().__init__(prog=f"python -m tilerail.experiments {name}", description=about, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("--quick", action="store_true", help="a part of the problems, to test the installation")
        self.add_argument("-o", "--output", type=Path, default=Path("out", name), metavar="DIR",
                          help=f"folder of the results [out/{name}]")
        self.add_argument("--jobs", type=count, default=os.cpu_count() or 1, metavar="N", help="threads [one a core]")

    def error(self, message: str):
        raise InputError(self.prog, None, f"{message} (see --help)")


@lru_cache(maxsize=None)
def experiment(name: str) -> Experiment:
    if name not in NAMES:
        raise InputError("NAME", name, "is not an experiment", f"list, all, or one of: {', '.join(NAMES)}")
    module = importlib.import_module(f"tilerail.experiments.{name}")
    of = numbers(table("experiments"), "experiments", "width", "height").set_index("experiment").loc[name]
    return Experiment(name, module.__doc__, module.study, getattr(module, "arguments", lambda parser: None), of.paper,
                      of.whole == "yes", (of.width, of.height), of.why)


def command_of(words: list[str]) -> str:
    """The command without folders of this computer and numbers of threads, which do not change results."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--output")
    parser.add_argument("--jobs")
    parser.add_argument("--again", action="store_true")
    words = parser.parse_known_args(words)[1]
    kept = [re.sub(r"(^|=)/.*/", r"\1", word) for word in words]
    return " ".join(["python -m tilerail.experiments", *kept])


def run_one(name: str, words: list[str]) -> int:
    of, parser = experiment(name), Parser(name, experiment(name).about)
    of.arguments(parser)
    options = parser.parse_args(words)
    options.output.mkdir(parents=True, exist_ok=True)  # before the work: the folder may not be writable
    outcome = of.study(Run(options))
    gallery.report(of, outcome, options.quick)
    files = gallery.save(of, outcome, options.output, command_of([name, *words]), options.quick)
    print(f"written: {', '.join(files)}")
    return outcome.code


FAULTS = (tr.InputError, tr.HardwareError, OSError)


def text_of(fault: Exception) -> str:
    return f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) and fault.filename else str(fault)


def run_all(words: list[str]) -> int:
    parser = Parser("all", "Runs every experiment of the papers.")
    papers = [name for name in NAMES if experiment(name).paper]
    parser.add_argument("--only", type=lambda text: names(text, papers), default=papers, metavar="LIST",
                        help="these, separated by commas")
    parser.add_argument("--again", action="store_true", help="also those with results of this version")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the gallery of the documentation")
    options = parser.parse_args(words)
    if options.page and (not options.page.name or options.page.is_dir()):
        raise InputError("--page", str(options.page), "is a folder", "a file")
    options.output.mkdir(parents=True, exist_ok=True)
    failed = {}
    for name in options.only:
        folder, own = options.output / name, ["--quick"] * options.quick
        kept = not options.again and gallery.is_fresh(folder, command_of([name, *own]))
        print(f"== {name}" + (": kept from an earlier run (--again repeats it)" if kept else ""), flush=True)
        try:
            if not kept and (code := run_one(name, [*own, "--jobs", str(options.jobs), "-o", str(folder)])):
                failed[name] = f"exit code {code}"
        except FAULTS as fault:
            failed[name] = text_of(fault)
    if failed:
        print("tilerail: error: failed experiments:", *(f"  {name}: {why}" for name, why in failed.items()), sep="\n",
              file=sys.stderr)
        return 1
    verdicts = gallery.page({name: experiment(name) for name in options.only}, options.output,
                            command_of(["all", *words]), options.quick, options.page)
    print(verdicts.to_string(index=False, max_colwidth=70))
    verdicts.to_csv(options.output / "all.csv", index=False)
    return 0


def main(words: list[str]) -> int:
    """Exit code: 0, whatever an experiment finds; 1 for wrong results of hardware, and for `all` if an experiment
    failed; 2 for bad input; 3 for missing hardware."""
    name, rest = words[0] if words else "--help", words[1:]
    try:
        if name in ("-h", "--help"):
            print(USAGE)
        elif name == "list":
            print("\n".join(f"{each:18} {experiment(each).title}" for each in NAMES))
        else:
            return run_all(rest) if name == "all" else run_one(name, rest)
        return 0
    except KeyboardInterrupt:
        print("tilerail: interrupted", file=sys.stderr, flush=True)
        os._exit(130)  # simulations in other threads do not stop
    except FAULTS as fault:
        print(f"tilerail: error: {text_of(fault)}", file=sys.stderr)
        return 3 if isinstance(fault, tr.HardwareError) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
