"""The least expansion of a direction in centred samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lstsq
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, lsmr

from .._arrays import Floats
from .canonical import middle_of

EXACT = 1e-6
"""Share of a direction that is left unexplained by rounding alone."""

OUTSIDE = 1e-2
"""Share of a direction that may lie outside the span of the samples."""

CONSTANT = 1e-7
"""Spread of a feature, relative to its level, that may be rounding."""


def least_expansion(X: Any, direction: Floats) -> tuple[Floats, Floats]:
    """Return the least gamma with ``sum_i gamma_i (x_i - c) = direction``, and what is left over.

    Gamma sums to zero. What is left lies outside the span of the centred samples: it is the same
    for all of them, and belongs to the offset. Raises if it is more than a small part.
    """
    center = middle_of(X)
    size = spreads(X, center)  # one equation a feature: their units make no difference
    gamma, left, outside = solved(X, center, direction, size)
    if outside > EXACT:  # if not all can be solved, those of the data themselves count
        gamma, left, outside = solved(X, center, direction, np.ones_like(size))
    if outside > OUTSIDE:
        raise ValueError(
            f"{100.0 * min(outside, 1.0):.3g} % of the normal of the hyperplane lies outside the "
            "span of the centred samples, so that no combination of them makes it. Is X what the "
            "model was trained with, and are its features of similar scale? Some models also learn "
            "a direction that the samples do not span, for example with a regularised offset, or "
            "stopped early (try a smaller tol), and fewer samples than features."
        )
    return gamma - gamma.mean(), left


def solved(X: Any, center: Floats, direction: Floats, size: Floats) -> tuple[Floats, Floats, float]:
    """Solve the equations in units of ``size``; give gamma, what is left, and its share."""
    wanted = direction / size
    if issparse(X):
        gamma = _by_products(X.multiply(1.0 / size).tocsr(), center / size, wanted)
        left = direction - X.T @ gamma + gamma.sum() * center
    else:
        rows = X - center
        cond = max(X.shape) * np.finfo(float).eps
        gamma = lstsq((rows / size).T, wanted, cond=cond, check_finite=False)[0]
        left = direction - gamma @ rows
    share = np.linalg.norm(left * size) / np.linalg.norm(direction * size)
    return gamma, left, float(share)


def spreads(X: Any, center: Floats) -> Floats:
    """Return the standard deviations of the features, and the levels of those that are constant."""
    if issparse(X):
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel() - center**2
    else:
        square = np.mean((X - center) ** 2, axis=0)
    spread, level = np.sqrt(np.maximum(square, 0.0)), np.abs(center)
    constant = spread <= CONSTANT * level
    return np.where(constant, np.where(level > 0.0, level, 1.0), spread)


def _by_products(X: Any, center: Floats, direction: Floats) -> Floats:
    """Solve by products with the sparse samples, which are never centred."""
    operator = LinearOperator(
        X.shape[::-1],
        matvec=lambda gamma: X.T @ gamma.ravel() - gamma.sum() * center,
        rmatvec=lambda v: X @ v.ravel() - center @ v.ravel(),
        dtype=np.float64,
    )
    steps = 10 * min(X.shape) + 100
    gamma: Floats = lsmr(operator, direction, atol=1e-14, btol=1e-14, maxiter=steps)[0]
    return gamma
