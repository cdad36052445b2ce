"""Points of a feature space as combinations of samples.

``L`` has the samples as rows, in coordinates in which their products are those of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular

from .._arrays import Floats, Indices

EXPLAINED = 1e-12
"""Share of the squared lengths below which a rest is rounding."""

WITHIN = 1e-8
"""Share of the largest squared length that a sample has to have outside of the span of others."""


def expansion(points: Floats, L: Floats, pivots: Indices) -> Floats:
    """Return the coefficients of samples that make the points, an array (K, m).

    The rows of the m samples are a lower triangle; points in their span are 0 in later columns.
    """
    m = len(pivots)
    triangle = L[pivots, :m]
    coefficients: Floats = solve_triangular(triangle, points[:, :m].T, lower=True, trans="T").T
    return coefficients


def towards(points: Floats, L: Floats) -> Iterator[tuple[int, Floats]]:
    """Choose samples one by one, each the one that brings their span nearest to all points.

    Orthogonal least squares: a sample counts by the direction that it adds to the span. It ends
    when the points are in the span.

    Yields
    ------
    sample : int
        The row of L.
    direction : array
        What it adds to the span, of length one and orthogonal to all before.
    """
    squares = np.einsum("ij,ij->i", L, L)
    product, outside = L @ points.T, squares.copy()  # with what is not in the span yet
    basis = np.empty((L.shape[1], L.shape[1]))
    rounding = EXPLAINED * float(np.sum(points**2))
    for k in range(len(basis)):
        adds = outside > WITHIN * squares.max()
        gain = np.einsum("ik,ik->i", product, product)
        gain = np.divide(gain, outside, out=np.full_like(gain, -1.0), where=adds)
        best = int(gain.argmax())
        if gain[best] < 0.0 or (k and gain[best] <= rounding):
            return
        direction = L[best]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            direction = direction - (basis[:k] @ direction) @ basis[:k]
        basis[k] = direction / np.linalg.norm(direction)
        yield best, basis[k]
        along = L @ basis[k]
        product -= np.outer(along, points @ basis[k])
        outside -= along**2


def nearest(points: Floats, L: Floats) -> Indices:
    """Return the nearest sample of each point."""
    D = np.einsum("ij,ij->i", L, L)[:, None] - 2.0 * L @ points.T
    found: Indices = D.argmin(axis=0)
    return found
