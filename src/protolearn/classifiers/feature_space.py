"""The feature space of a kernel: coordinates in it, and distances to combinations of samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from scipy.linalg.lapack import dpstrf
from scipy.sparse import issparse

from .._arrays import Floats, Indices, as_floats, as_indices
from ..codebook import Codebook
from ..distances import Distance
from ..kernels import FeatureKernel
from ..native import i8, matrix_out, native, types, vector, vector_out

FAR = 1e3
"""How many times the rounding rows have to vary."""

RESIDUAL = 1e-10
"""Share of the largest squared length that counts as rounding, in double precision."""

NEGATIVE = 1e-8
"""Share of it by which a squared length may be negative, at least."""

MOST_WHOLE = 2000
"""Rows up to which the whole Gram matrix is made."""

TRIED = 32
"""Columns of the matrix that are asked for at a time."""

FAR_PIVOT = 0.1
"""Share of the largest squared residual that a pivot has to have."""


def coordinates(X: Any, kernel: FeatureKernel | None, rounding: float) -> tuple[Floats, Indices]:
    """Return the rows in coordinates of the feature space, and those that span it.

    Without a kernel X is the Gram matrix.
    """
    if X.shape[0] <= MOST_WHOLE:
        gram = X if kernel is None else kernel.between(X, X)
        if kernel is not None:  # squares without rounding: ties stay ties
            np.fill_diagonal(gram, kernel.diagonal(X))
        return whole_cholesky(gram, rounding)
    if kernel is None:
        return partial_cholesky(X.diagonal(), lambda some: X[:, some], rounding)
    return partial_cholesky(kernel.diagonal(X), lambda some: kernel.between(X, X[some]), rounding)


def warn_if_far(L: Floats, rounding: float) -> None:
    """Warn if differences of rows drown in the rounding of their lengths."""
    largest = float(np.einsum("ij,ij->i", L, L).max())
    if float(L.var(axis=0).sum()) < FAR * rounding * largest:
        warnings.warn(
            "The rows lie so far from the origin of the feature space that much of their "
            "differences is lost to rounding; centre X first, for example with StandardScaler.",
            UserWarning,
            stacklevel=3,
        )


class GivenProducts(Distance):
    """``|phi(x) - sum_l a_l phi(x_l)|^2`` from given products, less the unknown ``|phi(x)|^2``.

    The prototypes of the codebook are the coefficients a, its metric their squared lengths;
    ``columns`` says where a row has its products with the samples that are combined.
    """

    def __init__(self, columns: Indices):
        self.columns = columns

    def groups(self, labels: Indices) -> Indices:
        """Return each prototype a row of its own for its squared length."""
        return np.arange(len(labels))

    def effort(self, codebook: Codebook) -> float:
        """Return the numbers that a row needs: its products, and its distances."""
        return float(sum(codebook.prototypes.shape))

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Return all distances, less what those of a row have in common."""
        return _less_own_length(X[:, self.columns], codebook)


class FeatureSpaceDistance(GivenProducts):
    """``|phi(x) - sum_l a_l phi(x_l)|^2`` by a kernel, for combinations of some rows."""

    squared = True

    def __init__(self, kernel: FeatureKernel, rows: Any):
        self.kernel = kernel
        self.rows = rows.toarray() if callable(kernel.kind) and issparse(rows) else rows

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: an array, also if the rows are sparse in memory."""
        rows = self.rows.toarray() if issparse(self.rows) else self.rows
        return vars(self) | {"rows": rows}

    def suited_to(self, X: Any) -> Distance:
        """Return itself: a kernel takes sparse rows as well."""
        return self

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Return all distances."""
        D = _less_own_length(self.kernel.between(X, self.rows), codebook)
        D += self.kernel.diagonal(X)[:, None]
        return np.maximum(D, 0.0, out=D)


FeatureSpaceDistance.sparse_form = FeatureSpaceDistance


def _less_own_length(products: Any, codebook: Codebook) -> Floats:
    """Return ``|w|^2 - 2 phi(x).w``."""
    D = as_floats(products @ (-2.0 * codebook.prototypes.T))
    D += codebook.metric[:, 0]
    return D


def whole_cholesky(gram: Any, rounding: float) -> tuple[Floats, Indices]:
    """Return the same as :func:`partial_cholesky` from the Gram matrix, by LAPACK."""
    diagonal = as_floats(gram.diagonal())
    lowest = _lowest_residual(diagonal, rounding)
    factor, pivots, rank, _ = dpstrf(gram, tol=rounding * diagonal.max(), lower=1)
    L = np.empty((len(gram), rank))
    L[pivots - 1] = np.tril(factor[:, :rank])
    _check_residual(diagonal - np.einsum("ij,ij->i", L, L), lowest)
    return L, as_indices(pivots[:rank] - 1)


def _lowest_residual(squares: Floats, rounding: float) -> float:
    """Return what rounding may make of the rest of a squared length; raise if there are no such."""
    if not squares.any():
        raise ValueError(
            "All rows of X have length zero in the feature space: they do not differ. Take another "
            "kernel, or features that vary."
        )
    lowest = -max(NEGATIVE, rounding) * float(squares.max())
    _check_residual(squares, lowest)
    return lowest


def partial_cholesky(
    diagonal: Floats, columns: Callable[[Indices], Floats], rounding: float = RESIDUAL
) -> tuple[Floats, Indices]:
    """Return a partial Cholesky factor of a Gram matrix that is never formed, and its pivots.

    ``Gram = L L^T`` up to a small residual: row i of L is an isometric copy of ``phi(x_i)`` in as
    many coordinates as the Gram matrix has numerical rank. The pivots are samples that are far from
    the span of those before; their rows of L are a lower triangle. Some are tried at a time, so
    that most of the work is matrix products. ``columns`` returns the columns of some indices;
    below the share ``rounding`` of the largest squared length the rest of a sample is rounding.
    """
    residual = np.array(diagonal, dtype=np.float64)
    lowest, largest = _lowest_residual(residual, rounding), float(residual.max())
    panels, pivots = [np.empty((len(residual), 0))], list[int]()
    while residual.max() > rounding * largest:
        tried = np.argsort(-residual, kind="stable")[:TRIED]
        rest = np.array(columns(tried), dtype=np.float64)
        for panel in panels:
            rest -= panel @ panel[tried].T
        least = max(FAR_PIVOT * residual.max(), rounding * largest)
        _append(panels, _take_pivots(rest, tried, residual, pivots, least, lowest))
    return np.concatenate(panels, axis=1), as_indices(pivots)


def _append(panels: list[Floats], panel: Floats) -> None:
    """Append a panel, one with those before that are not wider: wide ones multiply faster."""
    narrow = [panel]
    while panels and panels[-1].shape[1] <= sum(other.shape[1] for other in narrow):
        narrow.append(panels.pop())
    panels.append(np.concatenate(narrow[::-1], axis=1))


def _take_pivots(
    rest: Floats,
    tried: Indices,
    residual: Floats,
    pivots: list[int],
    least: float,
    lowest: float,
) -> Floats:
    """Return the columns of the factor of the pivots among the samples that are tried."""
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
