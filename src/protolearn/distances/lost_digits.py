"""Distances whose digits a product has lost, and how they are found again.

``|x - w|^2`` by products is a sum of large terms of either sign, if x lies much further from the
centre of the prototypes than from the nearest of them: as where one prototype sits on an outlier,
or groups are far from each other. Such rows are noticed by the size of their terms, and measured
once more: single precision in double, double precision feature by feature. What is left of a
row that lies on a prototype, but for the rounding of either, is no distance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._parameters import Floats, Indices, rows_at_a_time

KEPT = {"d": 1e-6, "f": 1e-3}
"""Share of itself that the smallest distance of a row may be wrong by, in either precision."""

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Share of themselves by which equal numbers may differ."""

MANY = 4
"""Rows for each prototype from which on it is worth while to compare prototypes first."""


def tolerated(dtype: np.dtype[Any]) -> float:
    """Give the share of its terms below which a sum has too few digits left."""
    return float(np.finfo(dtype).eps) / KEPT[dtype.char]


def sizes(norms: Any, far: Any) -> Any:
    """Give the size of the terms of the distance to the nearest prototype.

    ``norms`` are the squared distances of rows to the centre of the prototypes, from which the
    nearest one is hardly further away; ``far`` is the distance of the centre from the origin, with
    which the rounding of the rows themselves grows.
    """
    length = np.sqrt(norms)
    return 4.0 * length * (length + far)


def rows_of_lost_digits(D: Any, size: Any) -> Indices:
    """Give the rows whose smallest distance is too small for the size of its terms."""
    bound = tolerated(D.dtype) * size
    if not len(D) or D.min() >= bound.max():  # what is true of most blocks
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(D.min(axis=1) < bound)


def restored(
    D: Any,
    X: Any,
    norms: Any,
    far: Any,
    in_double: Callable[[Any], Any],
    one_by_one: Callable[[Floats], Floats],
) -> Any:
    """Give distances with the digits that products have lost.

    Parameters
    ----------
    D : array of shape (n, K)
        Distances by products, changed in place.
    X : {array, CSR matrix} of shape (n, d)
        The rows.
    norms, far : array of shape (n,), and float or array of shape (n,)
        As in :func:`sizes`.
    in_double, one_by_one : callable
        Give the distances of some rows by products in double precision, and without products.
    """
    rows = rows_of_lost_digits(D, sizes(norms, far))
    if not len(rows):
        return D
    if D.dtype == np.float32:
        D[rows] = in_double(X[rows].astype(np.float64))
        return D
    rounding = np.square(ROUNDING * (np.sqrt(norms) + far))
    pieces = len(rows) // rows_at_a_time(X.shape[1]) + 1 if issparse(X) else 1
    for some in np.array_split(rows, pieces):
        found = one_by_one(X[some].toarray() if issparse(X) else X[some])
        D[some] = np.where(found > rounding[some, None], found, 0.0)
    return D


def are_apart(V: Floats, size: float, dtype: np.dtype[Any]) -> bool:
    """Tell whether prototypes differ by more than products of some size can be wrong by."""
    squares = np.einsum("ij,ij->i", V, V)
    S = squares[:, None] + squares - 2.0 * V @ V.T
    S[np.diag_indices(len(S))] = np.inf
    return bool(S.min() > tolerated(dtype) * size)
