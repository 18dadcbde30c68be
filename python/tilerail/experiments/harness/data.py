"""The reference tables, the problems of the papers' evaluations, and the libraries in them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

import pandas

from tilerail import InputError

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
KAROLINA, CLX_AI, HETERO = "karolina-hgx-a100", "clx-ai", "clx-ai-hetero"
TESTBED = "cocopelia-testbed-"  # 1 or 2
FOUR_GPUS, THREE_GPUS = REFERENCE / "four-gpus.toml", REFERENCE / "three-gpus.toml"


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def names(text: str, known: Iterable[str] = ()) -> list[str]:
    """The names in a list with commas, which must be ``known`` ones, if any are."""
    if wrong := [name for name in text.split(",") if known and name not in known]:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is not one of {', '.join(known)}")
    return text.split(",")


def table(name: str | Path, columns: tuple[str, ...] = ()) -> pandas.DataFrame:
    """A CSV file with remarks (lines that start with #), as texts; a name alone is a reference table. Raises InputError
    if it is not a CSV file or lacks one of ``columns``."""
    path = REFERENCE / f"{name}.csv" if isinstance(name, str) else name
    try:
        rows = pandas.read_csv(path, comment="#", dtype=str, keep_default_na=False)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(str(path), None, reason, "a CSV file") from None
    if missing := [column for column in columns if column not in rows]:
        raise InputError(str(path), None, f"has no column '{missing[0]}'", ", ".join(columns))
    return rows


def remarks(path: Path, *keys: str) -> dict[str, str]:
    """The lines '# key: value' of a table with these keys."""
    return dict(re.findall(rf"^# ({'|'.join(keys)}): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))


def numbers(rows: pandas.DataFrame, name: str, *columns: str) -> pandas.DataFrame:
    """The rows with numbers in these columns; empty cells are NaN. Raises InputError naming the cell."""
    rows = rows.copy()
    for column in columns:
        values = pandas.to_numeric(rows[column].replace("", None), errors="coerce")
        for line, (cell, value) in enumerate(zip(rows[column], values), 1):
            if cell and pandas.isna(value):
                raise InputError(f"{name}: row {line}: {column}", cell, "is not a number")
        rows[column] = values
    return rows


def dgemms(name: str, *more: str) -> pandas.DataFrame:
    """A reference table of products, with numbers in its sizes, its times and these columns."""
    rows = numbers(table(name), name, "M", "N", "K", "median_s", *more)
    rows["place"] = rows.loc_A + ":" + rows.loc_B + ":" + rows.loc_C
    rows = rows.drop(columns=["loc_A", "loc_B", "loc_C"])
    return rows.rename(columns={"M": "m", "N": "n", "K": "k", "median_s": "measured_s"})


def measured(name: str, machine: str) -> pandas.DataFrame:
    """The rows of a reference table of DGEMMs: library, machine, m, n, k, place, devices, tile, measured_s, ..."""
    rows = dgemms(name, "tile")
    if "devices" not in rows:
        rows["devices"] = "all"
    return rows.assign(machine=machine, dtype="f64", dataset=name)


def cocopelia(*libraries: str) -> pandas.DataFrame:
    """CoCoPeLia's measured times of these libraries, a row for each tile."""
    rows = table("cocopelia_measured")
    rows = rows[rows.library.isin(libraries)]
    rows = rows.assign(tile=rows.tiles.str.split(), measured_s=rows.seconds.str.split())
    rows = rows.explode(["tile", "measured_s"], ignore_index=True).drop(columns=["tiles", "seconds"])
    rows = rows.rename(columns={"M": "m", "N": "n", "K": "k", "routine": "blas"})
    rows = rows.astype({"m": int, "n": int, "k": int, "tile": int, "measured_s": float})
    vectors = rows.blas == "daxpy"
    rows.loc[vectors, ["n", "k"]] = 1
    return rows.assign(machine=TESTBED + rows.testbed, devices="0", dataset="cocopelia_measured",
                       dtype=rows.blas.map({"sgemm": "f32"}).fillna("f64"),
                       routine=vectors.map({True: "axpy", False: "gemm"}),
                       least=rows[["m", "n", "k"]].min(axis=1).where(~vectors, rows.m))


REGULAR_SIZES = [*range(5120, 16384 + 1, 1024), *range(20480, 32768 + 1, 2048)]  # thesis 4.3.1.3
CLX_AI_PLACES = ("h:h:h", "0:0:h", "4:2:h", "h:h:0", "h:0:5", "0:0:0", "0:1:2", "0:3:6", "4:2:5", "1:6:7")
IRREGULAR_PLACES = ("h:h:h", "0:0:0", "4:2:h", "h:h:0", "4:2:7")
SQUARE, FAT, THIN = SHAPES = ("square", "fat by thin", "thin by fat")


def _shapes(squares, fats, thins, ratios: tuple[int, ...], places: tuple[str, ...], machine: str) -> pandas.DataFrame:
    """Squares; fat x fat x fat / r; and thin x thin x r thin."""
    rows = [(SQUARE, side, side, side) for side in squares]
    rows += [(FAT, fat, fat, fat // r) for fat in fats for r in ratios]
    rows += [(THIN, thin, thin, thin * r) for thin, r in thins]
    found = pandas.DataFrame(rows, columns=["shape", "m", "n", "k"])
    return found.merge(pandas.Series(places, name="place"), how="cross").assign(
        machine=machine, flops=lambda each: 2.0 * each.m * each.n * each.k)


def clx_ai_dataset(step: int, machine: str) -> pandas.DataFrame:
    """Thesis 3.3.2.2: the 630 problems for step 1; for step 2, with least sizes and steps doubled, the 250 of 3.3.4."""
    kilo, ratios = 1024, (2, 8, 32)
    fats = range(8 * step * kilo, 33 * kilo, 4 * step * kilo)
    thins = [(fat * kilo // r, r) for fat in range(12 * step, 37, 4 * step) for r in ratios]
    return _shapes(range(2 * step * kilo, 23 * kilo, step * kilo), fats, thins, ratios, CLX_AI_PLACES, machine)


def irregular_dataset() -> pandas.DataFrame:
    """Thesis 4.3.5: the 305 points of figure 4.12."""
    thins = [(side, r) for side in range(5120, 11264 + 1, 1024) for r in (4, 8, 16)]
    return _shapes(REGULAR_SIZES, range(16384, 40960 + 1, 4096), thins, (4, 8, 16), IRREGULAR_PLACES, KAROLINA)


LIBRARIES = table("libraries").set_index("library")
MEASURED_COLOUR = "#30363d"
XT_LONGEST, XKBLAS_TILE = 8192, 1600  # tiles in the evaluation data on Karolina


def karolina_tile(library: str, least: int) -> int | None:
    """The tile of a library in the evaluation data of thesis 4.3, by the least of M, N and K; None: its own rule."""
    return {"cuBLASXt": max(1, min(least // 4, XT_LONGEST)), "XKBLAS": XKBLAS_TILE}.get(library)


def with_karolina_tiles(rows: pandas.DataFrame) -> pandas.DataFrame:
    least = rows[["m", "n", "k"]].min(axis=1)
    return rows.assign(tile=[karolina_tile(*each) for each in zip(rows.library, least)])


def factors(rows: pandas.DataFrame, problem: list[str], ours: str, others: tuple[str, ...], seconds="simulated_s"):
    """The other libraries' times over ours, by problem."""
    times = rows.pivot(index=problem, columns="library", values=seconds)
    return times[list(others)].div(times[ours], axis=0)


def rates(rows: pandas.DataFrame) -> pandas.Series:
    """Measured TFLOP/s of products."""
    return 2e-12 * rows.m * rows.n * rows.k / rows.measured_s


def with_libraries(rows: pandas.DataFrame, libraries: tuple[str, ...]) -> pandas.DataFrame:
    """Each row for each library."""
    return rows.merge(pandas.Series(libraries, name="library"), how="cross")


def squares(sizes: list[int], places: tuple[str, ...], machine: str) -> pandas.DataFrame:
    return _shapes(sizes, (), (), (), places, machine)
