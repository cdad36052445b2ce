"""Renyi's divergence of rows divided by their sums: ``log(sum_j p_j^a q_j^(1 - a)) / (a - 1)``."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from .._arrays import Floats, Indices, as_floats
from .._validation import check_positive
from ..codebook import Codebook
from ..native import GRADIENT, PAIR, native
from .base import Distance, starts_from
from .divergences import Divergence

NEAR_ONE = 0.01
"""Orders of Renyi's divergence this near to 1 lose digits by products."""

SMALLEST_SUM = 1e-200
"""Sums of products below which terms may have been lost to underflow."""


@numba.njit
def _order_sum(x, w, order, by_x, by_w):
    """Return a shift m and ``sum p (p / q)^(order - 1) e^-m`` of rows divided by their sums.

    The sum is less one where the shift is zero: no digit is lost near order 1.
    """
    shift = 0.0
    for j in range(x.size):
        if x[j] > 0.0:
            shift = max(shift, (order - 1.0) * math.log((x[j] / by_x) / (w[j] / by_w)))
    shift = shift if shift > 500.0 else 0.0
    total = 0.0
    for j in range(x.size):
        if x[j] > 0.0:
            p = x[j] / by_x
            power = (order - 1.0) * math.log(p / (w[j] / by_w))
            total += p * (math.exp(power - shift) if shift > 0.0 else math.expm1(power))
    return shift, total


class Renyi(Divergence):
    """``log(sum_j x_j^alpha w_j^(1 - alpha)) / (alpha - 1)`` of rows divided by their sums.

    Parameters
    ----------
    alpha : float, default=0.5
        The order, positive and not 1. Near 1 it is the Kullback-Leibler divergence of the rows
        divided by their sums; 0.5 is twice minus the logarithm of the Bhattacharyya coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import Renyi
    >>> x, w = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> round(Renyi.pair(x, w, np.array([0.0, 0.5])), 6)  # log 2
    0.693147
    """

    def __init__(self, alpha: float = 0.5):
        self.alpha = alpha

    def check(self) -> None:
        """Raise if the order is out of range."""
        if check_positive(self, "alpha") == 1.0:
            raise ValueError(
                f"alpha={self.alpha!r} of Renyi must not be 1; its limit there is "
                "KullbackLeibler() of rows that sum to one."
            )

    @native(PAIR)
    def pair(x, w, theta):
        """Return the divergence of one sample from one prototype."""
        shift, total = _order_sum(x, w, theta[1], x.sum(), w.sum())
        value = shift + math.log(total) if shift > 0.0 else math.log1p(total)
        return max(value / (theta[1] - 1.0), 0.0)

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write ``(1 - (p / q)^alpha / sum p^alpha q^(1 - alpha)) / sum w``, p and q of sum one."""
        by_x, by_w, order = x.sum(), w.sum(), theta[1]
        shift, total = _order_sum(x, w, order, by_x, by_w)
        total = total if shift > 0.0 else total + 1.0
        for j in range(x.size):
            gw[j] = 1.0 / by_w
            if x[j] > 0.0:
                power = order * math.log((x[j] / by_x) / (w[j] / by_w))
                gw[j] -= math.exp(power - shift) / total / by_w

    @starts_from("means")
    def initial(self, X: Floats, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the floor and the order."""
        floor = super().initial(X, y, weight, n_groups)
        return np.hstack([floor, np.full_like(floor, self.alpha)])

    def stride(self, codebook: Codebook) -> float:
        """Return ``2 w sum(w) / alpha``: near x it is ``(alpha / 2) sum (p - q)^2 / q``."""
        W = codebook.prototypes
        return float(2.0 * (W.sum(axis=1) * W.mean(axis=1)).mean() / self.alpha)

    def slopes(self, codebook: Codebook) -> tuple[Floats, Floats]:
        """Return ``1 / sum w`` and ``q^-alpha / sum w``."""
        by_w = codebook.prototypes.sum(axis=1, keepdims=True)
        return 1.0 / by_w, (codebook.prototypes / by_w) ** -self.alpha / by_w

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Floats, Any]:
        """Return all divergences, by the product of ``p^alpha`` and ``q^(1 - alpha)``."""
        X, order = as_floats(X), float(self.alpha)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            A = (X / X.sum(axis=1, keepdims=True)) ** order
            Q = codebook.prototypes / codebook.prototypes.sum(axis=1, keepdims=True)
            total = A @ (Q ** (1.0 - order)).T
        if abs(order - 1.0) < NEAR_ONE or not SMALLEST_SUM < total.min() <= total.max() < np.inf:
            return Distance.pairwise(self, X, codebook), None
        D = np.log(total)
        D /= order - 1.0
        return np.maximum(D, 0.0, out=D), (A, 1.0 / total)
