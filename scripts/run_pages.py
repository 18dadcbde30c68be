"""Runs the commands in pages of documentation, and compares their output with the pages.

    TILERAIL=build/release/tilerail python3 scripts/run_pages.py [--update] [PAGE...]

PAGE is README.md, docs/tutorial.md or docs/design.md, for example; the default is these three.

A command is an indented line that starts with "$ ", continued in lines that start with "> ". The lines below it, up to
the next command or the end of the block, are its output, with "..." for omitted lines. A command without output lines
is only run. The commands of a page run one after another in an empty folder. A figure of the page that a command draws
under the same name is compared with the page's file. `python` is the interpreter of this script. Prints the changed
lines of each command (- the page, + the command), and the lines of text with numbers that no output of the page
contains any more. --update also writes the new lines and figures into the page; the text is not changed.

The comparison is exact except for
  * times of planning and simulating (VOLATILE);
  * commands that measure this machine (`calibrate`, `run`) or read a file written by such a command: each line must
    exist with other numbers, and a plan with another digest;
  * commands on GPUs without GPUs: they must end with exit code 3, and files of STAND_INS replace their measurements.
"""

import argparse
import difflib
import itertools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
INDENT = "    "
GAP = "..."
PAGES = ("README.md", "docs/tutorial.md", "docs/design.md")
VOLATILE = re.compile(r"(?<=planned in)( +)[\d.]+ [mun]?s\b|(?<=, took)( )[\d.]+ [mun]?s\b")
DIGEST = re.compile(r"\b[0-9a-f]{16}\b")  # of a plan
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?( ?(%|[kMGT]?(B|FLOP)(/s)?(/W)?|[munp]?[sJ]|W)(?!\w))?")
QUICK = {"calibrate --backend host": "calibrate --backend host --seconds 3"}  # instead of half a minute
STAND_INS = {"node.toml": "topologies/hgx-h200-1.toml"}
NO_HARDWARE = 3
QUOTED = re.compile(r"\d+(?:\.\d+)? ?(?:%|(?:[kMGT]?(?:B|FLOP)(?:/s)?(?:/W)?|[munp]?[sJ]|k?W|x)\b)")
FIGURE = re.compile(r"!\[[^\]]*\]\(([^)]*\.svg)\)")
DRAWN_BY = re.compile(r"Matplotlib v[\d.]+")
TEXT = re.compile(r"<!-- (.*?) -->")  # a label, before the lines that draw it


class Command:
    """A command of a page: its text, its output in the page, and the lines of the page [first, last) with this
    output."""

    def __init__(self, text, first):
        self.text, self.first, self.last, self.shown = text, first, first, []


def commands_of(lines):
    """The commands in the lines of a page."""
    found, current = [], None
    for number, line in enumerate(lines):
        if line.startswith(f"{INDENT}$ "):
            current = Command(line[len(INDENT) + 2 :], number + 1)
            found.append(current)
        elif current and number == current.first and line.startswith(f"{INDENT}> "):
            current.text += "\n" + line[len(INDENT) + 2 :]
            current.first = number + 1
        elif current and (line.startswith(INDENT) or not line):
            current.shown.append(line[len(INDENT) :])
        else:
            current = None
    for command in found:
        while command.shown and not command.shown[-1]:
            command.shown.pop()
        command.last = command.first + len(command.shown)
    return found


def canonical(line, measured):
    """A line without volatile parts. Measurements are reduced to their words, and rows of lists, which start with a
    number, to "#"."""
    line = VOLATILE.sub(" TIME", line.rstrip())
    if not measured:
        return line
    words = re.sub(r"\s+", " ", NUMBER.sub("#", DIGEST.sub("DIGEST", line))).strip()
    return "#" if words.startswith("#") else words


def agree(shown, actual):
    """Whether lines with gaps match the actual ones."""
    pieces = [[]]
    for line in shown:
        if line == GAP:
            pieces.append([])
        else:
            pieces[-1].append(line)
    at = 0
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        starts = range(at, len(actual) - len(piece) + 1)
        if index == 0:
            starts = starts[:1]
        if last:
            starts = [start for start in starts if start == len(actual) - len(piece)]
        found = next((start for start in starts if actual[start : start + len(piece)] == piece), None)
        if found is None:
            return False
        at = found + len(piece)
    return True


def first_word(line):
    return re.split(r"[\s,]", line.strip())[0]


def refreshed(shown, actual, measured):
    """The current version of the page's output lines, matched by first word; all lines without a match."""
    result, last = [], -1
    for line in (line for line in shown if line != GAP):
        index = next((i for i in range(last + 1, len(actual)) if first_word(actual[i]) == first_word(line)), None)
        if index is not None:
            result += [GAP] * (index > last + 1)
            result.append(line if canonical(line, measured) == canonical(actual[index], measured) else actual[index])
            last = index
    return result + [GAP] * (last < len(actual) - 1) if result else actual


