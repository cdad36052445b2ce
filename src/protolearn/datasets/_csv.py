"""Data sets in ``NAME.csv.gz``: a header row, numeric features, the class in ``target``."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._source import Data, Source

# Rows of the customary training and test part; the file holds them in this order.
CUSTOMARY_SPLITS = {
    "letter": (16000, 4000),
    "optdigits": (3823, 1797),
    "pendigits": (7494, 3498),
    "satimage": (4435, 2000),
}
TARGET = "target"


class CsvSource(Source):
    """A data set in one gzip-compressed CSV file."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, str(path))
        self.path = path

    def parts(self) -> tuple[str, ...]:
        return ("train", "test") if self.name in CUSTOMARY_SPLITS else ()

    def read(self, part: str) -> Data:
        features, labels = [], []
        with _table(self.path) as (columns, rows):
            for place, row in rows:
                features.append(_numbers(columns, row, f"{self.path}, {place}"))
                labels.append(row[-1])
        X, y = np.array(features, dtype=np.float64), np.array(labels, dtype=np.str_)
        if part == "all":
            return X, y
        rows_of_part = self._rows_of(part, len(y))
        return X[rows_of_part], y[rows_of_part]

    def labels(self) -> NDArray[np.str_]:
        with _table(self.path) as (_, rows):
            return np.array([row[-1] for _, row in rows], dtype=np.str_)

    def feature_names(self) -> list[str]:
        with _table(self.path) as (columns, _):
            return columns[:-1]

    def _rows_of(self, part: str, n_rows: int) -> slice:
        n_train, n_test = CUSTOMARY_SPLITS[self.name]
        if n_rows != n_train + n_test:
            raise ValueError(
                f"{self.path} has {n_rows} rows, but the customary split of {self.name!r} needs "
                f"{n_train} training rows followed by {n_test} test rows. Use part='all' and "
                "split the rows yourself, or replace the file."
            )
        return slice(None, n_train) if part == "train" else slice(n_train, None)


@contextmanager
def _table(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[str, list[str]]]]]:
    """Open the file: its column names, and its rows, each with its place in words."""
    try:
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            columns = next(reader, [])
            if len(columns) < 2 or columns[-1] != TARGET:
                raise ValueError(
                    f"{path}, header: expected the names of the features and then {TARGET!r} as "
                    f"the last column, got {columns!r}."
                )
            yield columns, _rows(path, reader, columns)
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{path} is not a readable gzip-compressed CSV file in UTF-8 ({error}). "
            "Copy or compress the file again."
        ) from error


def _rows(
    path: Path, reader: Iterator[list[str]], columns: list[str]
) -> Iterator[tuple[str, list[str]]]:
    """Check the length of each row and that it has a class; blank lines do not count."""
    number = 0
    for row in reader:
        if not row:
            continue
        number += 1
        if len(row) != len(columns):
            raise ValueError(
                f"{path}, row {number}: expected {len(columns)} columns as in the header "
                f"({columns[0]!r} to {columns[-1]!r}), got {len(row)}. Correct this row."
            )
        if not row[-1]:
            raise ValueError(
                f"{path}, row {number}, column {TARGET!r}: the class is missing. "
                "Write a class name there or remove the row."
            )
        yield f"row {number}", row
    if number == 0:
        raise ValueError(f"{path} has a header but no rows. Copy the file again.")


def _numbers(columns: list[str], row: list[str], place: str) -> list[float]:
    try:
        return [float(value) for value in row[:-1]]
    except ValueError:
        column, value = next(
            (column, value)
            for column, value in zip(columns, row, strict=True)
            if not _is_number(value)
        )
        raise ValueError(
            f"{place}, column {column!r}: expected a number, got {value!r}. "
            "Write 'nan' where a value is missing."
        ) from None


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
