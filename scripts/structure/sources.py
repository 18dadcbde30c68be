"""The files of the project, and their lengths."""

import pathlib
import statistics

ROOT = pathlib.Path(__file__).resolve().parents[2]

CPP = {".cpp", ".hpp", ".cu", ".c", ".h"}
CODE = CPP | {".py", ".sh"}
NOT_OURS = {"build", "out"}  # output of programs; hidden folders are also skipped

MOST_LINES = 600


def files(root, suffixes):
    """Paths below `root` with one of `suffixes`, relative to it and sorted."""
    found = []
    for folder in root.iterdir():
        if folder.is_dir() and folder.name not in NOT_OURS and not folder.name.startswith("."):
            found += (path for path in folder.rglob("*") if path.suffix in suffixes and path.is_file())
        elif folder.suffix in suffixes:
            found.append(folder)
    return sorted(path.relative_to(root) for path in found)


def lengths(root):
    """Lines of every source file."""
    return {path: len((root / path).read_text().splitlines()) for path in files(root, CODE)}


def median(lines):
    return statistics.median(lines.values())


def file_faults(lines):
    return [f"{path}: {count} lines, more than {MOST_LINES}" for path, count in lines.items() if count > MOST_LINES]
