"""Kernel distance: ``k(w, w) - 2 k(x, w) + k(x, x)``, the squared distance in a feature space.

The prototypes stay in the input space, and move along the gradient of k. By products: the radial
basis function and the linear kernel are functions of the squared Euclidean distance, and with
``F_ik`` the factor of the sample in the derivative, gradients are those of that distance with
``G_ik F_ik`` in place of G; the polynomial kernel adds a multiple of the prototype.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from scipy.sparse import issparse

from .._arrays import ROUNDING, Floats, Indices, as_floats, some_rows
from .._validation import check_choice, check_integer, check_number, check_positive
from ..codebook import Codebook, Gradients
from ..native import GRADIENT, PAIR, native
from .distance import Distance, starts_from
from .mixins import BlockForm, Geometry
from .sqeuclidean import SquaredEuclidean

KERNELS = ("rbf", "polynomial", "linear")
LARGEST_GAMMA = 1e300
EUCLIDEAN = SquaredEuclidean()


@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def _square(x, w):
    """Return ``|x - w|^2``."""
    total = 0.0
    for j in range(x.size):
        r = x[j] - w[j]
        total += r * r
    return total


@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def _affine(x, w, theta):
    """Return ``gamma x.w + coef0``."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * w[j]
    return theta[1] * total + theta[3]


