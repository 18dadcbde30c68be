"""The command line of an experiment and its exit codes, which equal the `tilerail` command's."""

import argparse
import collections.abc
import os
import pathlib
import re
import shlex
import signal
import sys
import tempfile


class Failure(Exception):
    """Ends the experiment with one line on stderr and this exit code."""

    def __init__(self, message: str, code: int = 2):
        super().__init__(message)
        self.code = code


class Parser(argparse.ArgumentParser):
    """A parser with the options of every experiment. Reports errors in one line, like the `tilerail` command."""

    def __init__(self, description: str):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                         allow_abbrev=False)
        self.add_argument("--tilerail", default=os.environ.get("TILERAIL", "tilerail"), metavar="FILE",
                          help="the tilerail program [$TILERAIL, else on the PATH]")
        self.add_argument("-o", "--out", "--output", dest="output", type=_folder, default=".", metavar="DIR",
                          help="folder of the results [.; of 'tilerail experiment run' out/NAME]")
        self.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N",
                          help="simultaneous simulations [one a core]")

    def parse_args(self, args=None, namespace=None):
        for text in sys.argv[1:] if args is None else args:
            try:
                text.encode()
            except UnicodeEncodeError:
                shown = os.fsencode(text).decode("ascii", "backslashreplace")
                self.error(f"'{shown}' is not UTF-8 text, which tables and figures are")
        return super().parse_args(args, namespace)

    def error(self, message: str):
        raise Failure(f"{message} (see tilerail experiment run {pathlib.Path(self.prog).stem} -- --help)")


def _folder(text: str) -> str:
    """A folder that exists or can be created."""
    place = os.path.abspath(text)
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        raise argparse.ArgumentTypeError(f"'{text}' is not a folder: '{place}' is a file")
    if not os.access(place, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"'{text}' cannot be written: no permission in '{place}'")
    try:  # some file systems grant access and then fail
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise argparse.ArgumentTypeError(f"'{text}' cannot be written: {error.strerror} in '{place}'") from None
    return text


def page_file(text: str) -> pathlib.Path:
    """A writable file."""
    path = pathlib.Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is a folder; expected a file")
    _folder(str(path.parent))
    return path


def names(text: str) -> list[str]:
    found = text.split(",")
    if not all(found):
        raise argparse.ArgumentTypeError(f"'{text}' has an empty name; expected names separated by commas")
    return found


def positive(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,6}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def sizes(text: str) -> list[int]:
    """Sizes such as 8192,16K; K is 1024. Ascending, each once."""
    found = set()
    for part in text.split(","):
        match = re.fullmatch(r"([1-9][0-9]{0,6})(K?)", part.strip())
        if not match:
            raise argparse.ArgumentTypeError(f"'{part}' in '{text}' is not a size; expected for example 8192,16K")
        found.add(int(match[1]) * (1024 if match[2] else 1))
    return sorted(found)


def _file_name(path: str) -> str:
    return os.path.basename(path.rstrip("/")) or path


def command_text(name: str) -> str:
    """The command that reproduces these results, without programs, folders and other paths of this computer."""
    words, arguments = [], iter(sys.argv[1:])
    quick = ["--quick"] if "--quick" in sys.argv[1:] else []
    for word in arguments:
        option, equals, value = word.partition("=")
        if option in ("--tilerail", "-o", "--out", "--output", "--jobs"):
            if not equals:
                next(arguments, None)
        elif word != "--quick" and not word.startswith("-o"):
            words.append(option + equals + _file_name(value) if equals else _file_name(word))
    return shlex.join(["tilerail", "experiment", "run", name, *quick, *(["--", *words] if words else [])])


def size(text: str) -> int:
    """One size such as 8192 or 16K."""
    found = sizes(text)
    if len(found) != 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not one size; expected for example 16K")
    return found[0]


def check_free(files: collections.abc.Iterable[str], folders: list[str] = ()) -> None:
    """Checks, before any work, that no folder has the name of an output file, and no file the name of an output
    folder."""
    for path in files:
        if os.path.isdir(path):
            raise Failure(f"'{path}' is a folder; expected a file there, or another folder as -o")
    for path in folders:
        if os.path.lexists(path) and not os.path.isdir(path):
            raise Failure(f"'{path}' is a file; expected a folder there")


def _end_by(number: int) -> None:
    """Ends the process with this signal's default action, so the parent process sees it."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def run_experiment(main) -> None:
    """Calls main() and exits: 0, or the code of the Failure; 2 if a file or stdout cannot be written or read. SIGINT
    and SIGTERM end it after the removal of its child processes and staged files."""
    ended_by = []

    def interrupt(number, _):
        ended_by.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked by `tilerail experiment`
        code = main() or 0
        sys.stdout.flush()
    except Failure as failure:
        print(f"tilerail: error: {failure}", file=sys.stderr)
        code = failure.code
    except OSError as error:
        what = f"{error.filename}" if error.filename else "standard output: could not be written"
        print(f"tilerail: error: {what}: {error.strerror}", file=sys.stderr)
        code = 2
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest of its buffer goes nowhere
    except KeyboardInterrupt:
        _end_by(ended_by[-1])
    sys.exit(code)
