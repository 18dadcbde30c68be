"""Tables of native columns: dictionaries of arrays, and pandas DataFrames of the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


def pandas_of():
    try:
        import pandas
    except ImportError:
        raise ImportError("tables need pandas: pip install pandas") from None
    return pandas


def frame_of(columns: dict, attrs: dict | None = None) -> pandas.DataFrame:
    """Numbers are not copied. A column of (codes, names) becomes a categorical one. ``attrs``: facts of the table."""
    pandas = pandas_of()

    def column(values):
        if not isinstance(values, tuple):
            return values
        return pandas.Categorical.from_codes(values[0], categories=values[1])

    frame = pandas.DataFrame({name: column(values) for name, values in columns.items()}, copy=False)
    frame.attrs.update(attrs or {})
    return frame


def frame_of_rows(rows: list[dict]) -> pandas.DataFrame:
    """A column for each key of any row, in order of first use."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pandas_of().DataFrame(rows, columns=names)
