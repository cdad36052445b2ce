"""The canonical form of a linear classifier: two prototypes and a shift (Graf et al., 2009).

``w = sum_i gamma_i x_i`` with ``sum gamma_i = 0`` and ``sum |gamma_i| = 2``. The samples with
positive coefficients average to the prototype of one class, those with negative ones to that of the
other, ``w = p+ - p-``, and ``w.x + b > 0`` says the same as ``|x - p-|^2 - |x - p+|^2 + S > 0``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices

BALANCED = 1e-7
"""How much of all coefficients their sum may be, to count as zero."""


class Frame(NamedTuple):
    """The samples in coordinates in which all is computed: centred, and of unit size.

    Attributes
    ----------
    rows : array (n, d)
        ``(x - center) / scale``; sparse samples keep their origin.
    center : array (d,)
        The weighted mean of the samples.
    scale : float
        The root mean square of their distances from it.
    share : array (n,)
        The weights of the samples, which sum to one.
    """

    rows: Any
    center: Floats
    scale: float
    share: Floats

    @classmethod
    def of(cls, X: Any, weight: Floats | None = None) -> Frame:
        """Return the frame of some samples."""
        n = X.shape[0]
        share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        if issparse(X):
            center, rows = np.zeros(X.shape[1]), X
            size = np.sqrt(share @ np.asarray(X.multiply(X).sum(axis=1)).ravel())
        else:
            center = middle_of(X, share)
            rows = X - center
            size = np.sqrt(share @ np.einsum("ij,ij->i", rows, rows))
        scale = float(size) or 1.0
        return cls(rows / scale, center, scale, share)


class Expansion(NamedTuple):
    """A hyperplane by its samples: ``f(z) = sum_i gamma_i z_i.z + intercept`` in a frame.

    Attributes
    ----------
    gamma : array (n,)
        Coefficients of the samples.
    intercept : float
        Offset of the hyperplane.
    support : array or None
        Which samples the method has chosen; None: those whose coefficient is not zero.
    details : object
        What else the method has to tell.
    """

    gamma: Floats
    intercept: float
    support: Indices | None = None
    details: Any = None


class Canonical(NamedTuple):
    """A hyperplane in canonical form, in the coordinates of the samples.

    Attributes
    ----------
    gamma : array (n,)
        Coefficients, which sum to zero, and their absolute values to two.
    prototypes : array (2, d)
        ``p-`` and ``p+``.
    shift : float
        ``S = 2 b + |p+|^2 - |p-|^2``.
    coef : array (d,)
        ``w = p+ - p-``.
    intercept : float
        The offset b.
    factor : float
        What ``f`` of the expansion was multiplied with.
    """

    gamma: Floats
    prototypes: Floats
    shift: float
    coef: Floats
    intercept: float
    factor: float


def canonical(expansion: Expansion, frame: Frame) -> Canonical:
    """Bring a hyperplane into canonical form.

    Without any coefficient there is no hyperplane: both prototypes are the mean of the samples.
    """
    gamma, scale = balanced(expansion.gamma, frame.share), frame.scale
    positive = np.maximum(gamma, 0.0)
    negative = np.maximum(-gamma, 0.0)
    total = float(positive.sum())
    factor = 1.0 / total if total > 0.0 else 1.0
    if total > 0.0:
        positive, negative = positive / positive.sum(), negative / negative.sum()
    inner = np.stack([_combined(negative, frame.rows), _combined(positive, frame.rows)])
    normal, offset = inner[1] - inner[0], factor * expansion.intercept
    shift = scale**2 * float(2.0 * offset + inner[1] @ inner[1] - inner[0] @ inner[0])
    coef = scale * normal
    return Canonical(
        gamma=positive - negative,
        prototypes=frame.center + scale * inner,
        shift=shift,
        coef=coef,
        intercept=float(scale**2 * offset - coef @ frame.center),
        factor=scale**2 * factor,
    )


def middle_of(X: Any, share: Floats | None = None) -> Floats:
    """Return the weighted mean of samples, exactly the common value where a feature is constant."""
    if issparse(X):
        return np.asarray(X.mean(axis=0)).ravel()
    mean = X.mean(axis=0) if share is None else share @ X
    return np.clip(mean, X.min(axis=0), X.max(axis=0))


def balanced(gamma: Floats, share: Floats) -> Floats:
    """Return coefficients that sum to zero, and the same combination of centred samples."""
    total = gamma.sum()
    if abs(total) <= BALANCED * np.abs(gamma).sum():
        return gamma  # the rest is rounding: coefficients that are zero stay so
    return gamma - total * share


def _combined(coefficients: Floats, rows: Any) -> Floats:
    return np.asarray(coefficients @ rows).ravel()
