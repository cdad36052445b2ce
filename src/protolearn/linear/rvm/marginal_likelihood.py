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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from ..._arrays import Floats, Indices
from .basis import Basis
from .laplace import Posterior, laplace
from .precisions import Caution, best_precisions, reestimate

BIAS_PRECISION = 0.01
"""A standard deviation of ten for the mean of the log-odds."""

SWEEPS = 5
"""How many times that all precisions are set one by one before the curvature is computed again."""

SETTLED = 0.1
"""Share of the gain by the last new function below which another one is looked for."""

ROUNDING = 1e-10
"""Share of a squared length that counts as rounding."""

Report = Callable[[int, int, float, float], None]
"""Is told the round, the number of functions, the log evidence and the largest gain seen."""


class SparseModel(NamedTuple):
    """A sparse Bayesian model.

    Attributes
    ----------
    chosen : array (m,)
        The functions in the model.
    weights : array (m,)
        Their most probable weights, in log-odds.
    bias : float
        Offset of the log-odds.
    precision : array (m,)
        Precisions of the priors of the weights.
    log_evidence : array (rounds,)
        Logarithm of the marginal likelihood in each round.
    gain : float
        What the best single change would still gain.
    converged : bool
        Whether that is within the tolerance.
    """

    chosen: Indices
    weights: Floats
    bias: float
    precision: Floats
    log_evidence: Floats
    gain: float
    converged: bool


class State(NamedTuple):
    """The functions in the model behind the bias, their precisions, and weights to begin with."""

    chosen: Indices
    design: Floats
    precision: Floats
    weights: Floats

    @classmethod
    def bias_alone(cls, signs: Floats, weight: Floats) -> State:
        """Return the model without any function: the odds of the classes."""
        odds = np.log(weight[signs > 0.0].sum()) - np.log(weight[signs < 0.0].sum())
        none = np.zeros(0, dtype=np.intp)
        return cls(none, np.ones((1, len(signs))), np.array([BIAS_PRECISION]), np.array([odds]))

    def keep(self, kept: NDArray[np.bool_]) -> State:
        """Leave functions out."""
        return State(
            self.chosen[kept[1:]], self.design[kept], self.precision[kept], self.weights[kept]
        )

    def add(self, j: int, function: Floats, precision: float) -> State:
        """Return the state with one more function."""
        return State(
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
    report: Report | None = None,
) -> SparseModel:
    """Choose functions and precisions that maximise the marginal likelihood.

    Parameters
    ----------
    basis : Basis
        The functions to choose from; they should have mean zero.
    signs, weight : array (n,)
        Classes +1 and -1 of the samples, and factors of their log-likelihoods.
    tol : float
        Stop if no change of one function gains more in the log marginal likelihood.
    max_iter : int
        Most rounds.
    report : callable, default=None
        Is told how each round ends.
    """
    state, caution = State.bias_alone(signs, weight), Caution(basis.size)
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
        if report is not None:
            report(len(log_evidence), len(state.chosen), posterior.log_evidence, gain)
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
    state: State, posterior: Posterior, caution: Caution, tol: float
) -> tuple[State, float, bool]:
    """Re-estimate or delete the functions in the model.

    Gives the new state, the largest gain of one change, and whether a function has left. If there
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


def best_candidate(basis: Basis, state: State, posterior: Posterior) -> tuple[int, float, float]:
    """Find the function outside the model that gains most; give it, its precision, its gain.

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
    open_ &= ~twins(products, squares, state, curvature)
    ratio = np.zeros(basis.size)
    np.divide(q * q, s, out=ratio, where=open_)
    j = int(ratio.argmax())
    if ratio[j] <= 1.0:
        return j, np.inf, 0.0
    gain = 0.5 * (ratio[j] - 1.0 - np.log(ratio[j]))
    return j, float(s[j] / (ratio[j] - 1.0)), float(gain)


def twins(products: Floats, squares: Floats, state: State, curvature: Floats) -> NDArray[np.bool_]:
    """Return which functions are multiples of one in the model, but for a constant.

    Both together would leave open how they share the variance of their prior.
    """
    total = curvature.sum()
    inside = products[1:, state.chosen].diagonal() - products[0, state.chosen] ** 2 / total
    outside = squares - products[0] ** 2 / total
    common = products[1:] - np.outer(products[0, state.chosen], products[0]) / total
    close: NDArray[np.bool_] = common**2 > (1.0 - ROUNDING) * np.outer(inside, outside)
    return np.asarray(close.any(axis=0))
