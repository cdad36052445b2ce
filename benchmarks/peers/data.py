"""The data sets of the comparisons, exported so that every interpreter reads the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from protolearn import datasets

from .process import Unavailable

PIXELS = {"mnist": 255.0}
"""Sets whose features are divided by a number instead of z-scored."""

FOLDS = 5
"""Parts of a set, of which each is the test part once."""

Parts = tuple[NDArray, NDArray, NDArray, NDArray]


class Exports:
    """Archives of sets, in a folder that the caller removes."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, name: str) -> str:
        """Give the archive of a set, written on first demand."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            write(path, name, split(name))
        return str(path)

    def folds(self, name: str) -> list[str]:
        """Give the archives of the folds of a whole set, written on first demand."""
        paths = [self.folder / f"{name}_{k}.npz" for k in range(FOLDS)]
        if not paths[-1].exists():
            for path, parts in zip(paths, folds(name), strict=True):
                write(path, name, parts)
        return [str(path) for path in paths]


def write(path: Path, name: str, parts: Parts) -> None:
    """Write training and test part of a set, with codes for labels, and how to scale them."""
    X, X_test, y, y_test = parts
    center, spread = scaling(name, X)
    codes = np.unique(np.concatenate([y, y_test]), return_inverse=True)[1]
    np.savez(
        path,
        X=X,
        X_test=X_test,
        y=codes[: len(y)],
        y_test=codes[len(y) :],
        center=center,
        spread=spread,
    )


def split(name: str) -> Parts:
    """Give training and test rows, then their labels: by custom, else 70 to 30 in each class."""
    check_known(name)
    if "train" in datasets.describe(name).parts:
        (X, y), (X_test, y_test) = (datasets.load(name, part) for part in ("train", "test"))
        return X, X_test, y, y_test
    X, y = datasets.load(name)
    return tuple(train_test_split(X, y, test_size=0.3, stratify=y, random_state=0))


def folds(name: str) -> Iterator[Parts]:
    """Give the same for each fold: stratified, shuffled with one seed."""
    check_known(name)
    X, y = datasets.load(name)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        yield X[train], X[test], y[train], y[test]


def check_known(name: str) -> None:
    """Raise if there is no such set here."""
    if name not in datasets.names():
        raise Unavailable(f"no data set {name}: let PROTOLEARN_DATA name a folder that has it")


def scaling(name: str, X: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give what to subtract from the features and what to divide them by, from training rows."""
    if name in PIXELS:
        return np.zeros(1), np.full(1, PIXELS[name])
    X = X.astype(np.float64)
    spread = X.std(axis=0)
    return X.mean(axis=0), np.where(spread > 1e-12, spread, 1.0)
