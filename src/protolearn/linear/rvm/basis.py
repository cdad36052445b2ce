"""Candidate basis functions: one for each sample, its product with all others."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..._arrays import Floats, Indices, rows_at_a_time
from ...kernels import FeatureKernel


class Basis(Protocol):
    """Functions ``phi_j``, known by their values at the samples."""

    size: int
    """How many functions there are, and samples."""

    def function(self, j: int) -> Floats:
        """Return the values of one function at all samples."""

    def products(self, rows: Floats) -> Floats:
        """Return ``rows @ Phi``: the products of some rows of numbers with all functions."""

    def squares(self, weight: Floats) -> Floats:
        """Return ``sum_i weight_i phi_j(x_i)^2`` of all functions."""


class GramBasis:
    """The columns of a Gram matrix."""

    def __init__(self, gram: Floats):
        self.gram = gram
        self.size = len(gram)

    def function(self, j: int) -> Floats:
        """Return one column."""
        return self.gram[:, j]

    def products(self, rows: Floats) -> Floats:
        """Multiply with the matrix."""
        return rows @ self.gram

    def squares(self, weight: Floats) -> Floats:
        """Sum over some samples at a time: a second matrix is never in memory."""
        total, count = np.zeros(self.size), rows_at_a_time(self.size)
        for start in range(0, self.size, count):
            part = slice(start, start + count)
            total += weight[part] @ np.square(self.gram[part])
        return total


class CenteredGram(GramBasis):
    """The columns of a Gram matrix, less their means over the samples and at unit size.

    Attributes
    ----------
    unit : float
        The largest entry, by which the matrix is divided.
    means : array (n,)
        Weighted means of the columns at unit size.
    """

    def __init__(self, gram: Floats, weight: Floats | None):
        size = float(np.abs(gram).max())
        if not np.isfinite(size):
            raise ValueError(
                "The kernel of RVM gives products of rows that are not finite. Scale the features, "
                "or take a smaller gamma or degree."
            )
        self.unit = size or 1.0
        gram = gram / self.unit
        self.means = np.average(gram, axis=0, weights=weight)
        gram -= self.means
        super().__init__(gram)


class RowBasis:
    """The linear functions ``z_j.z`` of n samples with d features; never n x n numbers."""

    def __init__(self, rows: Floats):
        self.rows = rows
        self.size = len(rows)

    def function(self, j: int) -> Floats:
        """Multiply all samples with one."""
        return self.rows @ self.rows[j]

    def products(self, rows: Floats) -> Floats:
        """Multiply with the samples twice."""
        return (rows @ self.rows) @ self.rows.T

    def squares(self, weight: Floats) -> Floats:
        """Take quadratic forms of the weighted scatter."""
        scatter = (weight * self.rows.T) @ self.rows
        return np.einsum("ij,ij->i", self.rows @ scatter, self.rows)


def linear_basis(rows: Floats) -> Basis:
    """Return the linear functions of samples in the form that takes less memory."""
    n, d = rows.shape
    return RowBasis(rows) if d < n else GramBasis(rows @ rows.T)


def gram_matrix(kernel: FeatureKernel | None, X: Floats, rows: Indices) -> Floats:
    """Return the products of some samples, or this part of them if they are given."""
    if kernel is None:
        return X if len(rows) == len(X) else X[np.ix_(rows, rows)]
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for what is not finite
        return kernel.between(X[rows], X[rows])
