"""Checks of arguments: the texts, numbers and lists that the native module takes. All raise InputError."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Real
from typing import Any

from .errors import InputError

Value = str | int | float


def shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # of objects with a repr of their own, and of integers with thousands of digits
        return f"<{type(value).__name__}>"


def utf8(text: str, subject: str) -> str:
    """The text, which must not have surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(subject, text, "is not UTF-8") from None
    return text


def text_of(value: Value, subject: str) -> str:
    """A text, or a number as a text."""
    if isinstance(value, str):
        return utf8(str(value), subject)
    number = _integer(value)
    if number is not None and number.bit_length() <= 64:
        return str(number)
    real = _real(value)
    if number is None and real is not None:
        return repr(real)
    raise InputError(subject, shown(value), expected="a text or a number")


def _integer(value: Any) -> int | None:
    """Integers of Python and NumPy, but no bool."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _real(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
    except OverflowError:
        return None


def texts_of(values: Mapping[str, Value | None]) -> dict[str, str]:
    """Without values that are None."""
    return {key: text_of(value, key) for key, value in values.items() if value is not None}


def list_of(values: Any) -> list:
    """The elements of a list; a text or a number, also as an array without dimensions, is a list of one."""
    single = isinstance(values, (str, bytes, Mapping)) or getattr(values, "shape", None) == ()
    if isinstance(values, Iterable) and not single:
        return list(values)
    return [values]


def mapping_of(values: Any, subject: str) -> Mapping:
    return instance_of(values, Mapping, subject, "a dictionary")


def count_of(value: int, subject: str, least: int = 1, most: int = 2**31 - 1) -> int:
    """An integer in a range."""
    number = _integer(value)
    if number is None:
        raise InputError(subject, shown(value), expected="an integer")
    if not least <= number <= most:
        raise InputError(subject, shown(number), "is out of range", f"{least} to {most}")
    return number


def number_of(value: float, subject: str) -> float:
    number = _real(value)
    if number is None:
        raise InputError(subject, shown(value), expected="a number")
    return number


def flag_of(value: bool, subject: str) -> bool:
    return instance_of(value, bool, subject, "True or False")


def path_of(path: str | os.PathLike, subject: str) -> str:
    try:
        name = os.fspath(path)
    except TypeError:
        raise InputError(subject, shown(path), expected="a name of a file") from None
    name = utf8(os.fsdecode(name), subject)
    if "\0" in name:
        raise InputError(subject, name, expected="a name of a file")
    return name


def near(name: str, known: Iterable[str]) -> str:
    """The known names that are similar to a wrong one, else all."""
    return ", ".join(get_close_matches(name, known, cutoff=0.7) or known)


def check_names(names: Iterable[str], known: Iterable[str], function: str) -> None:
    """Checks the names of keyword arguments."""
    for name in names:
        if name not in known:
            raise InputError("argument", utf8(name, "argument"), f"does not exist in {function}", near(name, known))


def instance_of(value: Any, kind: type, subject: str, expected: str) -> Any:
    if isinstance(value, kind):
        return value
    raise InputError(subject, shown(value), expected=expected)
