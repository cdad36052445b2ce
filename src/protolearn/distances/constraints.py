"""Constraints on the parameters of a distance, kept by parametrisation.

A batch solver moves free numbers ``a``; the distance uses ``theta = apply(a)``; the gradient is
pulled back through that map. The sequential solver steps on ``theta`` itself and calls
``constrain`` on the row it moved.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .._arrays import Floats, as_floats
from ..codebook import Constraint
from ..native import CONSTRAIN, native

DEPENDENT = 1e-10
"""Share of its length below which what is left of a vector is rounding."""


class Free(Constraint):
    """No constraint."""

    @native(CONSTRAIN)
    def constrain(theta, d):
        """Leave one row as it is."""

    def apply(self, free: Floats) -> Floats:
        """Return the free numbers."""
        return free

    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Return the gradient."""
        return gradient


class UnitNorm(Constraint):
    """Every row has norm one: ``theta = a / |a|``."""

    @native(CONSTRAIN)
    def constrain(theta, d):
        """Divide one row by its norm."""
        total = 0.0
        for j in range(theta.size):
            total += theta[j] * theta[j]
        norm = math.sqrt(total)
        if norm > 0.0:
            for j in range(theta.size):
                theta[j] /= norm

    def apply(self, free: Floats) -> Floats:
        """Divide each row by its norm."""
        return free / np.linalg.norm(free, axis=1, keepdims=True)

    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Project the gradient on the sphere: ``(g - theta <theta, g>) / |a|``."""
        norm = np.linalg.norm(free, axis=1, keepdims=True)
        theta = free / norm
        return (gradient - theta * np.sum(theta * gradient, axis=1, keepdims=True)) / norm


class Orthonormal(Constraint):
    """Every row holds ``n_rows`` orthonormal vectors, one after the other.

    The free ones are orthonormalised one by one (Gram and Schmidt), so that with them as the
    columns of A the result is the Q of ``A = Q R`` with a positive diagonal of R. A vector that
    is zero, or depends on those before it, becomes zero.

    Parameters
    ----------
    n_rows : int
        Number of vectors in a row.
    """

    def __init__(self, n_rows: int):
        self.n_rows = n_rows

    @native(CONSTRAIN)
    def constrain(theta, d):
        """Orthonormalise the vectors of one row."""
        for start in range(0, theta.size, d):
            v = theta[start : start + d]
            before = norm(v)
            for _ in range(2):  # the second time takes away what rounding has left
                for other in range(0, start, d):
                    remove(v, theta[other : other + d])
            after = norm(v)
            dependent = after <= DEPENDENT * before
            for j in range(d):
                v[j] = 0.0 if dependent else v[j] / after

    def apply(self, free: Floats) -> Floats:
        """Orthonormalise the vectors of each row."""
        theta = as_floats(free).copy()
        for row in theta:
            self.constrain(row, row.size // self.n_rows)
        return theta

    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Return ``(I - Q Q^T) G R^-T``, right for functions of the span of the vectors alone."""
        A, Q, G = (
            rows.reshape(len(free), self.n_rows, -1) for rows in (free, self.apply(free), gradient)
        )
        R = Q @ A.transpose(0, 2, 1)
        none = np.flatnonzero(R.diagonal(axis1=1, axis2=2) <= 0.0)
        groups, vectors = np.divmod(none, self.n_rows)
        R[groups, vectors, vectors] = 1.0
        across = G - (G @ Q.transpose(0, 2, 1)) @ Q
        across[groups, vectors] = 0.0
        return as_floats(np.linalg.solve(np.triu(R), across)).reshape(free.shape)


@numba.njit
def norm(v):
    """Return the length of a vector."""
    total = 0.0
    for j in range(v.size):
        total += v[j] * v[j]
    return math.sqrt(total)


@numba.njit
def remove(v, direction):
    """Take from a vector its part along a direction of length one, in place."""
    along = 0.0
    for j in range(v.size):
        along += v[j] * direction[j]
    for j in range(v.size):
        v[j] -= along * direction[j]
