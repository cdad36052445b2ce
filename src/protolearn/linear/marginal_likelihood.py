"""Sparse Bayesian logistic models by fast marginal likelihood updates (Tipping and Faul, 2003).

Every basis function has a weight with a Gaussian prior of its own precision. The precisions that
maximise the marginal likelihood are infinite for most functions. The model begins with the bias
alone; functions are added, re-estimated and deleted one at a time, by what each change would gain
with the curvature of the likelihood held fixed (Laplace's approximation).

The bias is always there, with a broad prior of fixed precision. A flat prior would not do: where
the classes are separable, the larger the weights, the wider the range of good biases, and the
marginal likelihood would grow without bound. Functions of mean zero make the bias the mean of the
log-odds, about which a broad prior says little.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from .._arrays import Floats, Indices
from ..native import i8, matrix_out, native, types, vector, vector_out
from .logistic_model import Basis, Posterior, laplace

BIAS_PRECISION = 0.01
"""A standard deviation of ten for the mean of the log-odds."""

SWEEPS = 5
"""How many times that all precisions are set one by one before the curvature is computed again."""

SETTLED = 0.1
"""Share of the gain by the last new function below which another one is looked for."""

ROUNDING = 1e-10
"""Share of a squared length that counts as rounding."""

FIRST_REACH = np.log(10.0)
"""Most by which the logarithm of a precision changes once it has turned back."""

REACHES = (1e-5, 50.0)
"""The least and the most that this becomes."""

NEGLIGIBLE = 1e-5
"""Share of a precision that ``s`` is where a function hardly acts, and leaves at once."""


class SparseModel(NamedTuple):
    """A sparse Bayesian model."""

    chosen: Indices  # the functions in the model
    weights: Floats  # their most probable weights, in log-odds
    bias: float  # offset of the log-odds
    precision: Floats  # of the priors of the weights
    log_evidence: Floats  # logarithm of the marginal likelihood in each round
    gain: float  # what the best single change would still gain
    converged: bool  # whether that is within the tolerance


class ActiveFunctions(NamedTuple):
    """The functions in the model behind the bias, their precisions, and weights to begin with."""

    chosen: Indices
    design: Floats
    precision: Floats
    weights: Floats

    @classmethod
    def bias_alone(cls, signs: Floats, weight: Floats) -> ActiveFunctions:
        """Return the model without any function: the odds of the classes."""
        odds = np.log(weight[signs > 0.0].sum()) - np.log(weight[signs < 0.0].sum())
        none = np.zeros(0, dtype=np.intp)
        return cls(none, np.ones((1, len(signs))), np.array([BIAS_PRECISION]), np.array([odds]))

    def keep(self, kept: NDArray[np.bool_]) -> ActiveFunctions:
        """Leave functions out."""
        return ActiveFunctions(
            self.chosen[kept[1:]], self.design[kept], self.precision[kept], self.weights[kept]
        )

    def add(self, j: int, function: Floats, precision: float) -> ActiveFunctions:
        """Return the state with one more function."""
        return ActiveFunctions(
            np.append(self.chosen, j),
            np.vstack([self.design, function]),
            np.append(self.precision, precision),
            np.append(self.weights, 0.0),
        )


def maximize(
    basis: Basis,
    signs: Floats,
    weight: Floats,
    *,
    tol: float,
    max_iter: int,
    report: bool = False,
) -> SparseModel:
    """Return the functions and precisions that maximise the marginal likelihood.

    The functions of the basis should have mean zero. The end: no change of one function gains more
    than ``tol``, or there were ``max_iter`` rounds, of which ``report`` prints a line each.
    """
    state, caution = ActiveFunctions.bias_alone(signs, weight), Caution(basis.size)
    log_evidence, last, converged = [], np.inf, False
    for _ in range(max_iter):
        posterior = laplace(state.design, signs, weight, state.precision, state.weights)
        log_evidence.append(posterior.log_evidence)
        state, gain, left = settle(state._replace(weights=posterior.mean), posterior, caution, tol)
        if not left and gain <= max(tol, SETTLED * last):
            j, precision, last = best_candidate(basis, state, posterior)
            gain = max(gain, last)
            if last > tol:
                state = state.add(j, basis.function(j), caution.entering(j, precision))
            converged = gain <= tol
        if report:
            print(
                f"[RVM] round {len(log_evidence):>4}  relevance vectors {len(state.chosen):>4}  "
                f"log evidence {posterior.log_evidence:.6g}  gain {gain:.1e}",
                flush=True,
            )
        if converged:
            break
    if not converged:
        posterior = laplace(state.design, signs, weight, state.precision, state.weights)
    weights = posterior.mean
    return SparseModel(
        chosen=state.chosen,
        weights=weights[1:],
        bias=float(weights[0]),
        precision=state.precision[1:],
        log_evidence=np.array(log_evidence),
        gain=gain,
        converged=converged,
    )


def settle(
    state: ActiveFunctions, posterior: Posterior, caution: Caution, tol: float
) -> tuple[ActiveFunctions, float, bool]:
    """Re-estimate or delete the functions in the model.

    Return the new state, the largest gain of one change, and whether a function has left. If there
    is nothing to gain the precisions stay as they are, so that they belong to the posterior.
    """
    covariance, mean, precision = posterior.covariance(), posterior.mean.copy(), state.precision
    variance, best, gains = covariance.diagonal().copy(), precision.copy(), np.zeros(len(mean))
    best_precisions(variance[1:], mean[1:], precision[1:], best[1:], gains[1:])
    gain = float(gains.max())
    if gain <= tol:
        stays = ~caution.idle(state.chosen, best)
        return state.keep(stays), gain, not stays.all()
    low, high = caution.bounds(state.chosen, precision[1:], best[1:], variance[1:])
    moved, bias = precision.copy(), precision[:1]
    reestimate(covariance, mean, moved, np.append(bias, low), np.append(bias, high), SWEEPS)
    stays = np.isfinite(moved)
    caution.leaving(state.chosen[~stays[1:]], precision[~stays])
    state = state._replace(weights=mean, precision=moved).keep(stays)
    return state, gain, not stays.all()


def best_candidate(
    basis: Basis, state: ActiveFunctions, posterior: Posterior
) -> tuple[int, float, float]:
    """Return the function outside the model that gains most, its precision, and its gain.

    For a function outside, ``s = phi^T C^-1 phi`` with ``C = B^-1 + Phi A^-1 Phi^T``, and ``q`` is
    its product with the slopes of the log-likelihood.
    """
    curvature = posterior.curvature
    squares = basis.squares(curvature)
    products = basis.products(np.vstack([state.design * curvature, posterior.slope]))
    q, products = products[-1], products[:-1]
    inverse, _ = dtrtri(posterior.factor, lower=1)
    s = squares - np.square(inverse @ products).sum(axis=0)
    open_ = s > ROUNDING * squares
    open_[state.chosen] = False
    open_ &= ~find_twins(products, squares, state, curvature)
    ratio = np.zeros(basis.size)
    np.divide(q * q, s, out=ratio, where=open_)
    j = int(ratio.argmax())
    if ratio[j] <= 1.0:
        return j, np.inf, 0.0
    gain = 0.5 * (ratio[j] - 1.0 - np.log(ratio[j]))
    return j, float(s[j] / (ratio[j] - 1.0)), float(gain)


def find_twins(
    products: Floats, squares: Floats, state: ActiveFunctions, curvature: Floats
) -> NDArray[np.bool_]:
    """Return which functions are multiples of one in the model, but for a constant.

    Both together would leave open how they share the variance of their prior.
    """
    total = curvature.sum()
    inside = products[1:, state.chosen].diagonal() - products[0, state.chosen] ** 2 / total
    outside = squares - products[0] ** 2 / total
    common = products[1:] - np.outer(products[0, state.chosen], products[0]) / total
    close: NDArray[np.bool_] = common**2 > (1.0 - ROUNDING) * np.outer(inside, outside)
    return np.asarray(close.any(axis=0))


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

        Each is returned once, so that none comes and goes for ever.
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


@numba.njit
def _best(alpha, variance, mean):
    """Return the best precision of one function, and what it gains.

    With the curvature B of the likelihood held fixed, the log marginal likelihood depends on one
    precision alpha, all others given, by ``(log alpha - log(alpha + s) + q^2 / (alpha + s)) / 2``.
    Its maximum is at ``s^2 / (q^2 - s)`` if ``q^2 > s``, and at infinity, without the function,
    otherwise. A function in the model has ``s = 1 / variance - alpha`` and ``q = mean / variance``,
    by the posterior mean and variance of its weight.
    """
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
