"""The directions in which data vary: where a matrix metric starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, svds

from .._columns import some_rows, varying
from .._parameters import Floats

DEPENDENT = 1e-11
"""Share of the largest eigenvalue of the correlations below which features depend on others."""

DENSE = 4000
"""Features up to which their covariance is formed."""


def span(X: Any, weight: Floats) -> Floats | None:
    """Give an orthonormal basis (rank, d) of the span of the centred rows; None if it is all.

    Whether features depend on each other is judged by their correlations, so that their units do
    not matter.
    """
    moves = varying(X)
    spread, S = correlations(X[:, moves], weight)
    values, vectors = np.linalg.eigh(S)
    independent = values > DEPENDENT * values[-1]
    if moves.all() and independent.all():
        return None
    if independent.all():
        return np.eye(len(moves))[moves]
    basis = np.zeros((int(independent.sum()), len(moves)))
    basis[:, moves] = np.linalg.qr(spread[:, None] * vectors[:, independent])[0].T
    return basis


def correlations(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """Give the standard deviations and the matrix of correlations."""
    S = covariance(X, weight)
    spread = np.sqrt(S.diagonal())
    spread[spread == 0.0] = 1.0
    S /= spread
    S /= spread[:, None]
    return spread, S


def covariance(X: Any, weight: Floats) -> Floats:
    """Give the weighted covariance, summed over some rows at a time."""
    share = weight / weight.sum()
    center, S = share @ X, np.zeros((X.shape[1], X.shape[1]))
    for rows in some_rows(X):
        part = X[rows].toarray() if issparse(X) else X[rows]
        offset = part - center
        S += (share[rows, None] * offset).T @ offset
    return S


def principal_axes(X: Any, weight: Floats, count: int) -> Floats:
    """Give the orthonormal directions of largest variance, at most ``count``, as rows.

    They lie in the span of the centred rows. Signs are such that the largest entry is positive.
    """
    n, d = X.shape
    share = weight / weight.sum()
    center, root = share @ X, np.sqrt(share)
    if d <= DENSE:
        values, vectors = np.linalg.eigh(covariance(X, weight))
        values, axes = values[::-1], vectors.T[::-1]
    else:
        count = min(count, n - 1, d - 1)
        centred = LinearOperator(
            (n, d),
            matvec=lambda v: root * (X @ v.ravel() - center @ v.ravel()),
            rmatvec=lambda u: X.T @ (root * u.ravel()) - center * (root @ u.ravel()),
            dtype=np.float64,
        )
        _, singular, axes = svds(centred, k=count, v0=root)
        values, axes = np.square(singular)[::-1], axes[::-1]
    axes = axes[:count][values[:count] > DEPENDENT * values[0]]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return axes * np.sign(largest)
