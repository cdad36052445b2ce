"""Rows with their labels, as the generators return them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Labelled: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]


def in_random_order(
    X: NDArray[np.float64], y: NDArray[np.int64], rng: np.random.RandomState
) -> Labelled:
    """Mix the classes, so that consecutive folds and sequential training see all of them."""
    order = rng.permutation(len(y))
    return X[order], y[order]
