"""Kernels: the products of samples in a feature space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import pairwise_kernels

from ._arrays import Floats, Indices, as_floats, rows_at_a_time
from ._validation import check_choice, check_integer, check_number, number_in
from .distances import inverse_variance

KERNELS = {"rbf": "rbf", "linear": "linear", "polynomial": "polynomial", "poly": "polynomial"}
"""Short names, and what scikit-learn calls them."""

DOUBLE_ROUNDING, SINGLE_ROUNDING = 1e-10, 1e-5
"""How far from symmetric a Gram matrix may be in double and in single precision."""

SELF_PRODUCTS = 16
"""Rows whose products with themselves a callable kernel computes at a time, others in vain."""


@dataclass(frozen=True)
class FeatureKernel:
    """A kernel with its settings.

    Attributes
    ----------
    kind : str or callable
        "rbf", "linear", "polynomial", or a function of two arrays of rows.
    settings : dict
        What scikit-learn's function of that name takes.
    center : array (d,) or None
        A point among the data that is subtracted from the rows: rounding errors grow with the
        distance from the origin. For kernels that depend on differences alone, or if a threshold
        makes up for it.
    """

    kind: str | Callable[[Any, Any], Any]
    settings: dict[str, float]
    center: Floats | None = None

    def between(self, X: Any, Y: Any) -> Floats:
        """Return the products of all rows of X with all rows of Y."""
        if callable(self.kind):
            return _check_products(self.kind(X, Y), (X.shape[0], Y.shape[0]))
        if self.center is not None:
            X, Y = self._about_center(X), self._about_center(Y)
        return as_floats(pairwise_kernels(X, Y, metric=self.kind, **self.settings))

    def diagonal(self, X: Any) -> Floats:
        """Return the product of each row with itself."""
        if self.kind == "rbf":
            return np.ones(X.shape[0])
        if not callable(self.kind):
            X = X if self.center is None else self._about_center(X)
            squares = (
                np.ravel(X.multiply(X).sum(axis=1)).astype(np.float64)
                if issparse(X)
                else np.einsum("ij,ij->i", X, X, dtype=np.float64)
            )
            if self.kind == "linear":
                return squares
            scaled = self.settings["gamma"] * squares + self.settings["coef0"]
            return scaled ** self.settings["degree"]
        parts = (X[at : at + SELF_PRODUCTS] for at in range(0, X.shape[0], SELF_PRODUCTS))
        return np.concatenate([self.between(part, part).diagonal() for part in parts])

    def _about_center(self, X: Any) -> Floats:
        """Return rows relative to the centre, dense ones."""
        return (X.toarray() if issparse(X) else X) - self.center


def check_kernel(model: Any, factor: str = "gamma") -> None:
    """Raise if a parameter of the kernel is wrong; ``factor`` is what the model calls gamma."""
    if not callable(model.kernel):
        check_choice(model, "kernel", (*KERNELS, "precomputed"))
    gamma = getattr(model, factor)
    if not (isinstance(gamma, str) and gamma == "scale"):
        number_in(gamma, f"{factor}={{value!r}} must be 'scale', or", 0.0, above=True)
    check_integer(model, "degree", low=1)
    check_number(model, "coef0", low=0.0)


def named_kernel(
    name: str, gamma: Any, degree: int, coef0: float, X: Any, weight: Floats | None
) -> FeatureKernel:
    """Return one of ``KERNELS``; "scale" for gamma is by the variance of the rows.

    Sparse rows keep their origin, so that they stay sparse.
    """
    kind = KERNELS[name]
    if kind == "linear":
        return FeatureKernel(kind, {})
    if isinstance(gamma, str):
        gamma = inverse_variance(X, np.ones(X.shape[0]) if weight is None else weight)
    if kind == "rbf":
        center = None if issparse(X) else X.mean(axis=0)
        return FeatureKernel(kind, {"gamma": float(gamma)}, center)
    settings = {"gamma": float(gamma), "degree": degree, "coef0": float(coef0)}
    return FeatureKernel(kind, settings)


def kernel_of(
    model: Any, X: Floats, weight: Floats | None, factor: str = "gamma"
) -> FeatureKernel | None:
    """Return the kernel of a model, with its settings for some samples; None: precomputed."""
    if callable(model.kernel):
        return FeatureKernel(model.kernel, {})
    if model.kernel == "precomputed":
        return None
    gamma = getattr(model, factor)
    return named_kernel(model.kernel, gamma, model.degree, model.coef0, X, weight)


def support_products(
    kernel: FeatureKernel | None, X: Any, support: Indices, vectors: Any, dual: Floats
) -> Floats:
    """Return ``sum_j dual_j K(x_j, x)`` over the support, computed for some rows at a time.

    Without a kernel X holds the products with all training rows.
    """
    size = rows_at_a_time(X.shape[1] + len(support))
    parts = (X[start : start + size] for start in range(0, X.shape[0], size))
    if kernel is None or not len(support):
        return np.concatenate([part[:, support] @ dual.T for part in parts])
    return np.concatenate([kernel.between(part, vectors) @ dual.T for part in parts])


def gram_rounding(X: Any) -> float:
    """Return how far from symmetric a Gram matrix may be by rounding, as a share of its entries."""
    return SINGLE_ROUNDING if getattr(X, "dtype", None) == np.float32 else DOUBLE_ROUNDING


def check_gram(X: Floats, rounding: float) -> None:
    """Raise if an array is not a symmetric matrix."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X has shape {X.shape}, but kernel='precomputed' takes a square matrix: the products "
            "of all training rows with each other."
        )
    size = rows_at_a_time(len(X))
    for start in range(0, len(X), size):
        rows, columns = X[start : start + size], X[:, start : start + size].T
        if not np.allclose(rows, columns, rtol=rounding, atol=rounding * np.abs(rows).max()):
            raise ValueError("X is not symmetric, so it is not the Gram matrix of a kernel.")


def _check_products(products: Any, shape: tuple[int, int]) -> Floats:
    """Return the products by a user's kernel as doubles; raise if their shape is wrong."""
    products = as_floats(products)
    if products.shape != shape:
        raise ValueError(
            f"kernel gives an array of shape {products.shape} for {shape[0]} and {shape[1]} rows, "
            f"expected {shape}: a function kernel(X, Y) of two arrays of rows."
        )
    return products
