"""Metrics that are not learned: Minkowski's and Mahalanobis's.

Minkowski's ``(sum_j |x_j - w_j|^p)^(1/p)`` is the largest difference for p = inf. The plain sum of
powers is taken first. Only where it leaves the range of double precision are the differences
divided by the largest one and summed again.

Mahalanobis's ``(x - w)^T S^-1 (x - w)``, S the covariance within the classes, is a matrix distance
whose Omega, with ``Omega^T Omega = S^-1``, is made once from the data and stays.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numba
import numpy as np
from scipy.spatial.distance import cdist

from .._arrays import ROUNDING, Floats, Indices, as_floats, class_means, column_ranges, some_rows
from .._validation import check_number, number_in
from ..codebook import Codebook
from ..native import GRADIENT, PAIR, f8, matrix, matrix_out, native, types
from .axes import whitening, within_covariance
from .constraints import Free
from .distance import Distance, distances_by_row, starts_from
from .matrix import LARGEST, Matrix
from .mixins import FeatureTerms, Geometry

SAFE = (1e-280, 1e280)
"""Sums of powers that have lost nothing to underflow or overflow."""

# As native functions are compiled; and a largest difference need not look out for NaN.
_sum = numba.njit(fastmath={"reassoc", "contract", "nsz"})

_maximum = numba.njit(fastmath={"nnan", "nsz"})


@_maximum
def _largest(x, w):
    """Return ``max |x_j - w_j|``."""
    largest = 0.0
    for j in range(x.size):
        r = abs(x[j] - w[j])
        largest = r if r > largest else largest
    return largest


@_sum
def _absolutes(x, w):
    """Return ``sum |x_j - w_j|``."""
    total = 0.0
    for j in range(x.size):
        total += abs(x[j] - w[j])
    return total


@_sum
def _squares(x, w):
    """Return ``sum (x_j - w_j)^2``."""
    total = 0.0
    for j in range(x.size):
        r = x[j] - w[j]
        total += r * r
    return total


@_sum
def _powers(x, w, p):
    """Return ``sum |x_j - w_j|^p``."""
    total = 0.0
    for j in range(x.size):
        total += abs(x[j] - w[j]) ** p
    return total


@_sum
def _scaled_distance(x, w, p):
    """Return the distance where the powers overflow or underflow."""
    unit, total = _largest(x, w), 0.0
    if unit == 0.0:
        return 0.0
    for j in range(x.size):
        total += (abs(x[j] - w[j]) / unit) ** p
    return unit * total ** (1.0 / p)


@_sum
def _minkowski(x, w, p):
    """Return the distance of one sample to one prototype; 0 stands for p = inf."""
    if p == 1.0:
        return _absolutes(x, w)
    if p == 0.0:
        return _largest(x, w)
    total = _squares(x, w) if p == 2.0 else _powers(x, w, p)
    if SAFE[0] < total < SAFE[1]:
        return math.sqrt(total) if p == 2.0 else total ** (1.0 / p)
    return _scaled_distance(x, w, p)


class Minkowski(Geometry, FeatureTerms, Distance):
    """``(sum_j |x_j - w_j|^p)^(1/p)``, not squared.

    Parameters
    ----------
    p : float, default=2.0
        The exponent, at least 1: 1 is the city block distance, 2 the Euclidean one, ``np.inf``
        the largest difference of a feature.

    Notes
    -----
    With p = 1 and p = inf the distance has kinks, and solvers that need smooth functions do not
    take it.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import Minkowski
    >>> x, w = np.array([0.0, 0.0]), np.array([3.0, 4.0])
    >>> [Minkowski.pair(x, w, np.array([p])) for p in (1.0, 2.0)]
    [7.0, 5.0]
    """

    squared = False
    steep = True

    def __init__(self, p: float = 2.0):
        self.p = p

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether the gradient is continuous, but for the place of the sample."""
        return 1.0 < self.p < np.inf

    def check(self) -> None:
        """Raise if p is out of range."""
        if not (isinstance(self.p, numbers.Real) and float(self.p) == np.inf):
            number_in(self.p, "p={value!r} of Minkowski must be np.inf, or it", low=1.0)

    @property
    def _exponent(self) -> float:
        """Return p as native functions take it: 0 stands for infinity, so that it can be stored."""
        return 0.0 if self.p == np.inf else float(self.p)

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        return _minkowski(x, w, theta[0])

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivative by the prototype; nothing where it lies on the sample.

        With t the differences in units of the largest: ``sign(w - x) (t / |t|_p)^(p - 1)``.
        """
        p, unit = theta[0], _largest(x, w)
        if unit == 0.0:
            return
        if p == 1.0:
            for j in range(x.size):
                gw[j] = np.sign(w[j] - x[j])
        elif p == 0.0:
            for j in range(x.size):
                if abs(x[j] - w[j]) == unit:
                    gw[j] = np.sign(w[j] - x[j])
                    return
        else:
            total = 0.0
            for j in range(x.size):
                t = abs(x[j] - w[j]) / unit
                gw[j] = t if p == 2.0 else t ** (p - 1.0)
                total += gw[j] * t
            share = total ** ((1.0 - p) / p)
            for j in range(x.size):
                gw[j] *= share if w[j] > x[j] else -share

    def initial(self, X: Floats, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return p, and a typical distance of a row to the mean of its class, or to that of all.

        Zero where rows do not tell, as the first of a stream.
        """
        length = self._mean_length(X, y, weight) or self._mean_length(X, 0 * y, weight)
        return np.tile([self._exponent, length], (n_groups, 1))

    def _mean_length(self, X: Floats, y: Indices, weight: Floats) -> float:
        """Return the mean distance of the rows to the means of their classes."""
        means = class_means(X, y, weight, int(y.max()) + 1)
        theta, group = np.array([[self._exponent]]), np.zeros(1, dtype=np.intp)
        origin, total = np.zeros((1, X.shape[1])), 0.0
        for rows in some_rows(X):
            D = distances_by_row(self, X[rows] - means[y[rows]], origin, theta, group)
            total += float(D[:, 0] @ weight[rows])
        return total / float(weight.sum())

    def stride(self, codebook: Codebook) -> float:
        """Return twice a typical distance over the squared norm that the gradient can have.

        Where the first rows told none, it is that of the prototypes from each other.

        The gradient has norm one for p = 2, and at most that for larger p; for smaller p it grows
        with the number of features.
        """
        norm = codebook.prototypes.shape[1] ** (2.0 / self.p - 1.0)
        length = codebook.metric[0, 1] or self.pairwise(codebook.prototypes, codebook).mean()
        return float(2.0 * (length or 1.0) / max(norm, 1.0))

    def length(self, scale: float, codebook: Codebook) -> float:
        """Return the length along a gradient at which the distance is about ``scale``."""
        return math.sqrt(0.5 * scale * self.stride(codebook))

    def steepness(self, codebook: Codebook) -> Floats:
        """Return the largest p-norm of a vector of Euclidean length one."""
        K, d = codebook.prototypes.shape
        return np.full(K, float(d) ** max(1.0 / self.p - 0.5, 0.0))

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Return all distances, by sums that run over all prototypes at once."""
        X, p = as_floats(X), float(self.p)
        if p == np.inf:
            return cdist(X, codebook.prototypes, "chebyshev")
        D = np.zeros((len(X), len(codebook.labels)))
        sum_columns(X, np.ascontiguousarray(codebook.prototypes.T), p, D)
        if p > 1.0:
            low, high = SAFE
            safe = low < D.min() and high > D.max()
            lost = None if safe else ~((low < D) & (high > D)).all(axis=1)
            D **= 1.0 / p
            if lost is not None:
                D[lost] = super().pairwise(X[lost], codebook)
        return D

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return ``e_j`` times the derivative of the distance by it, e the difference.

        The distance is their sum, since it is homogeneous in e. For p = 1 they are ``|e_j|``; for
        p = inf the largest differences share the distance.
        """
        e: Floats = np.abs(X - codebook.prototypes[prototype])
        largest = e.max(axis=1, keepdims=True)
        t = np.divide(e, largest, out=np.zeros_like(e), where=largest > 0.0)
        powers = (t == 1.0).astype(np.float64) if self.p == np.inf else t**self.p
        total = np.maximum(powers.sum(axis=1, keepdims=True), 1.0)
        return powers * (largest * total ** (1.0 / self.p - 1.0))


