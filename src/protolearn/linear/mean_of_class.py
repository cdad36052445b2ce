"""Mean of class: the prototypes are the means of the classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._arrays import Floats
from ..one_versus_rest import Problem
from .base import LinearPrototypeClassifier
from .canonical import Expansion, Frame
from .shared import documented


@documented
class MeanOfClass(LinearPrototypeClassifier):
    """The classical prototype classifier: the nearer of two class means.

    All other linear classifiers here are variations of it: the hyperplane halves the way between
    the prototypes (``shift_`` is zero). More than two classes are told apart one versus rest: the
    mean of a class against the mean of all other samples.

    Attributes
    ----------
    {attributes}

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

    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        return class_means(frame, problem.signs)


def class_means(frame: Frame, signs: Floats) -> Expansion:
    """Return the hyperplane that halves the way between the means of the classes."""
    positive = np.where(signs > 0.0, frame.share, 0.0)
    negative = frame.share - positive
    gamma = positive / positive.sum() - negative / negative.sum()
    normal = gamma @ frame.rows
    return Expansion(gamma, middle_offset(gamma, frame.rows @ normal))


def middle_offset(gamma: Floats, products: Floats) -> float:
    """Return the offset that halves the way between the prototypes, from ``w.x_i``."""
    return -float(np.abs(gamma) @ products) / float(np.abs(gamma).sum())