def changed_lines(old, new):
    """Lines of a diff without context."""
    return [line for line in itertools.islice(difflib.unified_diff(old, new, n=0, lineterm=""), 2, None)
            if not line.startswith("@@")]


def quoted(lines):
    """Numbers with units, as "24.2ms" or "7%"."""
    return {re.sub(r"\s", "", number[0]) for line in lines for number in QUOTED.finditer(line)}


def stale_text(page, lines, gone):
    """Lines of text, not of outputs, with numbers from `gone`."""
    left = gone - quoted(line for line in lines if line.startswith(INDENT))
    return [f"{page}:{number}: the text quotes {', '.join(sorted(found))}, which no output contains any more"
            for number, line in enumerate(lines, 1)
            if not line.startswith(INDENT) and (found := left & quoted([line]))]


def same_figure(one, other):
    """Whether two SVG files show the same. Different versions of matplotlib draw lines differently; then only texts
    count."""
    if DRAWN_BY.findall(one) == DRAWN_BY.findall(other):
        return one == other
    return TEXT.findall(one) == TEXT.findall(other)


def check_figures(page, folder, update):
    """Figures of a page that differ from those drawn by its commands into a folder; with `update`, corrects them."""
    faults = []
    for path in (page.parent / name for name in FIGURE.findall(page.read_text())):
        drawn = folder / path.name
        if drawn.exists() and not (path.exists() and same_figure(path.read_text(), drawn.read_text())):
            faults.append(f"{path}: {page} now draws another figure")
            if update:
                shutil.copy(drawn, path)
    return faults


class Session:
    """Runs commands in one folder, and tracks files with measurements of this machine."""

    def __init__(self, folder):
        self.folder, self.measured_files = folder, set()
        program = pathlib.Path(os.environ.get("TILERAIL") or shutil.which("tilerail") or "tilerail").resolve()
        package = os.pathsep.join([str(program.parent / "python"), os.environ.get("PYTHONPATH", "")])
        self.environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": package,
                            "TILERAIL_TOPOLOGIES": str(ROOT / "topologies")}

    def is_measured(self, text):
        """Whether a command depends on this machine's speed. If so, its files do, too."""
        words = shlex.split(text)
        measured = text.startswith(("tilerail calibrate", "tilerail run")) or bool(self.measured_files & set(words))
        if measured:
            self.measured_files |= {word for word in words if re.fullmatch(r"[\w-]+\.\w+", word)}
        return measured

    def run(self, text):
        """A command's output lines and its exit code. Raises RuntimeError if it fails."""
        for name, path in STAND_INS.items():
            if name in text and "calibrate" not in text and not (self.folder / name).exists():
                shutil.copy(ROOT / path, self.folder / name)
        for slow, quick in QUICK.items():
            text = text.replace(slow, quick)
        text = text.replace("python -m", f"{sys.executable} -m")
        done = subprocess.run(["bash", "-c", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=3600, check=False)
        if done.returncode != (NO_HARDWARE if "--backend cuda" in text and done.returncode else 0):
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout.rstrip("\n").split("\n"), done.returncode


def check(page, session, update):
    """Differences between a page and its commands, as text; with `update`, corrects the page."""
    lines = page.read_text().split("\n")
    faults, moved, gone = [], 0, set()
    for command in commands_of(list(lines)):
        measured = session.is_measured(command.text)
        try:
            actual, code = session.run(command.text)
        except RuntimeError as error:
            faults.append(f"{page}:{command.first}: {command.text}\n{error}")
            continue
        shown, printed = ([canonical(line, measured) for line in text] for text in (command.shown, actual))
        if not shown or code or agree(shown, printed):
            continue
        new = refreshed(command.shown, actual, measured)
        lines[command.first + moved : command.last + moved] = [(INDENT + line).rstrip() for line in new]
        moved += len(new) - len(command.shown)
        gone |= quoted(command.shown)
        faults.append("\n".join([f"{page}:{command.first}: {command.text}", *changed_lines(command.shown, new)]))
    if update:
        page.write_text("\n".join(lines))
    return faults + stale_text(page, lines, gone)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the commands' output into the pages")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, default=[ROOT / page for page in PAGES], metavar="PAGE",
                        help=f"[{', '.join(PAGES)}]")
    options = parser.parse_args()
    for page in options.pages:
        if not page.is_file():
            parser.error(f"'{page}' is not a file")
    faults = []
    for page in options.pages:
        with tempfile.TemporaryDirectory(prefix="tilerail-pages-") as folder:
            faults += check(page, Session(pathlib.Path(folder)), options.update)
            faults += check_figures(page, pathlib.Path(folder), options.update)
    print("\n\n".join(faults) or "every command runs, and its output and its figures are as shown")
    return 1 if faults and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
