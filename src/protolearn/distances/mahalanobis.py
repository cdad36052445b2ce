"""Mahalanobis distance: ``(x - w)^T S^-1 (x - w)``, S the covariance within the classes.

A matrix distance whose Omega, with ``Omega^T Omega = S^-1``, is made once from the data and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import ROUNDING, Floats, Indices, class_means, column_ranges, rows_at_a_time
from .._validation import check_number
from .axes import DEPENDENT
from .base import starts_from
from .constraints import Free
from .matrix import LARGEST, Matrix


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


def within_covariance(X: Any, y: Indices, weight: Floats, unit: float) -> tuple[Floats, float]:
    """Return the covariance within the classes, lengths in some unit, and Ledoit and Wolf's share.

    The share is the mean squared error of S over its squared distance from a multiple of the
    identity, at most one.
    """
    d, total = X.shape[1], float(weight.sum())
    S, fourth = np.zeros((d, d)), 0.0
    for Z, part in centred_rows(X, y, weight, unit):
        S += (part[:, None] * Z).T @ Z
        fourth += float(part @ np.square(np.einsum("ij,ij->i", Z, Z)))
    S /= total
    size = float(np.square(S).sum())
    spread = size - S.trace() ** 2 / d
    error = (fourth / total - size) / total
    return S, min(max(error / spread, 0.0), 1.0) if spread > 0.0 else 0.0


def centred_rows(
    X: Any, y: Indices, weight: Floats, unit: float
) -> Iterator[tuple[Floats, Floats]]:
    """Return some rows at a time, less the mean of their class, with their weights."""
    means = class_means(X, y, weight, int(y.max()) + 1)
    size = rows_at_a_time(X.shape[1])
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        part = X[rows].toarray() if issparse(X) else X[rows]
        yield (part - means[y[rows]]) / unit, weight[rows]


def whitening(S: Floats) -> Floats:
    """Return a matrix A with ``A^T A`` the pseudo-inverse of S, as many rows as the rank of S.

    Rank and inverse come from the correlations, so that units of very different size do no harm.
    """
    spread = np.sqrt(S.diagonal())
    spread[spread == 0.0] = 1.0
    values, vectors = np.linalg.eigh(S / spread / spread[:, None])
    independent = values > DEPENDENT * values[-1]
    if independent.all():
        return (vectors / np.sqrt(values)).T / spread
    basis = np.linalg.qr(spread[:, None] * vectors[:, independent])[0].T
    return whitening(basis @ S @ basis.T) @ basis
