"""Divergences of non-negative rows such as counts, spectra and histograms.

Not metrics: the sample comes first and the prototype second, in training and in use. Prototypes
stay above a small positive floor. The derivative of each by w has the form ``a(w) - b(w) h A``
with A a function of the sample alone, h one number for each pair, a and b functions of the
prototype alone; so with G = dL/dD the gradients are ``(sum_i G_ik) a_k - b_k (G h)_k^T A``, by one
product.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numba
import numpy as np
from scipy.sparse import issparse
from scipy.special import xlogy

from .._arrays import Floats, Indices, as_floats
from .._validation import check_positive
from ..codebook import Codebook, Gradients
from ..native import GRADIENT, PAIR, native
from .distance import Distance, starts_from
from .mixins import BlockForm, FeatureTerms, LowerBounded
from .sqeuclidean import pull_differences

FLOOR = 1e-3
"""The least entry of a prototype as a share of the mean entry of the data."""

NEAR_ONE = 0.01
"""Orders of Renyi's divergence this near to 1 lose digits by products."""

SMALLEST_SUM = 1e-200
"""Sums of products below which terms may have been lost to underflow."""


class Divergence(BlockForm, LowerBounded, Distance):
    """What divergences share: the floor, and gradients by products.

    ``forward`` keeps A and h of the derivative, h None if it is one.
    """

    squared = None
    positive_only = True
    steep = True
    needs_mass = True
    """Whether a row of zeros has no divergence."""

    def check_rows(self, X: Any) -> None:
        """Raise if the rows are sparse, negative, or all zero where that has no meaning."""
        if issparse(X):
            self.suited_to(X)
        super().check_rows(X)
        if self.needs_mass and X.size:
            empty = X.max(axis=1) == 0.0
            if empty.any():
                raise ValueError(
                    f"Row {int(empty.argmax())} passed to {type(self).__name__} is zero "
                    "everywhere and has no direction to compare; drop such rows, or add a small "
                    "number to all entries."
                )

    @starts_from("means")
    def initial(self, X: Floats, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the floor of the prototypes."""
        mean = float((weight / weight.sum()) @ X.mean(axis=1))
        floor = max(FLOOR * (mean if mean > 0.0 else 1.0), np.finfo(np.float64).tiny)
        return np.full((n_groups, 1), floor)

    def lowest(self, codebook: Codebook) -> float:
        """Return the floor."""
        return float(codebook.metric[0, 0])

    @abstractmethod
    def slopes(self, codebook: Codebook) -> tuple[Floats, Floats]:
        """Return a and b of the derivative ``a(w) - b(w) h A``, arrays that broadcast to W."""

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients, given dL/dD at two prototypes of each row."""
        kept = self.forward(X, codebook)[1] if kept is None else kept
        if kept is None:
            super().pull_winners(X, codebook, index, value, out)
            return
        A, h = kept
        pulled = value if h is None else value * np.take_along_axis(h, index, axis=1)
        sums = np.zeros_like(codebook.prototypes)
        pull_differences(A, np.zeros_like(sums), index, pulled, sums)  # -2 sum
        total = as_floats(np.bincount(index.ravel(), value.ravel(), len(sums)))
        self._add(codebook, total, -0.5 * sums, out)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, given the whole matrix dL/dD."""
        kept = self.forward(X, codebook)[1] if kept is None else kept
        if kept is None:
            super().pull_rows(X, codebook, G, out)
            return
        A, h = kept
        pulled = G if h is None else G * h
        self._add(codebook, G.sum(axis=0), pulled.T @ A, out)

    def _add(self, codebook: Codebook, total: Floats, sums: Floats, out: Gradients) -> None:
        """Add ``total a - b sums``."""
        a, b = self.slopes(codebook)
        out.prototypes[...] += total[:, None] * a - b * sums


class KullbackLeibler(FeatureTerms, Divergence):
    """``sum_j x_j log(x_j / w_j) - x_j + w_j``: generalised Kullback-Leibler divergence.

    Rows need not sum to one; an entry of zero adds ``w_j``.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import KullbackLeibler
    >>> x, w = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> round(KullbackLeibler.pair(x, w, np.empty(0)), 6)  # log 2
    0.693147
    """

    needs_mass = False

    @native(PAIR)
    def pair(x, w, theta):
        """Return the divergence of one sample from one prototype."""
        total = 0.0
        for j in range(x.size):
            total += w[j] - x[j]
            if x[j] > 0.0:
                total += x[j] * math.log(x[j] / w[j])
        return max(total, 0.0)

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write ``1 - x / w``."""
        for j in range(x.size):
            gw[j] = 1.0 - x[j] / w[j]

    def stride(self, codebook: Codebook) -> float:
        """Return twice the mean entry: near x the divergence is ``(x - w)^2 / (2 w)``."""
        return float(2.0 * codebook.prototypes.mean())

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return what each feature adds."""
        W = codebook.prototypes[prototype]
        terms: Floats = xlogy(X, X / W) - X + W
        return terms

    def slopes(self, codebook: Codebook) -> tuple[Floats, Floats]:
        """Return 1 and ``1 / w``."""
        return np.ones(1), 1.0 / codebook.prototypes

    def prepare(self, X: Floats, codebook: Codebook) -> Floats:
        """Return ``sum x log(x / c) - x``, c the centre: fewer digits are lost than without it."""
        X = as_floats(X)
        own: Floats = (xlogy(X, X / self._middle(codebook)) - X).sum(axis=1)
        return own

    def _middle(self, codebook: Codebook) -> Floats:
        """Return the centre, where it is zero the floor."""
        return np.maximum(codebook.center, self.lowest(codebook))

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Floats, Any]:
        """Return all divergences, by the product of X and the logarithms of ``w / c``."""
        X, W = as_floats(X), codebook.prototypes
        D = X @ -np.log(W / self._middle(codebook)).T
        D += W.sum(axis=1)
        D += (self.prepare(X, codebook) if prepared is None else prepared)[:, None]
        return np.maximum(D, 0.0, out=D), (X, None)


@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def _products(x, w, largest_x, largest_w):
    """Return x.x, w.w and x.w with both in units of their largest entries."""
    xx = ww = xw = 0.0
    for j in range(x.size):
        a, b = x[j] / largest_x, w[j] / largest_w
        xx += a * a
        ww += b * b
        xw += a * b
    return xx, ww, xw


class CauchySchwarz(Divergence):
    """``(1/2) log((x.x) (w.w) / (x.w)^2)``: minus the logarithm of the cosine.

    The lengths of sample and prototype do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import CauchySchwarz
    >>> x, w = np.array([0.0, 2.0]), np.array([3.0, 3.0])
    >>> round(CauchySchwarz.pair(x, w, np.empty(0)), 6)  # log(2) / 2
    0.346574
    """

    @native(PAIR, makes_arrays=True)
    def pair(x, w, theta):
        """Return the divergence of one sample from one prototype."""
        xx, ww, xw = _products(x, w, x.max(), w.max())
        return max(0.5 * (math.log(xx) + math.log(ww)) - math.log(xw), 0.0)

    @native(GRADIENT, makes_arrays=True)
    def gradient(x, w, theta, gw, gtheta):
        """Write ``w / (w.w) - x / (x.w)``."""
        largest_x, largest_w = x.max(), w.max()
        _, ww, xw = _products(x, w, largest_x, largest_w)
        for j in range(x.size):
            gw[j] = (w[j] / largest_w / ww - x[j] / largest_x / xw) / largest_w

    def stride(self, codebook: Codebook) -> float:
        """Return ``2 |w|^2``: near x the divergence is ``|x - w|^2 / (2 |w|^2)`` across w."""
        return float(2.0 * np.square(codebook.prototypes).sum(axis=1).mean())

    def slopes(self, codebook: Codebook) -> tuple[Floats, Floats]:
        """Return ``w / (w.w)`` and 1."""
        unit = codebook.prototypes.max()
        W = codebook.prototypes / unit
        return W / np.square(W).sum(axis=1, keepdims=True) / unit, np.ones(1)

    def prepare(self, X: Floats, codebook: Codebook) -> Floats:
        """Return the logarithm of the norm of each row."""
        largest: Floats = as_floats(X.max(axis=1))
        return np.log(largest) + 0.5 * np.log(np.square(X / largest[:, None]).sum(axis=1))

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Floats, Any]:
        """Return all divergences, by the product of X and W."""
        X, unit = as_floats(X), codebook.prototypes.max()
        W = codebook.prototypes / unit
        product = X @ W.T
        D = -np.log(product)
        D += 0.5 * np.log(np.square(W).sum(axis=1))
        D += (self.prepare(X, codebook) if prepared is None else prepared)[:, None]
        return np.maximum(D, 0.0, out=D), (X, 1.0 / product / unit)


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
