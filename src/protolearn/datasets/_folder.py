"""The folder of benchmark data that the environment variable ``PROTOLEARN_DATA`` names.

``NAME.csv.gz`` has a header row, numeric features, and the class in ``target``; ``NAME.npz`` dense
or CSR arrays for the parts train, dev and test.
"""

from __future__ import annotations

import csv
import gzip
import os
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from ._sizes import SIZES

VARIABLE = "PROTOLEARN_DATA"
TARGET = "target"
PARTS = ("train", "dev", "test")
CSR_FIELDS = ("data", "indices", "indptr", "shape")
IMAGE_SHAPES = {"mnist": (28, 28), "usps": (16, 16)}  # stored row by row
SPLIT_CSV = ("letter", "optdigits", "pendigits", "satimage")  # training rows, then test rows

# X is a NumPy array or a scipy.sparse CSR array.
Data: TypeAlias = tuple[Any, NDArray[np.str_]]


class Source(ABC):
    """One data set: its rows, and the little that a listing shows without reading them."""

    def __init__(self, name: str, origin: str) -> None:
        self.name = name
        self.origin = origin

    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Return the parts of the customary split; none when there is no such split."""

    @abstractmethod
    def read(self, part: str) -> Data:
        """Return the rows of one part, or of ``"all"`` parts stacked."""

    @abstractmethod
    def labels(self) -> NDArray[np.str_]:
        """Return the label of every row without reading the features."""

    @abstractmethod
    def feature_names(self) -> list[str]:
        """Return the names of the columns of X."""


class CsvSource(Source):
    """A data set in one gzip-compressed CSV file."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, str(path))
        self.path = path

    def parts(self) -> tuple[str, ...]:
        return ("train", "test") if self.name in SPLIT_CSV else ()

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
        n_train, n_test = (sum(rows.values()) for rows in SIZES[self.name].parts.values())
        if n_rows != n_train + n_test:
            raise ValueError(
                f"{self.path} has {n_rows} rows, but the customary split of {self.name!r} needs "
                f"{n_train} training rows followed by {n_test} test rows. Use part='all' and "
                "split the rows yourself, or replace the file."
            )
        return slice(None, n_train) if part == "train" else slice(n_train, None)


@contextmanager
def _table(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[str, list[str]]]]]:
    """Open the file; yield its column names, and its rows, each with its place in words."""
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
    """Yield the rows, if they have a class and the right length; blank lines do not count."""
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


