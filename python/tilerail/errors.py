"""Exceptions of TileRail."""

from __future__ import annotations


class InputError(ValueError):
    """Invalid input: an argument, a file, a machine or a matrix. The text is composed of the fields."""

    def __init__(self, text: str, subject: str = "", value: str | None = None, problem: str = "", expected: str = "",
                 place: str = ""):
        super().__init__(text)
        self.subject = subject  #: what is invalid, such as "tile"
        self.value = value  #: the value as given; None if nothing was given
        self.problem = problem
        self.expected = expected
        self.place = place  #: "file:line", or ""

    def __reduce__(self):  # exceptions of other processes
        return type(self), (str(self), self.subject, self.value, self.problem, self.expected, self.place)


class HardwareError(RuntimeError):
    """Required hardware, or a part of this build, is missing."""


class ExecutionError(RuntimeError):
    """Hardware failed during an execution."""
