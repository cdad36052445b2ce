"""Precisions of the functions in a sparse Bayesian model: one at a time, and with care.

With the curvature B of the likelihood held fixed, the log marginal likelihood depends on one
precision alpha, all others given, by ``(log alpha - log(alpha + s) + q^2 / (alpha + s)) / 2``. Its
maximum is at ``s^2 / (q^2 - s)`` if ``q^2 > s``, and at infinity, without the function, otherwise.
A function in the model has ``s = 1 / variance - alpha`` and ``q = mean / variance``, by the
posterior mean and variance of its weight.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats, Indices
from ...native import i8, matrix_out, native, types, vector, vector_out


@numba.njit
def _best(alpha, variance, mean):
    """Return the best precision of one function, and what it gains."""
    s, q = 1.0 / variance - alpha, mean / variance
    now = np.log(alpha * variance) + q * mean
    if s > 0.0 and q * q > s:
        ratio = q * q / s
        return s / (ratio - 1.0), 0.5 * (ratio - 1.0 - np.log(ratio) - now)
    return np.inf, -0.5 * now


@native(types.void(vector, vector, vector, vector_out, vector_out))
def best_precisions(variance, mean, precision, best, gain):
    """Write the best precision of each function, the others as they are, and what it gains."""
    for i in range(len(mean)):
        best[i], gain[i] = _best(precision[i], variance[i], mean[i])


@native(types.void(matrix_out, vector_out, vector_out, vector, vector, i8), makes_arrays=True)
def reestimate(covariance, mean, precision, low, high, sweeps):
    """Set each precision to its best within bounds, in turn and some times over.

    Writes the posterior covariance and mean that belong to the precisions. Infinity leaves a
    function out. The first one, of the bias, stays.
    """
    size = len(mean)
    column = np.empty(size)
    for _ in range(sweeps):
        for i in range(1, size):
            alpha, variance = precision[i], covariance[i, i]
            if alpha == np.inf:
                continue
            better, _ = _best(alpha, variance, mean[i])
            better = min(max(better, low[i]), high[i])
            change = better - alpha
            shrink = 1.0 / variance if better == np.inf else change / (1.0 + variance * change)
            precision[i] = better
            pull = shrink * mean[i]
            for a in range(size):
                column[a] = covariance[a, i]
            for a in range(size):
                mean[a] -= pull * column[a]
                for b in range(size):
                    covariance[a, b] -= shrink * column[a] * column[b]


FIRST_REACH = np.log(10.0)
"""Most by which the logarithm of a precision changes once it has turned back."""

REACHES = (1e-5, 50.0)
"""The least and the most that this becomes."""

NEGLIGIBLE = 1e-5
"""Share of a precision that ``s`` is where a function hardly acts, and leaves at once."""


class Caution:
    """Limits to the changes of precisions that swing.

    The best precision is best for the curvature of the likelihood as it is, which changes with the
    weights. Where that makes a precision go to and fro, or a function come and go, each turn
    halves how far it may go, on a logarithmic scale; each further step the same way lets it go
    farther again. Functions that never turn are not held back.
    """

    def __init__(self, size: int):
        self.reach = np.full(size, np.inf)
        self.trend = np.zeros(size)
        self.left = np.zeros(size)
        self.idled = np.zeros(size, dtype=bool)

    def entering(self, j: int, best: float) -> float:
        """Return the precision with which a function enters: not far from where it has left."""
        self._turn(np.array([j]), np.array([-1.0]))
        return max(best, float(self.left[j] * np.exp(-self.reach[j])))

    def leaving(self, model: Indices, precision: Floats) -> None:
        """Note what precisions functions had when they left."""
        self.left[model] = precision

    def idle(self, model: Indices, best: Floats) -> NDArray[np.bool_]:
        """Return which of the bias and the functions are better out, though it gains nothing.

        Each is told once, so that none comes and goes for ever.
        """
        idle = np.isinf(best)
        idle[1:] &= ~self.idled[model]
        self.idled[model[idle[1:]]] = True
        return idle

    def bounds(
        self, model: Indices, now: Floats, best: Floats, variance: Floats
    ) -> tuple[Floats, Floats]:
        """Return the least and the largest precisions that may follow on those of now."""
        self._turn(model, np.sign(best - now))
        reach = self.reach[model]
        free = np.isinf(reach) | (1.0 / variance - now < NEGLIGIBLE * now)
        factor = np.exp(np.where(free, 0.0, reach))
        return np.where(free, 0.0, now / factor), np.where(free, np.inf, now * factor)

    def _turn(self, model: Indices, trend: Floats) -> None:
        """Shorten the reach of precisions that turn back, lengthen that of others."""
        reach, turned = self.reach[model], self.trend[model] * trend < 0.0
        longer = np.where(np.isinf(reach), reach, 1.3 * reach)
        reach = np.where(turned, np.minimum(0.5 * reach, FIRST_REACH), longer)
        self.reach[model] = np.where(np.isinf(reach), reach, np.clip(reach, *REACHES))
        self.trend[model] = np.where(trend == 0.0, self.trend[model], trend)