class NpzSource(Source):
    """A data set in one NumPy archive; object arrays, which run code, are refused."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, str(path))
        self.path = path

    def parts(self) -> tuple[str, ...]:
        with self._open() as archive:
            return self._parts(archive)

    def read(self, part: str) -> Data:
        with self._open() as archive:
            parts = self._parts(archive) if part == "all" else (part,)
            blocks = [self._features(archive, part) for part in parts]
            labels = [self._labels(archive, part) for part in parts]
        for part, block, y in zip(parts, blocks, labels, strict=True):
            if block.shape != (len(y), blocks[0].shape[1]):
                raise self._malformed_error(
                    f"part {part!r} has shape {block.shape}, but {len(y)} labels and "
                    f"{blocks[0].shape[1]} features were expected"
                )
        return _stack(blocks), np.concatenate(labels)

    def labels(self) -> NDArray[np.str_]:
        with self._open() as archive:
            return np.concatenate([self._labels(archive, part) for part in self._parts(archive)])

    def feature_names(self) -> list[str]:
        with self._open() as archive:
            n_features = self._width(archive, self._parts(archive)[0])
            if "vocabulary" in archive.files:
                names = [str(word) for word in self._text(archive, "vocabulary")]
            elif self.name in IMAGE_SHAPES:
                height, width = IMAGE_SHAPES[self.name]
                names = [f"pixel_{i}_{j}" for i in range(height) for j in range(width)]
            else:
                names = [f"x{j}" for j in range(n_features)]
        if len(names) != n_features:
            raise self._malformed_error(
                f"it has {n_features} features but {len(names)} names for them"
            )
        return names

    def _open(self) -> Any:
        # Without this check NumPy takes a file that is no archive for a pickle.
        if not zipfile.is_zipfile(self.path):
            raise self._malformed_error("it is not a NumPy archive")
        return np.load(self.path, allow_pickle=False)

    def _parts(self, archive: Any) -> tuple[str, ...]:
        keys = set(archive.files)
        parts = tuple(part for part in PARTS if keys & {f"X_{part}", f"X_{part}_data"})
        if not parts:
            raise self._malformed_error("it has neither 'X_train' nor 'X_train_data'")
        return parts

    def _features(self, archive: Any, part: str) -> Any:
        if f"X_{part}" in archive.files:
            X = self._array(archive, f"X_{part}")
            if X.ndim != 2:
                raise self._malformed_error(f"'X_{part}' has {X.ndim} dimensions instead of 2")
            return X
        data, indices, indptr, shape = (
            self._array(archive, f"X_{part}_{field}") for field in CSR_FIELDS
        )
        try:
            X = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
            # A column index out of range would make SciPy read foreign memory.
            X.check_format(full_check=True)
        except (TypeError, ValueError) as error:
            raise self._malformed_error(f"'X_{part}_*' is no CSR matrix ({error})") from error
        return X

    def _labels(self, archive: Any, part: str) -> NDArray[np.str_]:
        y = self._array(archive, f"y_{part}")
        if y.ndim != 1:
            raise self._malformed_error(f"'y_{part}' has {y.ndim} dimensions instead of 1")
        if y.dtype.kind in "SU":
            return self._text(archive, f"y_{part}")
        if "target_names" not in archive.files:
            return y.astype(np.str_)
        names = self._text(archive, "target_names")
        if y.dtype.kind not in "iu" or (len(y) and not 0 <= y.min() <= y.max() < len(names)):
            raise self._malformed_error(f"'y_{part}' must index the {len(names)} 'target_names'")
        decoded: NDArray[np.str_] = names[y]
        return decoded

    def _width(self, archive: Any, part: str) -> int:
        """Return the number of features, from the header of the stored array alone."""
        if f"X_{part}" not in archive.files:
            return int(self._array(archive, f"X_{part}_shape")[1])
        try:
            with zipfile.ZipFile(self.path) as file, file.open(f"X_{part}.npy") as member:
                version = npy.read_magic(member)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                return int(read(member)[0][1])
        except (IndexError, ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise self._malformed_error(f"'X_{part}' is no matrix ({error})") from error

    def _text(self, archive: Any, key: str) -> NDArray[np.str_]:
        text = self._array(archive, key)
        return np.char.decode(text, "utf-8") if text.dtype.kind == "S" else text.astype(np.str_)

    def _array(self, archive: Any, key: str) -> NDArray[Any]:
        if key not in archive.files:
            raise self._malformed_error(f"it has no array {key!r}")
        try:
            array: NDArray[Any] = archive[key]
        except (ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise self._malformed_error(f"array {key!r} cannot be read ({error})") from error
        return array

    def _malformed_error(self, reason: str) -> ValueError:
        return ValueError(
            f"{self.path} is not a data set: {reason}. Expected arrays X_train and y_train (and "
            "the same for dev and test), or X_train_data, X_train_indices, X_train_indptr and "
            "X_train_shape for a sparse X, without pickled objects. Copy the file again."
        )


def _stack(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    return sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.vstack(blocks)


KINDS = {".csv.gz": CsvSource, ".npz": NpzSource}


def folder_sources() -> dict[str, Source]:
    """Return the sets of the folder by name; NAME.csv.gz goes before NAME.npz."""
    folder = _folder()
    if folder is None or not folder.is_dir():
        return {}
    # Names come from this listing only: a name given by a caller never becomes a path.
    return {
        path.name.removesuffix(suffix): kind(path.name.removesuffix(suffix), path)
        for suffix, kind in reversed(KINDS.items())
        for path in sorted(folder.glob(f"[!.]*{suffix}"))
        if path.is_file()
    }


def folder_state() -> str:
    """Return a text that says what a user can do to have more sets."""
    folder = _folder()
    if folder is None:
        return (
            f"Other sets are read from a folder of NAME.csv.gz and NAME.npz files: set the "
            f"environment variable {VARIABLE} to it (it is not set)."
        )
    if not folder.is_dir():
        return (
            f"The environment variable {VARIABLE} is set to {str(folder)!r}, which is not a "
            "folder: set it to the folder of NAME.csv.gz and NAME.npz files."
        )
    return (
        f"Other sets are read from {str(folder)!r}, to which the environment variable "
        f"{VARIABLE} is set: put NAME.csv.gz or NAME.npz there, or set it to another folder."
    )


def _folder() -> Path | None:
    value = os.environ.get(VARIABLE)
    return Path(value).expanduser() if value else None
