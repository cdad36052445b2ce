"""Data sets in ``NAME.npz``: dense or CSR arrays for the parts train, dev and test."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from ._source import Data, Source

PARTS = ("train", "dev", "test")
CSR_FIELDS = ("data", "indices", "indptr", "shape")
IMAGE_SHAPES = {"mnist": (28, 28), "usps": (16, 16)}  # stored row by row


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
                raise self._malformed(
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
            raise self._malformed(f"it has {n_features} features but {len(names)} names for them")
        return names

    def _open(self) -> Any:
        # Without this check NumPy takes a file that is no archive for a pickle.
        if not zipfile.is_zipfile(self.path):
            raise self._malformed("it is not a NumPy archive")
        return np.load(self.path, allow_pickle=False)

    def _parts(self, archive: Any) -> tuple[str, ...]:
        keys = set(archive.files)
        parts = tuple(part for part in PARTS if keys & {f"X_{part}", f"X_{part}_data"})
        if not parts:
            raise self._malformed("it has neither 'X_train' nor 'X_train_data'")
        return parts

    def _features(self, archive: Any, part: str) -> Any:
        if f"X_{part}" in archive.files:
            X = self._array(archive, f"X_{part}")
            if X.ndim != 2:
                raise self._malformed(f"'X_{part}' has {X.ndim} dimensions instead of 2")
            return X
        data, indices, indptr, shape = (
            self._array(archive, f"X_{part}_{field}") for field in CSR_FIELDS
        )
        try:
            X = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
            # A column index out of range would make SciPy read foreign memory.
            X.check_format(full_check=True)
        except (TypeError, ValueError) as error:
            raise self._malformed(f"'X_{part}_*' is no CSR matrix ({error})") from error
        return X

    def _labels(self, archive: Any, part: str) -> NDArray[np.str_]:
        y = self._array(archive, f"y_{part}")
        if y.ndim != 1:
            raise self._malformed(f"'y_{part}' has {y.ndim} dimensions instead of 1")
        if y.dtype.kind in "SU":
            return self._text(archive, f"y_{part}")
        if "target_names" not in archive.files:
            return y.astype(np.str_)
        names = self._text(archive, "target_names")
        if y.dtype.kind not in "iu" or (len(y) and not 0 <= y.min() <= y.max() < len(names)):
            raise self._malformed(f"'y_{part}' must index the {len(names)} 'target_names'")
        decoded: NDArray[np.str_] = names[y]
        return decoded

    def _width(self, archive: Any, part: str) -> int:
        """Count the features from the header of the stored array, without reading its rows."""
        if f"X_{part}" not in archive.files:
            return int(self._array(archive, f"X_{part}_shape")[1])
        try:
            with zipfile.ZipFile(self.path) as file, file.open(f"X_{part}.npy") as member:
                version = npy.read_magic(member)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                return int(read(member)[0][1])
        except (IndexError, ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise self._malformed(f"'X_{part}' is no matrix ({error})") from error

    def _text(self, archive: Any, key: str) -> NDArray[np.str_]:
        text = self._array(archive, key)
        return np.char.decode(text, "utf-8") if text.dtype.kind == "S" else text.astype(np.str_)

    def _array(self, archive: Any, key: str) -> NDArray[Any]:
        if key not in archive.files:
            raise self._malformed(f"it has no array {key!r}")
        try:
            array: NDArray[Any] = archive[key]
        except (ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise self._malformed(f"array {key!r} cannot be read ({error})") from error
        return array

    def _malformed(self, reason: str) -> ValueError:
        return ValueError(
            f"{self.path} is not a data set: {reason}. Expected arrays X_train and y_train (and "
            "the same for dev and test), or X_train_data, X_train_indices, X_train_indptr and "
            "X_train_shape for a sparse X, without pickled objects. Copy the file again."
        )


def _stack(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    return sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.vstack(blocks)
