"""Products of examples with each other, as the dual ascent asks for them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._arrays import Floats, Indices, rows_at_a_time
from ..kernels import FeatureKernel
from .examples import Inputs

KEPT = 1 << 28
"""Bytes that a whole Gram matrix may have; a larger one is computed in parts, again and again."""

NOT_FINITE = (
    "The kernel of KernelAdaTron gives products of rows that are not finite. Scale the features, "
    "or take a smaller kernel_gamma or degree."
)


NOT_SEMIDEFINITE = (
    "The products of the rows are not those of a positive semi-definite kernel: some vector would "
    "have a negative square. Take another kernel, or add a multiple of the identity."
)


class Products(Protocol):
    """Products ``K_ij`` of examples with each other."""

    diagonal: Floats
    """``K_ii``"""

    def among(self, some: Indices) -> Floats:
        """Return the products of some examples with each other."""

    def sums(self, some: Indices, coefficients: Floats) -> Floats:
        """Return ``sum_j K_ij c_j`` over some examples, for all i."""


class LinearProducts:
    """``C_ij = x_i.x_j / N``, never all of them at a time."""

    def __init__(self, inputs: Inputs):
        self._inputs = inputs
        self.diagonal = inputs.squares

    def among(self, some: Indices) -> Floats:
        """Return the products of some examples with each other."""
        rows = self._inputs.rows[some]
        return rows @ rows.T / self._inputs.size

    def sums(self, some: Indices, coefficients: Floats) -> Floats:
        """Return ``sum_j C_ij c_j`` over some examples, for all i."""
        rows = self._inputs.rows
        return rows @ (coefficients @ rows[some]) / self._inputs.size


class GramProducts:
    """Products that are all kept."""

    def __init__(self, gram: Floats):
        if not np.isfinite(gram).all():
            raise ValueError(NOT_FINITE)
        self._gram = gram
        self.diagonal = not_negative(gram.diagonal().copy())

    def among(self, some: Indices) -> Floats:
        """Return the products of some examples with each other."""
        return self._gram[np.ix_(some, some)]

    def sums(self, some: Indices, coefficients: Floats) -> Floats:
        """Return ``sum_j K_ij c_j`` over some examples, for all i."""
        return coefficients @ self._gram[some]


class KernelProducts:
    """Products that are computed when they are needed."""

    def __init__(self, kernel: FeatureKernel, X: Floats, constant: float):
        self._kernel, self._X, self._constant = kernel, X, constant
        self.diagonal = not_negative(kernel.diagonal(X) + constant)

    def among(self, some: Indices) -> Floats:
        """Return the products of some examples with each other."""
        return self._between(self._X[some], self._X[some])

    def sums(self, some: Indices, coefficients: Floats) -> Floats:
        """Return ``sum_j K_ij c_j`` over some examples, for all i."""
        some, coefficients = some[coefficients != 0.0], coefficients[coefficients != 0.0]
        rows, size = self._X[some], rows_at_a_time(len(some) + 1)
        parts = (self._X[i : i + size] for i in range(0, len(self._X), size))
        return np.concatenate([self._between(part, rows) @ coefficients for part in parts])

    def _between(self, X: Floats, Y: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported
            products = self._kernel.between(X, Y) + self._constant
        if not np.isfinite(products).all():
            raise ValueError(NOT_FINITE)
        return products


def not_negative(squares: Floats) -> Floats:
    """Raise if a row has a negative square."""
    if (squares < 0.0).any():
        raise ValueError(NOT_SEMIDEFINITE)
    return squares


def lengths(products: Products, signed: Floats) -> Floats:
    """Return ``|w|`` of units with the coefficients ``u y``."""
    some = [np.flatnonzero(each) for each in signed]
    squares = [each @ products.sums(i, each[i]) for i, each in zip(some, signed, strict=True)]
    return np.sqrt(np.maximum(squares, 0.0))


def products_of(kernel: FeatureKernel | None, X: Floats, constant: float) -> Products:
    """Return the products of rows, and of their clamped inputs."""
    if kernel is None:
        return GramProducts(X + constant if constant else X)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported
        if 8 * len(X) ** 2 <= KEPT:
            return GramProducts(kernel.between(X, X) + constant)
        return KernelProducts(kernel, X, constant)
