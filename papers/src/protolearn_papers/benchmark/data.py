"""The small sets, and the folds that all models share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from protolearn import datasets

from ..folds import stratified

SETS = (
    "diabetes",
    "glass",
    "glass2",
    "heart",
    "ionosphere",
    "iris",
    "segment",
    "sonar",
    "vehicle",
    "wdbc",
    "wine",
)
QUICK = ("iris", "wine")
"""Sets of the reduced version."""

SHORTENED, MOST_ROWS = ("segment",), 700
"""Large sets, and how many rows of them are drawn, with the shares of their classes."""


@cache
def given(name: str, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Load a set, or a draw of its rows."""
    X, y = datasets.fetch(name)
    if name in SHORTENED:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=seed)
    return X, y


def splits(name: str, folds: int, seed: int) -> list[Any]:
    """Return training and test rows of each fold."""
    X, y = given(name, seed)
    return stratified(X, y, folds, seed)
