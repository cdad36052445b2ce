"""The folder of benchmark data that the environment variable ``PROTOLEARN_DATA`` names.

``NAME.csv.gz`` has a header row, numeric features, and the class in ``target``; ``NAME.npz`` dense
or CSR arrays for the parts train, dev and test.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..reading import TableFileError, open_table, read_table
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
        names = self.feature_names()
        frame = self._frame(None, dict.fromkeys(names, "number"))
        X = np.stack([frame[name] for name in names], axis=1)
        y = frame[TARGET].astype(np.str_)
        if part == "all":
            return X, y
        rows_of_part = self._rows_of(part, len(y))
        return X[rows_of_part], y[rows_of_part]

    def labels(self) -> NDArray[np.str_]:
        return self._frame([TARGET], {})[TARGET].astype(np.str_)

    def feature_names(self) -> list[str]:
        try:
            names = list(open_table(self.path).names)
        except TableFileError as error:
            raise self._error(error) from None
        if len(names) < 2 or names[-1] != TARGET:
            raise ValueError(
                f"{self.path}, header: expected the names of the features and then {TARGET!r} as "
                f"the last column, got {names!r}."
            )
        return names[:-1]

    def _frame(self, columns: list[str] | None, kinds: dict[str, str]) -> NDArray[Any]:
        """Return columns of the file; a ValueError unless all is clear and each row has a class."""
        try:
            options: dict[str, Any] = {"target": TARGET, "kinds": kinds, "strict": True}
            frame = read_table(self.path, columns=columns, **options).frame
        except TableFileError as error:
            raise self._error(error) from None
        lost = [row for row, label in enumerate(frame[TARGET]) if label is None]
        if lost:
            raise ValueError(
                f"{self.path}, row {lost[0] + 1}, column {TARGET!r}: the class is missing. "
                "Write a class name there or remove the row."
            )
        return frame

    def _error(self, error: Exception) -> ValueError:
        return ValueError(f"{self.path} cannot be read as a data set: {error}")

    def _rows_of(self, part: str, n_rows: int) -> slice:
        n_train, n_test = (sum(rows.values()) for rows in SIZES[self.name].parts.values())
        if n_rows != n_train + n_test:
            raise ValueError(
                f"{self.path} has {n_rows} rows, but the customary split of {self.name!r} needs "
                f"{n_train} training rows followed by {n_test} test rows. Use part='all' and "
                "split the rows yourself, or replace the file."
            )
        return slice(None, n_train) if part == "train" else slice(n_train, None)


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
            raise self._malformed_error(f"'X_{part}' is not a matrix ({error})") from error

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
