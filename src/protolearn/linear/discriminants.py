"""Linear classifiers in closed form: the means of the classes, and Fisher's discriminant."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._arrays import Floats
from .._validation import check_number
from ..one_versus_rest import BinaryProblem
from .canonical import CenteredFrame, Expansion, LinearPrototypeClassifier

ROUNDING = 1e-14
"""Relative error of sums that may be rounding."""


class MeanOfClass(LinearPrototypeClassifier):
    """The classical prototype classifier: the nearer of two class means.

    All other linear classifiers here are variations of it: the hyperplane halves the way between
    the prototypes (``shift_`` is zero). More than two classes are told apart one versus rest: the
    mean of a class against the mean of all other samples.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    prototypes_ : array of shape (n_classes, n_features)
        The prototype of each class, an average of samples.
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; with more than two classes only.
    shift_ : array of shape (1,), or (n_classes,)
        What is added to ``|x - p-|^2 - |x - p+|^2`` in favour of the second class, or of each
        class. If zero, the hyperplane is midway
        between the prototypes.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Normals of the hyperplanes: differences of the prototypes.
    intercept_ : array of shape (1,), or (n_classes,)
        Offsets of the hyperplanes.
    dual_coef_ : array of shape (1, n_samples), or (n_classes, n_samples)
        Coefficients of the samples in the normals, which sum to zero, and in absolute value to two.
        The positive ones are the weights of samples in one prototype, the negative in the other.
    support_ : array of int
        Indices of the samples with a non-zero coefficient before centring.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.

    Examples
    --------
    >>> from protolearn import MeanOfClass
    >>> model = MeanOfClass().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> model.prototypes_.ravel()
    array([0.5, 4.5])
    >>> model.predict([[2.0], [3.0]]).tolist()
    ['a', 'b']
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Average the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the means.

        Returns
        -------
        self : MeanOfClass
        """
        return self._fit(X, y, sample_weight)

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        return class_means(frame, problem.signs)


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
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    prototypes_ : array of shape (n_classes, n_features)
        The prototype of each class, an average of samples.
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; with more than two classes only.
    shift_ : array of shape (1,), or (n_classes,)
        What is added to ``|x - p-|^2 - |x - p+|^2`` in favour of the second class, or of each
        class. If zero, the hyperplane is midway
        between the prototypes.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Normals of the hyperplanes: differences of the prototypes.
    intercept_ : array of shape (1,), or (n_classes,)
        Offsets of the hyperplanes.
    dual_coef_ : array of shape (1, n_samples), or (n_classes, n_samples)
        Coefficients of the samples in the normals, which sum to zero, and in absolute value to two.
        The positive ones are the weights of samples in one prototype, the negative in the other.
    support_ : array of int
        Indices of the samples with a non-zero coefficient before centring.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.

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

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        """Return the hyperplane, solved for in coordinates of the span of the samples."""
        signs = problem.signs
        root = np.ones(len(signs)) if problem.weight is None else np.sqrt(problem.weight)
        sides = [float(root[side] @ root[side]) for side in (signs > 0, signs < 0)]
        if min(sides) < ROUNDING * max(sides):
            raise ValueError("Change sample_weight: FisherPrototypes loses a class in rounding.")
        U, s = singular_vectors(root[:, None] * frame.rows)
        means = [root[side] @ U[side] / np.sum(root[side] ** 2) for side in (signs > 0, signs < 0)]
        delta = means[0] - means[1]
        level = root @ np.abs(U) / np.sum(root**2)
        delta[np.abs(delta) <= ROUNDING * level * s.max(initial=0.0) / s] = 0.0
        ridge = float(self.ridge) ** 0.25 / frame.scale  # its fourth power is the ridge here
        unit = max(1.0, ridge)  # of no account for the result, but the powers stay in range
        solved = s**2 * delta / ((s / unit) ** 4 + (ridge / unit) ** 4)
        return Expansion(root * (U @ solved), -0.5 * float((means[0] + means[1]) @ (s**2 * solved)))


def class_means(frame: CenteredFrame, signs: Floats) -> Expansion:
    """Return the hyperplane that halves the way between the means of the classes."""
    positive = np.where(signs > 0.0, frame.share, 0.0)
    negative = frame.share - positive
    gamma = positive / positive.sum() - negative / negative.sum()
    normal = gamma @ frame.rows
    return Expansion(gamma, middle_offset(gamma, frame.rows @ normal))


def middle_offset(gamma: Floats, products: Floats) -> float:
    """Return the offset that halves the way between the prototypes, from ``w.x_i``."""
    return -float(np.abs(gamma) @ products) / float(np.abs(gamma).sum())


def singular_vectors(rows: Floats) -> tuple[Floats, Floats]:
    """Return the left singular vectors and values, without those that are rounding."""
    U, s, _ = np.linalg.svd(rows, full_matrices=False)
    kept = s > max(rows.shape) * np.finfo(float).eps * s.max(initial=0.0)
    return U[:, kept], s[kept]
