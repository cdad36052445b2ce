"""Logistic models with Gaussian priors: basis functions, posterior and probabilities.

There is a candidate function for each sample, its product with all others. The posterior is
Laplace's approximation for given precisions of the priors.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import expit, softmax

from .._arrays import Floats, Indices, rows_at_a_time
from ..kernels import FeatureKernel
from .centered_rows import CenteredRows

CLOSE = 1e-12
"""Newton's decrement, twice what the log-posterior can still gain, at which it is maximal."""

QUADRATIC = 1e-6
"""Decrement from which whole steps are safe, and gains too small to be seen in the value."""

FEW = 2000
"""Sparse samples whose products with each other are all kept."""

MAX_STEPS = 100
"""Newton steps; some ten are usual."""


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
    """The columns of a Gram matrix, less their means over the samples and at unit size."""

    def __init__(self, gram: Floats, weight: Floats | None):
        size = float(np.abs(gram).max())
        if not np.isfinite(size):
            raise ValueError(
                "The kernel of RVM gives products of rows that are not finite. Scale the features, "
                "or take a smaller gamma or degree."
            )
        self.unit = size or 1.0  # by which the matrix is divided
        gram = gram / self.unit
        self.means = np.average(gram, axis=0, weights=weight)  # at unit size
        gram -= self.means
        super().__init__(gram)


class RowBasis:
    """The linear functions ``z_j.z`` of n samples with d features; never n x n numbers."""

    def __init__(self, rows: Any):
        self.rows = rows
        self.size = len(rows)

    def function(self, j: int) -> Floats:
        """Multiply all samples with one."""
        rows = self.rows
        return rows @ (rows.row(j) if isinstance(rows, CenteredRows) else rows[j])

    def products(self, rows: Floats) -> Floats:
        """Multiply with the samples twice."""
        return np.asarray((self.rows @ (rows @ self.rows).T).T)

    def squares(self, weight: Floats) -> Floats:
        """Take quadratic forms of the weighted scatter, or square some products at a time."""
        if isinstance(self.rows, CenteredRows):
            total, count = np.zeros(self.size), rows_at_a_time(self.size)
            for start in range(0, self.size, count):
                part = np.arange(start, min(start + count, self.size))
                total += weight[part] @ np.square(self.rows.gram(part))
            return total
        scatter = (weight * self.rows.T) @ self.rows
        return np.einsum("ij,ij->i", self.rows @ scatter, self.rows)


def linear_basis(rows: Any) -> Basis:
    """Return the linear functions of samples in the form that takes less memory."""
    n, d = rows.shape
    if isinstance(rows, CenteredRows):
        return GramBasis(rows.gram(np.arange(n))) if n <= FEW else RowBasis(rows)
    return RowBasis(rows) if d < n else GramBasis(rows @ rows.T)


def gram_matrix(kernel: FeatureKernel | None, X: Floats, rows: Indices) -> Floats:
    """Return the products of some samples, or this part of them if they are given."""
    if kernel is None:
        return X if len(rows) == len(X) else X[np.ix_(rows, rows)]
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for what is not finite
        return kernel.between(X[rows], X[rows])


class Posterior(NamedTuple):
    """A Gaussian around the most probable weights."""

    mean: Floats
    factor: Floats  # lower Cholesky factor of the Hessian Phi^T B Phi + A
    slope: Floats  # derivatives of the log-likelihood by the log-odds of the samples
    curvature: Floats  # minus the second derivatives, the diagonal of B
    log_evidence: float  # logarithm of the marginal likelihood

    def covariance(self) -> Floats:
        """Return the inverse of the Hessian."""
        lower, _ = dpotri(self.factor, lower=1)
        return np.ascontiguousarray(np.tril(lower) + np.tril(lower, -1).T)


def laplace(
    design: Floats, signs: Floats, weight: Floats, precision: Floats, start: Floats
) -> Posterior:
    """Return the Gaussian around the most probable weights, found by Newton's method.

    The design (m, n) holds the m functions at the samples, ``weight`` the factors of the
    log-likelihoods of these, and ``precision`` is of the priors.
    """
    mean = start
    value, odds = _log_posterior(mean, design, signs, weight, precision)
    for _ in range(MAX_STEPS):
        wrong, right = expit(-odds), expit(odds)  # each exact where the other is nearly one
        slope, curvature = weight * wrong * signs, weight * wrong * right
        gradient = design @ slope - precision * mean
        hessian = (design * curvature) @ design.T
        hessian.flat[:: len(mean) + 1] += precision
        factor, _ = dpotrf(hessian, lower=1)
        step, _ = dpotrs(factor, gradient, lower=1)
        decrement = float(gradient @ step)
        if decrement <= CLOSE:
            break
        length = 1.0
        while True:
            moved = mean + length * step
            reached, odds = _log_posterior(moved, design, signs, weight, precision)
            enough = value + 0.25 * length * decrement
            if decrement <= QUADRATIC or reached >= enough or length < CLOSE:
                break
            length *= 0.5
        mean, value = moved, reached
    volume = 0.5 * np.log(precision).sum() - np.log(factor.diagonal()).sum()
    return Posterior(mean, factor, slope, curvature, value + float(volume))


def _log_posterior(
    mean: Floats, design: Floats, signs: Floats, weight: Floats, precision: Floats
) -> tuple[float, Floats]:
    """Return the log-posterior but for a constant, and the log-odds of the right classes."""
    odds = signs * (mean @ design)
    penalty = 0.5 * precision @ np.square(mean)
    return float(-(weight @ np.logaddexp(0.0, -odds)) - penalty), odds


def class_probabilities(odds: Floats) -> Floats:
    """Return the probabilities of two classes by the log-odds of the second.

    By the log-odds of each class (n, n_classes) their logistic functions, divided by the sum. The
    class of the largest has the largest probability, also where rounding makes another equal.
    """
    if odds.ndim == 2:
        scores, winner = -np.logaddexp(0.0, -odds), odds.argmax(axis=1)
    else:
        scores, winner = np.stack([-0.5 * odds, 0.5 * odds], axis=1), (odds > 0.0).astype(np.intp)
    found: Floats = softmax(scores, axis=1)
    rows = np.flatnonzero(found.argmax(axis=1) != winner)
    found[rows, winner[rows]] = np.nextafter(found[rows].max(axis=1), 1.0)
    return found
