"""Exceptions of TileRail."""

from __future__ import annotations

import re

_LONGEST_VALUE = 400


class InputError(ValueError):
    """Invalid input: an argument, a file, a machine or a matrix.

    The text is composed of the fields, as the command prints it: "PLACE: SUBJECT: 'VALUE' PROBLEM; expected EXPECTED".
    Without a problem, it is "SUBJECT: 'VALUE' is not EXPECTED".
    """

    def __init__(self, subject: str, value: str | None = None, problem: str = "", expected: str = "", place: str = ""):
        super().__init__(subject, value, problem, expected, place)
        self.subject = subject  #: such as "tile"
        self.value = value  #: the value as given; None if nothing was given
        self.problem = problem
        self.expected = expected
        self.place = place  #: "file:line", or ""

    def __str__(self) -> str:
        value = "" if self.value is None else _quoted(self.value) + " "
        expected = self.expected and ("; expected " if self.problem else "is not ") + self.expected
        places = "".join(f"{part}: " for part in (self.place, self.subject) if part)
        return _printable(places + value + self.problem + expected)


def _quoted(value: str) -> str:
    return f"'{value[:_LONGEST_VALUE]}{'...' if len(value) > _LONGEST_VALUE else ''}'"


def _printable(text: str) -> str:
    """On one line, with escapes for control characters and for surrogates."""
    text = re.sub("[\x00-\x1f\x7f]", lambda match: f"\\x{ord(match[0]):02x}", text)
    return text.encode("utf-8", "backslashreplace").decode()


class HardwareError(RuntimeError):
    """Required hardware, or a part of this build, is missing."""


class ExecutionError(RuntimeError):
    """Hardware failed during an execution."""
