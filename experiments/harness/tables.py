"""CSV files with remarks: lines starting with #, in the form '# key: value' above the column names."""

import csv
import dataclasses
import math
import pathlib

from .program import Failure


@dataclasses.dataclass(frozen=True)
class Row:
    """Cells of a line, by column. `where` is FILE:LINE for messages."""

    where: str
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def number(self, column: str) -> float:
        try:
            value = float(self.cells[column])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise Failure(f"{self.where}: {column}: '{self.cells[column]}' is not a number")
        return value

    def positive(self, column: str) -> float:
        try:
            value = self.number(column)
        except Failure:
            value = 0
        if value <= 0:
            raise Failure(f"{self.where}: {column}: '{self.cells[column]}' is not a positive number")
        return value

    def whole(self, column: str) -> int:
        value = self.positive(column)
        if value != int(value):
            raise Failure(f"{self.where}: {column}: '{self.cells[column]}' is not a whole number")
        return int(value)


def read_table(path: pathlib.Path, columns: list[str]) -> tuple[dict[str, str], list[Row]]:
    """The remarks and the rows of a file with at least `columns`."""
    remarks = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        table = csv.reader("" if line.startswith("#") else line for line in lines)
        cells = iter([(table.line_num, row) for row in table if row])
    except (UnicodeDecodeError, csv.Error):
        raise Failure(f"{path}: is not a CSV file") from None
    for line in lines:
        key, colon, value = line.removeprefix("# ").partition(": ")
        if line.startswith("# ") and colon:
            remarks[key] = value
    header = next(cells, (1, []))[1]
    if not set(columns) <= set(header):
        raise Failure(f"{path}: the columns are '{','.join(header)}'; expected '{','.join(columns)}'")
    rows = []
    for number, values in cells:
        if len(values) != len(header):
            raise Failure(f"{path}:{number}: {len(values)} cells; expected {len(header)}")
        rows.append(Row(f"{path}:{number}", dict(zip(header, values))))
    return remarks, rows
