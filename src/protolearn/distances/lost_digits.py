"""Distances whose digits a product has lost, and how they are found again.

``|x - w|^2`` by products is a sum of large terms of either sign, if x lies much further from the
centre of the prototypes than from the nearest of them: as where one prototype sits on an outlier,
or groups are far from each other. Such rows are noticed by the size of their terms, and measured
once more: single precision in double, double precision by differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import CHUNK_BYTES, Floats, Indices
from ..codebook import Codebook
from .distance import TOLERATED

MANY = 4
"""Rows for each prototype from which on it is worth while to compare prototypes first."""

FEW = 64
"""Dimensions, about, in which prototypes are compared first: they are not nearer in all."""


def sizes(norms: Any, far: Any) -> Any:
    """Return the size of the terms of the distance to the nearest prototype.

    ``norms`` are the squared distances of rows to the centre of the prototypes, from which the
    nearest one is hardly further away; ``far`` is the distance of the centre from the origin, with
    which the rounding of the rows themselves grows.
    """
    length = np.sqrt(norms)
    return 4.0 * length * (length + far)


def rows_of_lost_digits(D: Any, size: Any) -> Indices:
    """Return the rows whose smallest distance is too small for the size of its terms."""
    return np.flatnonzero(D.min(axis=1) < TOLERATED[D.dtype.char] * size)


def restore_digits(
    D: Any,
    X: Any,
    norms: Any,
    far: Any,
    in_double: Callable[[Any], Any],
    one_by_one: Callable[[Floats], Floats],
) -> Any:
    """Return the distances D of rows by products, changed in place, with the digits they lost.

    ``norms`` and ``far`` are as in :func:`sizes`; ``in_double`` and ``one_by_one`` return the
    distances of some rows by products in double precision, and without products.
    """
    rows = rows_of_lost_digits(D, sizes(norms, far))
    if not len(rows):
        return D
    if D.dtype == np.float32:
        D[rows] = in_double(X[rows].astype(np.float64))
        return D
    if not issparse(X):
        D[rows] = one_by_one(X[rows])
        return D
    size = max(CHUNK_BYTES // (8 * X.shape[1]), 1)
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        D[some] = one_by_one(X[some].toarray())
    return D


def distance_to_origin(codebook: Codebook, columns: Any = 1.0) -> float:
    """Return how far the centre is from the origin, in features in which prototypes differ.

    ``columns`` are the lengths of features under a linear map.
    """
    differ = (codebook.prototypes != codebook.center).any(axis=0)
    return float(np.linalg.norm(np.where(differ, columns * codebook.center, 0.0)))


def are_apart(codebook: Codebook, mapped: Floats, raised: Floats, dtype: np.dtype[Any]) -> bool:
    """Whether a product of rows with ``raised`` has the digits to separate the prototypes.

    ``mapped`` are the prototypes where their distances are Euclidean, relative to the centre.
    Those that are equal have equal products.
    """
    share, center = 4.0 * TOLERATED[dtype.char], codebook.center
    far = 2.0 * _longest(codebook.prototypes) + _longest(center[None])
    some = mapped[:, :: max(mapped.shape[1] // FEW, 1)]
    if _least_square(some) > share * _longest(raised) * far:  # as mostly
        return True
    reach = np.abs(center) + np.abs(codebook.prototypes - center).max(axis=0)
    bound = share * float((np.abs(raised) @ reach).max())
    return _least_square(mapped) > bound or _least_square(np.unique(mapped, axis=0)) > bound


def _longest(V: Floats) -> float:
    """Return the length of the longest row."""
    return math.sqrt(float(np.einsum("ij,ij->i", V, V).max()))


def _least_square(V: Floats) -> float:
    """Return the smallest squared distance of two rows."""
    squares = np.einsum("ij,ij->i", V, V)
    S = V @ (-2.0 * V).T
    S += squares
    S += squares[:, None]
    np.fill_diagonal(S, np.inf)
    return float(S.min())
