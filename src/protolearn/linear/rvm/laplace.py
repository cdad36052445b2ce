"""Laplace's approximation of a logistic model with Gaussian priors of given precisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import expit

from ..._arrays import Floats

CLOSE = 1e-12
"""Newton's decrement, twice what the log-posterior can still gain, at which it is maximal."""

QUADRATIC = 1e-6
"""Decrement from which whole steps are safe, and gains too small to be seen in the value."""

MAX_STEPS = 100
"""Newton steps; some ten are usual."""


class Posterior(NamedTuple):
    """A Gaussian around the most probable weights.

    Attributes
    ----------
    mean : array (m,)
        The most probable weights.
    factor : array (m, m)
        Lower Cholesky factor of the Hessian ``Phi^T B Phi + A``.
    slope : array (n,)
        Derivatives of the log-likelihood by the log-odds of the samples.
    curvature : array (n,)
        Minus the second derivatives, the diagonal of B.
    log_evidence : float
        Logarithm of the marginal likelihood.
    """

    mean: Floats
    factor: Floats
    slope: Floats
    curvature: Floats
    log_evidence: float

    def covariance(self) -> Floats:
        """Invert the Hessian."""
        lower, _ = dpotri(self.factor, lower=1)
        return np.ascontiguousarray(np.tril(lower) + np.tril(lower, -1).T)


def laplace(
    design: Floats, signs: Floats, weight: Floats, precision: Floats, start: Floats
) -> Posterior:
    """Find the most probable weights by Newton's method, and the Gaussian around them.

    Parameters
    ----------
    design : array (m, n)
        Values of the m functions at the samples.
    signs, weight : array (n,)
        Classes +1 and -1 of the samples, and factors of their log-likelihoods.
    precision : array (m,)
        Precisions of the priors.
    start : array (m,)
        Where to begin.
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
