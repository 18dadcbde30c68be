"""Values as the texts of options, which errors show as the caller gave them."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import InputError

Value = str | int | float


def text_of(value: Value, subject: str) -> str:
    """Raises InputError for values other than texts and numbers."""
    if isinstance(value, (str, float)) and not isinstance(value, bool):
        return str(value) if isinstance(value, str) else repr(float(value))
    if hasattr(value, "__index__") and not isinstance(value, bool):  # also integers of NumPy
        return str(value.__index__())
    raise InputError(f"{subject}: {value!r} is not a text or a number", subject, repr(value),
                     expected="a text or a number")


def texts_of(**values: Value | None) -> dict[str, str]:
    """Without values that are None."""
    return {key: text_of(value, key) for key, value in values.items() if value is not None}


def options_of(options: Mapping[str, Value] | None) -> dict[str, str]:
    return {key: text_of(value, key) for key, value in (options or {}).items()}
