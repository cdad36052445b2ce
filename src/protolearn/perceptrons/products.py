"""Products of examples with each other, as the dual ascent asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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


class Products(NamedTuple):
    """Products ``K_ij`` of examples with each other."""

    diagonal: Floats  # K_ii
    among: Callable[[Indices], Floats]  # the products of some examples with each other
    sums: Callable[[Indices, Floats], Floats]  # sum_j K_ij c_j over some examples, for all i


def linear_products(inputs: Inputs) -> Products:
    """Return ``C_ij = x_i.x_j / N``, never all of them at a time."""
    rows, size = inputs.rows, inputs.size
    return Products(
        inputs.squares,
        lambda some: rows[some] @ rows[some].T / size,
        lambda some, coefficients: rows @ (coefficients @ rows[some]) / size,
    )


def kept_products(gram: Floats) -> Products:
    """Return products that are all kept."""
    return Products(
        not_negative(check_finite(gram).diagonal().copy()),
        lambda some: gram[np.ix_(some, some)],
        lambda some, coefficients: coefficients @ gram[some],
    )


def computed_products(kernel: FeatureKernel, X: Floats, constant: float) -> Products:
    """Return products that are computed when they are needed."""

    def between(A: Floats, B: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported
            return check_finite(kernel.between(A, B) + constant)

    def sums(some: Indices, coefficients: Floats) -> Floats:
        some, coefficients = some[coefficients != 0.0], coefficients[coefficients != 0.0]
        rows, size = X[some], rows_at_a_time(len(some) + 1)
        parts = (X[i : i + size] for i in range(0, len(X), size))
        return np.concatenate([between(part, rows) @ coefficients for part in parts])

    diagonal = not_negative(kernel.diagonal(X) + constant)
    return Products(diagonal, lambda some: between(X[some], X[some]), sums)


def check_finite(products: Floats) -> Floats:
    """Raise if a product is not finite."""
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
        return kept_products(X + constant if constant else X)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported
        if 8 * len(X) ** 2 <= KEPT:
            return kept_products(kernel.between(X, X) + constant)
        return computed_products(kernel, X, constant)
