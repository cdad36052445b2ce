"""The rows that the search looks at, and which of them each fit leaves out."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils import resample

from ..._arrays import Indices

MOST_ROWS = 10_000
"""Rows that the search looks at; of more it takes a sample, class by class."""

N_FOLDS = 5
"""Parts of a split, unless all classes are smaller."""

N_SPLITS = 2
"""Times that the rows are split."""

FEWEST = 3
"""Rows of a class from which on they are held out: one remains when two folds are left out."""

Fold = tuple[Indices, Indices]
"""Training rows and held-out rows."""


class Pair(NamedTuple):
    """Two folds of a split that a fit leaves out.

    One is there to choose by, the other to tell what the choice is worth: the fit has seen neither.

    Attributes
    ----------
    train : array
        The rows to learn from.
    tests : pair of arrays
        The rows of each fold.
    folds : pair of int
        The numbers of the folds; those of a second split go on after the first.
    """

    train: Indices
    tests: tuple[Indices, Indices]
    folds: tuple[int, int]


def sampled(y: NDArray[Any], seed: int) -> Indices:
    """Return the rows that the search looks at."""
    rows = np.arange(len(y))
    if len(y) <= MOST_ROWS:
        return rows
    return np.sort(
        resample(rows, replace=False, n_samples=MOST_ROWS, stratify=y, random_state=seed)
    )


def splits(y: NDArray[Any], seed: int) -> list[list[Fold]]:
    """Split the rows several times into folds; each split holds out every row once.

    But for classes of one or two rows, which are always there to be learned.
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n_folds = min(N_FOLDS, int(counts.max()))
    rare = np.flatnonzero(counts[codes] < FEWEST)
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=N_SPLITS, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        folds = [
            (np.union1d(train, rare), np.setdiff1d(test, rare))
            for train, test in splitter.split(np.zeros(len(y)), y)
        ]
    return [folds[first : first + n_folds] for first in range(0, len(folds), n_folds)]


def pairs(split: list[Fold], first: int) -> list[Pair]:
    """Return all pairs of folds of a split; ``first`` is the number of its first fold."""
    return [
        Pair(
            np.intersect1d(split[i][0], split[j][0]),
            (split[i][1], split[j][1]),
            (first + i, first + j),
        )
        for i, j in combinations(range(len(split)), 2)
    ]
