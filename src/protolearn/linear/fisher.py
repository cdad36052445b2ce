"""Fisher's linear discriminant in its dual form."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._arrays import Floats
from .._validation import check_number
from ..one_versus_rest import Problem
from .base import LinearPrototypeClassifier
from .canonical import Expansion, Frame
from .shared import documented

ROUNDING = 1e-14
"""Relative error of sums that may be rounding."""


@documented
class FisherPrototypes(LinearPrototypeClassifier):
    """Fisher's linear discriminant, seen as two prototypes and a shift.

    The direction along which the class means are far apart compared with the scatter within the
    classes; the hyperplane halves the way between the means along it.

    Parameters
    ----------
    ridge : float, default=0.0
        What is added to the diagonal of the dual within-class scatter, in units of the fourth
        power of the features times the square of the number of samples. 0.0 is the limit of a
        vanishing ridge: linear discriminant analysis, also with fewer samples than features. A
        large one tends to the direction ``X^T X (mean+ - mean-)`` of the centred samples.

    Attributes
    ----------
    {attributes}

    Notes
    -----
    ``gamma = (N + ridge I)^-1 (m+ - m-)``, N the dual within-class scatter and m+, m- the mean
    products of all samples with each class (Graf et al., 2009, section 4.2), through a thin
    singular value decomposition ``X = U s V^T`` of the centred samples: ``O(n d min(n, d))``. The
    total scatter of the rows of U is the identity, so that N differs from ``U s^4 U^T`` by the
    scatter between the classes alone, a matrix of rank one; hence gamma is proportional to
    ``U s^2 (s^4 + ridge)^-1 delta``, delta the difference of the class means of the rows of U.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import FisherPrototypes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(FisherPrototypes().fit(X, y).score(X, y), 2)
    0.97
    """

    def __init__(self, ridge: float = 0.0):
        self.ridge = ridge

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the discriminant.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the means and scatters; a weight of two is the same as the sample twice.

        Returns
        -------
        self : FisherPrototypes
        """
        return self._fit(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check_number(self, "ridge", low=0.0)

    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        """Solve for the coefficients in coordinates of the span of the samples."""
        signs = problem.signs
        root = np.ones(len(signs)) if problem.weight is None else np.sqrt(problem.weight)
        U, s = spanned(root[:, None] * frame.rows)
        means = [root[side] @ U[side] / np.sum(root[side] ** 2) for side in (signs > 0, signs < 0)]
        delta = means[0] - means[1]
        level = root @ np.abs(U) / np.sum(root**2)
        delta[np.abs(delta) <= ROUNDING * level * s.max(initial=0.0) / s] = 0.0
        ridge = float(self.ridge) ** 0.25 / frame.scale  # its fourth power is the ridge here
        unit = max(1.0, ridge)  # of no account for the result, but the powers stay in range
        solved = s**2 * delta / ((s / unit) ** 4 + (ridge / unit) ** 4)
        return Expansion(root * (U @ solved), -0.5 * float((means[0] + means[1]) @ (s**2 * solved)))


def spanned(rows: Floats) -> tuple[Floats, Floats]:
    """Return the left singular vectors and values, without those that are rounding."""
    U, s, _ = np.linalg.svd(rows, full_matrices=False)
    kept = s > max(rows.shape) * np.finfo(float).eps * s.max(initial=0.0)
    return U[:, kept], s[kept]