@native(types.void(matrix, matrix, f8, matrix_out))
def sum_columns(X, columns, p, D):
    """Add up ``|x_j - w_j|^p``, p finite; ``columns`` are W transposed."""
    for i in range(X.shape[0]):
        out = D[i]
        for j in range(X.shape[1]):
            x, w = X[i, j], columns[j]
            if p == 1.0:
                for k in range(out.size):
                    out[k] += abs(x - w[k])
            elif p == 2.0:
                for k in range(out.size):
                    out[k] += (x - w[k]) * (x - w[k])
            else:
                for k in range(out.size):
                    out[k] += abs(x - w[k]) ** p


class Mahalanobis(Matrix):
    """``(x - w)^T S^-1 (x - w)``: the units and correlations of the features do not count.

    S is the covariance of the rows about the means of their classes, shrunk to a multiple of the
    identity: ``(1 - s) S + s trace(S) / d I``.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        The share s, from 0 to 1; ``"auto"`` is the one of Ledoit and Wolf, where the sum of the
        weights is the number of rows.

    Notes
    -----
    With a share of 0 and a singular S the pseudo-inverse is taken: directions in which no class
    varies do not count. Without any variation within the classes S is the identity. In a stream S
    is that of the first rows.

    References
    ----------
    Ledoit and Wolf (2004), *A well-conditioned estimator for large-dimensional covariance
    matrices*, Journal of Multivariate Analysis 88.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import PrototypeClassifier
    >>> from protolearn.distances import Mahalanobis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PrototypeClassifier(distance=Mahalanobis(), random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    adaptive = False
    constraint = Free()  # type: ignore[assignment]
    rank = None
    regularization = 0.0
    localized = None

    def __init__(self, shrinkage: float | str = "auto"):
        self.shrinkage = shrinkage

    def check(self) -> None:
        """Raise if the share is out of range."""
        if not isinstance(self.shrinkage, str):
            check_number(self, "shrinkage", low=0.0, high=1.0)
        elif self.shrinkage != "auto":
            raise ValueError(
                f"shrinkage={self.shrinkage!r} of {type(self).__name__} must be 'auto' or a "
                "number in [0, 1]."
            )

    @starts_from("covariances")
    def initial(self, X: Any, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the Omega that makes the shrunk covariance within the classes the identity."""
        d = X.shape[1]
        if d * d > LARGEST:
            raise ValueError(
                f"The covariance of {d} features has {d} x {d} entries, too many for "
                f"{type(self).__name__}; reduce the features first, for example with TruncatedSVD."
            )
        low, high = column_ranges(X)
        unit = float((high - low).max()) or 1.0
        S, share = within_covariance(X, y, weight, unit)
        constant = np.sqrt(S.diagonal()) * unit <= ROUNDING * np.fmax(np.abs(low), np.abs(high))
        S[constant], S[:, constant] = 0.0, 0.0
        if self.shrinkage != "auto":
            share = float(self.shrinkage)
        mean = S.trace() / d
        S *= 1.0 - share
        S[np.diag_indices(d)] += share * mean
        omega = np.zeros((d, d))
        if mean > 0.0:
            found = whitening(S) / unit
            omega[: len(found)] = found
        else:
            np.fill_diagonal(omega, 1.0)
        return np.tile(omega.ravel(), (n_groups, 1))
