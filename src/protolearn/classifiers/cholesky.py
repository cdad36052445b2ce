"""Partial Cholesky factors of a Gram matrix that is never formed as a whole.

``Gram = L L^T`` up to a small residual: row i of L is an isometric copy of ``phi(x_i)`` in as many
coordinates as the Gram matrix has numerical rank. The pivots are samples that are far from the span
of those before. Some are tried at a time, so that most of the work is matrix products.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np

from .._arrays import Floats, Indices, as_floats, as_indices
from ..native import i8, matrix_out, native, types, vector, vector_out

RESIDUAL = 1e-10
"""Share of the largest squared length that counts as rounding, in double precision."""

NEGATIVE = 1e-8
"""Share of it by which a squared length may be negative, at least."""

TRIED = 32
"""Columns of the matrix that are asked for at a time."""

FAR = 0.1
"""Share of the largest squared residual that a pivot has to have."""


def partial_cholesky(
    diagonal: Floats, columns: Callable[[Indices], Floats], rounding: float = RESIDUAL
) -> tuple[Floats, Indices]:
    """Factor a positive semi-definite matrix by its diagonal and some of its columns.

    Parameters
    ----------
    diagonal : array of shape (n,)
        The diagonal.
    columns : callable
        Gives some columns, an array of shape (n, k) for k indices.
    rounding : float, default=1e-10
        Share of the largest squared length below which what is left of a sample is rounding.

    Returns
    -------
    L : array of shape (n, m)
        The factor. Its rows at the pivots are a lower triangle.
    pivots : array of shape (m,)
        The columns that were taken.
    """
    residual = np.array(diagonal, dtype=np.float64)
    if not residual.any():
        raise ValueError(
            "All rows of X have length zero in the feature space: they do not differ. Take another "
            "kernel, or features that vary."
        )
    largest = float(residual.max())
    lowest = -max(NEGATIVE, rounding) * largest
    _check_residual(residual, lowest)
    panels, pivots = [np.empty((len(residual), 0))], list[int]()
    while residual.max() > rounding * largest:
        tried = np.argsort(-residual, kind="stable")[:TRIED]
        rest = np.array(columns(tried), dtype=np.float64)
        for panel in panels:
            rest -= panel @ panel[tried].T
        least = max(FAR * residual.max(), rounding * largest)
        _append(panels, _eliminated(rest, tried, residual, pivots, least, lowest))
    return np.concatenate(panels, axis=1), as_indices(pivots)


def _append(panels: list[Floats], panel: Floats) -> None:
    """Append a panel, one with those before that are not wider: wide ones multiply faster."""
    narrow = [panel]
    while panels and panels[-1].shape[1] <= sum(other.shape[1] for other in narrow):
        narrow.append(panels.pop())
    panels.append(np.concatenate(narrow[::-1], axis=1))


def _eliminated(
    rest: Floats,
    tried: Indices,
    residual: Floats,
    pivots: list[int],
    least: float,
    lowest: float,
) -> Floats:
    """Take the pivots among the samples that are tried; give their columns of the factor."""
    panel, taken = np.zeros(rest.shape), 0
    while taken < len(tried):
        place = int(residual[tried].argmax())
        p = int(tried[place])
        if residual[p] <= least:
            break
        append_column(panel, taken, p, as_floats(rest[:, place]), residual)
        panel[pivots, taken] = 0.0  # they are within the span, but for rounding
        pivots.append(p)
        residual[pivots] = 0.0
        _check_residual(residual, lowest)
        taken += 1
    return panel[:, :taken]


def _check_residual(residual: Floats, lowest: float) -> None:
    """Raise if no vectors have such squared lengths."""
    if not np.isfinite(residual).all():
        raise ValueError(
            "The kernel gives NaN or infinity for rows of X; rescale X, for example with "
            "StandardScaler."
        )
    if lowest >= 0.0 or residual.min() < lowest:
        raise ValueError(
            "The kernel is not positive semi-definite: its Gram matrix is not that of vectors in "
            "any feature space, so that squared distances would be negative. Take another kernel, "
            "or add a constant to the diagonal of the Gram matrix."
        )


@numba.njit
def _dot(a, b, size):
    total = 0.0
    for k in range(size):
        total += a[k] * b[k]
    return total


@native(types.void(matrix_out, i8, i8, vector, vector_out))
def append_column(panel, j, p, column, residual):
    """Fill column j of a panel from what is left of column p; take its squares off the diagonal."""
    root = np.sqrt(residual[p])
    pivot = panel[p]
    for i in range(panel.shape[0]):
        entry = (column[i] - _dot(panel[i], pivot, j)) / root if i != p else root
        panel[i, j] = entry
        residual[i] -= entry * entry
