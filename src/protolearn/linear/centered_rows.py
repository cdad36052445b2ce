"""Rows relative to a centre, which are never written down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, lsmr

from .._arrays import Floats, Indices, as_floats

NO_ROWS = np.empty((0, 0))

PRECISE = 1e-12
"""Relative error of systems that are solved by products."""


class CenteredRows:
    """``(x_i - center) / scale`` of the rows of an array, sparse or not; products alone need it.

    It stands for an array in products, ``rows @ v`` and ``v @ rows``, and in the choice of rows.
    """

    __array_ufunc__ = None  # ``array @ rows`` asks this class

    def __init__(self, X: Any, center: Floats, scale: float = 1.0):
        self.X, self.center, self.scale = X, center, scale
        self.shape: tuple[int, int] = X.shape
        self.size: int = X.nnz if issparse(X) else X.size

    def __len__(self) -> int:
        return self.shape[0]

    def __matmul__(self, other: Floats) -> Floats:
        return np.asarray(self.X @ other - self.center @ other) / self.scale

    def __rmatmul__(self, other: Floats) -> Floats:
        total = other.sum(axis=-1)
        return (np.asarray(other @ self.X) - np.multiply.outer(total, self.center)) / self.scale

    def __getitem__(self, places: Any) -> CenteredRows:
        return CenteredRows(self.X[places], self.center, self.scale)

    def __rmul__(self, number: float) -> CenteredRows:
        scale = self.scale / number if number > 0.0 else np.inf
        return CenteredRows(self.X, self.center, scale)

    def __sub__(self, point: Floats) -> CenteredRows:
        return CenteredRows(self.X, self.center + self.scale * point, self.scale)

    def row(self, i: int) -> Floats:
        """Return one row, written down."""
        x = self.X[[i]]
        return ((x.toarray() if issparse(x) else x).ravel() - self.center) / self.scale

    def gram(self, places: Any) -> Floats:
        """Return the products of some rows with all."""
        product, along = self.X[places] @ self.X.T, self.X @ self.center
        product = product.toarray() if issparse(product) else product
        product -= along[places, None] + along - self.center @ self.center
        return product / self.scale**2


class RowNumbers(NamedTuple):
    """Rows as native functions take them; either ``dense`` or the three others are empty."""

    dense: Floats
    values: Floats
    starts: Indices
    columns: Indices
    along: Floats  # x_i.center
    unit: Floats  # center.center, and the factor of products, one over the squared scale

    @classmethod
    def of(cls, rows: Any) -> RowNumbers:
        """Return the numbers of an array, of a sparse matrix, or of rows about a centre."""
        if not isinstance(rows, CenteredRows):
            rows = CenteredRows(rows, np.zeros(rows.shape[1]))
        X, center, scale = rows.X, rows.center, rows.scale
        unit, along = np.array([center @ center, scale**-2]), np.asarray(X @ center)
        none = np.empty(0, dtype=np.intp)
        if not issparse(X):
            return cls(as_floats(X), np.empty(0), none, none, along, unit)
        starts, columns = X.indptr.astype(np.intp), X.indices.astype(np.intp)
        return cls(NO_ROWS, as_floats(X.data), starts, columns, along, unit)


def row_squares(rows: Any) -> Floats:
    """Return the squared length of each row."""
    if not isinstance(rows, CenteredRows):
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    X, center = rows.X, rows.center
    square = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X)
    centered = np.ravel(square) - 2.0 * (X @ center) + center @ center
    return np.maximum(np.asarray(centered), 0.0) / rows.scale**2


def weighted_rows(rows: Any, root: Floats) -> LinearOperator:
    """Return rows, each multiplied by a number, for methods that take products alone."""
    return LinearOperator(
        rows.shape,
        matvec=lambda v: root * (rows @ v.ravel()),
        rmatvec=lambda v: (root * v.ravel()) @ rows,
        dtype=np.float64,
    )


def solve_by_products(operator: LinearOperator, right: Floats) -> Floats:
    """Return x of ``(I + A^T A) x = right``, by products with A alone."""
    steps = 10 * min(operator.shape) + 100
    found = lsmr(operator.H, right, damp=1.0, atol=PRECISE, btol=PRECISE, maxiter=steps)[0]
    return np.asarray(right - operator.rmatvec(found))
