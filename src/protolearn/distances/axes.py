"""The directions in which data vary: where a matrix metric starts, and what a fixed one undoes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, svds

from .._arrays import Floats, Indices, class_means, column_ranges, differ, rows_at_a_time, some_rows

DEPENDENT = 1e-11
"""Share of the largest eigenvalue of the correlations below which features depend on others."""

DENSE = 4000
"""Features up to which their covariance is formed to find few directions."""

FEW = 500
"""The same where there are fewer rows than features."""


def span(X: Any, weight: Floats) -> Floats:
    """Return an orthonormal basis (rank, d) of the span of the centred rows.

    It is a part of the unit vectors where features do not depend on each other.
    """
    return span_and_covariance(X, weight)[0]


def span_and_covariance(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """Return the basis of the span, and the covariance.

    Whether features depend on each other is judged by their correlations, so that their units do
    not matter.
    """
    S = covariance(X, weight)
    moves = differ(*column_ranges(X)) & (S.diagonal() > 0.0)
    if not moves.any():
        return np.empty((0, len(moves))), S
    spread = np.sqrt(S.diagonal()[moves])
    values, vectors = np.linalg.eigh(S[np.ix_(moves, moves)] / spread / spread[:, None])
    independent = values > DEPENDENT * values[-1]
    if independent.all():
        return np.eye(len(moves))[moves], S
    basis = np.zeros((int(independent.sum()), len(moves)))
    basis[:, moves] = orthonormal(spread[:, None] * vectors[:, independent]).T
    return basis, S


def orthonormal(A: Floats) -> Floats:
    """Return an orthonormal basis of the columns; rows of very different size keep their digits."""
    order = np.argsort(-np.abs(A).max(axis=1), kind="stable")
    Q = np.empty_like(A)
    Q[order] = qr(A[order], mode="economic", pivoting=True)[0]
    return Q


def covariance(X: Any, weight: Floats) -> Floats:
    """Return the weighted covariance."""
    share = weight / weight.sum()
    center = share @ X
    if issparse(X):
        dense: Floats = (X.multiply(share[:, None]).T @ X).toarray()
        return dense - np.outer(center, center)
    S = np.zeros((X.shape[1], X.shape[1]))
    for rows in some_rows(X):
        offset = X[rows] - center
        S += (share[rows, None] * offset).T @ offset
    return S


def principal_axes(X: Any, weight: Floats, count: int) -> Floats:
    """Return the orthonormal directions of largest variance, at most ``count``, as rows.

    They lie in the span of the centred rows. Signs are such that the largest entry is positive.
    """
    n, d = X.shape
    if d <= (DENSE if d <= n else FEW):
        basis, S = span_and_covariance(X, weight)
        axes = np.linalg.eigh(basis @ S @ basis.T)[1].T[::-1][:count] @ basis
    else:
        axes = singular_axes(X, weight, count)
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes *= np.sign(largest)
    return axes


def singular_axes(X: Any, weight: Floats, count: int) -> Floats:
    """Return the principal axes of very many features, of which no square is formed."""
    n, d = X.shape
    count = min(count, n - 1, d - 1)
    root = np.sqrt(weight / weight.sum())
    center = np.square(root) @ X
    centred = LinearOperator(
        (n, d),
        matvec=lambda v: root * (X @ v.ravel() - center @ v.ravel()),
        rmatvec=lambda u: X.T @ (root * u.ravel()) - center * (root @ u.ravel()),
        dtype=np.float64,
    )
    low, high = column_ranges(X)
    if count < 1 or not differ(low, high).any():
        return np.empty((0, d))
    start = np.random.RandomState(0).standard_normal(min(n, d))
    _, sizes, axes = svds(centred, k=count, v0=start)
    kept = np.square(sizes) > DEPENDENT * np.square(sizes).max()
    return np.where(differ(low, high), axes[::-1][kept[::-1]], 0.0)


def complete_axes(axes: Floats, count: int) -> Floats:
    """Return the axes and directions at random, ``count`` in all, orthonormal."""
    missing = np.random.RandomState(0).standard_normal((count - len(axes), axes.shape[1]))
    for _ in range(2):  # the second time takes away what rounding has left
        missing -= (missing @ axes.T) @ axes
    return np.vstack([axes, np.linalg.qr(missing.T)[0].T])


def within_covariance(X: Any, y: Indices, weight: Floats, unit: float) -> tuple[Floats, float]:
    """Return the covariance within the classes, lengths in some unit, and Ledoit and Wolf's share.

    The share is the mean squared error of S over its squared distance from a multiple of the
    identity, at most one.
    """
    d, total = X.shape[1], float(weight.sum())
    S, fourth = np.zeros((d, d)), 0.0
    for Z, part in centred_rows(X, y, weight, unit):
        S += (part[:, None] * Z).T @ Z
        fourth += float(part @ np.square(np.einsum("ij,ij->i", Z, Z)))
    S /= total
    size = float(np.square(S).sum())
    spread = size - S.trace() ** 2 / d
    error = (fourth / total - size) / total
    return S, min(max(error / spread, 0.0), 1.0) if spread > 0.0 else 0.0


def centred_rows(
    X: Any, y: Indices, weight: Floats, unit: float
) -> Iterator[tuple[Floats, Floats]]:
    """Yield some rows at a time, less the mean of their class, with their weights."""
    means = class_means(X, y, weight, int(y.max()) + 1)
    size = rows_at_a_time(X.shape[1])
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        part = X[rows].toarray() if issparse(X) else X[rows]
        yield (part - means[y[rows]]) / unit, weight[rows]


def whitening(S: Floats) -> Floats:
    """Return a matrix A with ``A^T A`` the pseudo-inverse of S, as many rows as the rank of S.

    Rank and inverse come from the correlations, so that units of very different size do no harm.
    """
    spread = np.sqrt(S.diagonal())
    spread[spread == 0.0] = 1.0
    values, vectors = np.linalg.eigh(S / spread / spread[:, None])
    independent = values > DEPENDENT * values[-1]
    if independent.all():
        return (vectors / np.sqrt(values)).T / spread
    basis = np.linalg.qr(spread[:, None] * vectors[:, independent])[0].T
    return whitening(basis @ S @ basis.T) @ basis
