"""Reads the tables of `tilerail whatif` and `tilerail sweep`."""

import csv
import os

from .timeline import TimelineError


class TableError(TimelineError):
    """An unexpected table. The message contains file and column."""


def read_table(path: str | os.PathLike, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of a CSV file that has at least these columns, and at least one row."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
            names = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"cannot read '{path}': {error}") from None
    for column in columns:
        if column not in names:
            raise TableError(f"{path}: no column '{column}'; expected a table of this kind")
    if not rows:
        raise TableError(f"{path}: no rows; expected at least one")
    return rows


def number(row: dict[str, str], column: str, path: str | os.PathLike) -> float:
    try:
        return float(row[column])
    except (TypeError, ValueError):
        raise TableError(f"{path}: column '{column}': {row[column]!r} is not a number") from None
