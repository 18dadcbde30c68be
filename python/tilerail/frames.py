"""Tables of native columns: dictionaries of arrays, and tables of pandas and Arrow of the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow


def of_native(name: str, doc: str) -> Any:
    """Property that reads this attribute of the native object."""
    return property(lambda owner: getattr(owner._native, name), doc=doc)


def table_of_native(name: str, doc: str) -> Any:
    """A property: a copy of the table of this method of the native object."""
    return property(lambda owner: frame_of(getattr(owner._native, name)()).copy(), doc=doc)


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


def arrow_of(columns: dict) -> pyarrow.Table:
    """Numbers and codes are not copied. A column of (codes, names) becomes a dictionary-encoded one."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("Arrow tables, also for polars, need pyarrow: pip install pyarrow") from None

    def column(values):
        if not isinstance(values, tuple):
            return pyarrow.array(values)
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(values[0]), pyarrow.array(values[1], pyarrow.string()))

    return pyarrow.table({name: column(values) for name, values in columns.items()})


def frame_of_rows(rows: list[dict]) -> pandas.DataFrame:
    """A column for each key of any row, in order of first use."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pandas_of().DataFrame(rows, columns=names)