class Kernel(BlockForm, Geometry, Distance):
    """``k(w, w) - 2 k(x, w) + k(x, x)``: the squared Euclidean distance in the space of a kernel.

    Parameters
    ----------
    kernel : {"rbf", "polynomial", "linear"}, default="rbf"
        ``exp(-gamma |x - w|^2)``, ``(gamma x.w + coef0)^degree``, or ``x.w``; the last is the
        squared Euclidean distance itself.
    gamma : float or "scale", default="scale"
        Factor in the first two; ``"scale"`` is one over the number of features times the variance
        of all entries of the training rows.
    degree : int, default=3
        Exponent of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel, not negative.

    Notes
    -----
    Under ``"rbf"`` the nearest prototypes are those of the Euclidean distance; the distance is at
    most 2, so that samples far from all prototypes move none. Under ``"polynomial"`` it loses
    digits where data lie far from the origin.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import PrototypeClassifier
    >>> from protolearn.distances import Kernel
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PrototypeClassifier(distance=Kernel("rbf"), random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.95
    """

    squared = True
    steep = True

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def check(self) -> None:
        """Raise if a setting is out of range."""
        check_choice(self, "kernel", KERNELS)
        check_integer(self, "degree", low=1)
        check_number(self, "coef0", low=0.0)
        if not isinstance(self.gamma, str):
            check_positive(self, "gamma")
        elif self.gamma != "scale":
            raise ValueError(
                f"gamma={self.gamma!r} of {type(self).__name__} must be 'scale' or a number "
                "greater than 0."
            )

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        if theta[0] == 0.0:
            return -2.0 * math.expm1(-theta[1] * _square(x, w))
        if theta[0] == 2.0:
            return _square(x, w)
        ww, xw, xx = _affine(w, w, theta), _affine(x, w, theta), _affine(x, x, theta)
        n = theta[2]
        return max(ww**n - 2.0 * xw**n + xx**n, 0.0)

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivative by the prototype."""
        of_w = of_x = 2.0
        if theta[0] == 0.0:
            of_w = of_x = 4.0 * theta[1] * math.exp(-theta[1] * _square(x, w))
        elif theta[0] == 1.0:
            n, slope = theta[2], 2.0 * theta[1] * theta[2]
            of_w = slope * _affine(w, w, theta) ** (n - 1.0)
            of_x = slope * _affine(x, w, theta) ** (n - 1.0)
        for j in range(x.size):
            gw[j] = of_x * (w[j] - x[j]) + (of_w - of_x) * w[j]

    @starts_from("covariances")
    def initial(self, X: Floats, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the number of the kernel, gamma, the degree and the constant."""
        scale = isinstance(self.gamma, str)
        gamma = inverse_variance(X, weight) if scale else float(self.gamma)
        row = [KERNELS.index(self.kernel), gamma, float(self.degree), float(self.coef0)]
        return np.tile(row, (n_groups, 1))

    def stride(self, codebook: Codebook) -> float:
        """Return the inverse of the curvature at the prototypes, half of it for Euclidean."""
        _, gamma, degree, coef0 = codebook.metric[0]
        if self.kernel == "linear":
            return 1.0
        if self.kernel == "rbf":
            return float(0.5 / gamma)
        norms = np.square(codebook.prototypes).sum(axis=1)
        curvature = float(np.mean(degree * gamma * (gamma * norms + coef0) ** (degree - 1.0)))
        return 1.0 / curvature if curvature > 0.0 else 1.0

    def directions(self, codebook: Codebook) -> Floats | None:
        """Return the prototypes, relative to the centre, under the linear kernel."""
        return EUCLIDEAN.directions(codebook) if self.kernel == "linear" else None

    def steepness(self, codebook: Codebook) -> Floats | None:
        """Return the square root of ``2 gamma`` for "rbf", since ``1 - exp(-t) <= t``."""
        if self.kernel == "polynomial":
            return None
        largest = math.sqrt(2.0 * codebook.metric[0, 1]) if self.kernel == "rbf" else 1.0
        return np.full(len(codebook.prototypes), largest)

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff."""
        E = EUCLIDEAN.rounding(X, codebook, D, moved)
        # 1 - exp(-t) changes no faster than t; twice that, since exp is rounded.
        return 4.0 * codebook.metric[0, 1] * E if self.kernel == "rbf" else E

    def prepare(self, X: Any, codebook: Codebook) -> Floats:
        """Return ``k(x, x)``, or the squared distance of each row to the centre."""
        if self.kernel != "polynomial":
            return EUCLIDEAN.prepare(X, codebook)
        _, gamma, degree, coef0 = codebook.metric[0]
        norms: Floats = np.einsum("ij,ij->i", X, X)
        return (gamma * norms + coef0) ** degree

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, Any]:
        """Return all distances, and the factors F of the samples in the derivatives."""
        if self.kernel == "linear":
            return EUCLIDEAN.forward(X, codebook, prepared)
        gamma = codebook.metric[0, 1]
        if self.kernel == "polynomial":
            return self._polynomial(X, codebook, prepared)
        D, _ = EUCLIDEAN.forward(X, codebook, prepared)
        D *= -gamma
        F = np.exp(D)
        F *= 2.0 * gamma
        np.expm1(D, out=D)
        D *= -2.0
        return D, F

    def _polynomial(self, X: Any, codebook: Codebook, prepared: Floats | None) -> tuple[Any, Any]:
        """Return the same for the polynomial kernel."""
        W, (_, gamma, degree, coef0) = codebook.prototypes, codebook.metric[0].tolist()
        prepared = self.prepare(X, codebook) if prepared is None else prepared
        affine = X @ (gamma * W).astype(X.dtype, copy=False).T
        affine += coef0
        own = (gamma * np.square(W).sum(axis=1) + coef0) ** degree
        F = affine ** (degree - 1.0)
        D = affine
        D *= F
        D *= -2.0
        D += own.astype(X.dtype, copy=False)
        D += prepared[:, None]
        F *= gamma * degree
        return np.maximum(D, 0.0, out=D), F

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
        if self.kernel == "linear":
            EUCLIDEAN.pull_winners(X, codebook, index, value, out)
            return
        F = self.forward(X, codebook)[1] if kept is None else kept
        pulled = value * np.take_along_axis(F, index, axis=1)
        EUCLIDEAN.pull_winners(X, codebook, index, pulled, out)
        if self.kernel == "polynomial":
            K, where = len(codebook.labels), index.ravel()
            given, taken = (as_floats(np.bincount(where, v.ravel(), K)) for v in (value, pulled))
            self._add_own(codebook, given, taken, out)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, given the whole matrix dL/dD."""
        if self.kernel == "linear":
            EUCLIDEAN.pull_rows(X, codebook, G, out)
            return
        pulled = G * (self.forward(X, codebook)[1] if kept is None else kept)
        EUCLIDEAN.pull_rows(X, codebook, pulled, out)
        if self.kernel == "polynomial":
            self._add_own(codebook, G.sum(axis=0), pulled.sum(axis=0), out)

    def _add_own(self, codebook: Codebook, given: Floats, taken: Floats, out: Gradients) -> None:
        """Add the multiples of the prototypes by which ``k(w, w)`` exceeds what was pulled."""
        W, (_, gamma, degree, coef0) = codebook.prototypes, codebook.metric[0].tolist()
        slope = gamma * degree * (gamma * np.square(W).sum(axis=1) + coef0) ** (degree - 1.0)
        out.prototypes[...] += (2.0 * (given * slope - taken))[:, None] * W


def inverse_variance(X: Any, weight: Floats) -> float:
    """Return one over the number of features times the variance of all entries; 1 if they agree."""
    share = weight / (weight.sum() * X.shape[1])
    mean = float((share @ X).sum())
    if issparse(X):
        stored = np.diff(X.indptr)
        squares = np.repeat(share, stored) @ np.square(X.data - mean)
        variance = float(squares + share @ (X.shape[1] - stored) * mean**2)
    else:
        variance = sum(
            float(share[rows] @ np.square(X[rows] - mean).sum(axis=1)) for rows in some_rows(X)
        )
    largest = float(max(X.max(), -X.min()))
    if math.sqrt(variance) <= ROUNDING * largest:
        return 1.0
    return min(1.0 / max(X.shape[1] * variance, 1.0 / LARGEST_GAMMA), LARGEST_GAMMA)
