"""Exemplar SVMs: one linear SVM an instance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._threads import one_blas_thread
from .base import SVMEnsemble
from .shared import documented
from .voters import Voters


@documented
class ExemplarSVM(SVMEnsemble):
    """One linear SVM for every training row, against its nearest negatives.

    Each model has its exemplar as the only positive row, and a few negatives near it that lie in
    front of a hyperplane through it. A model that fires on a row votes for the class of its
    exemplar, with the probability that it is right. If none fires the one with the largest
    decision value decides. Models that fire on no training row are left out.

    Parameters
    ----------
    {parameters}
    {solver}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    PrototypeSVM : Models that generalise from exemplars to clusters; fewer and better.

    References
    ----------
    Malisiewicz, Gupta and Efros (2011), *Ensemble of exemplar-SVMs for object detection and
    beyond*, ICCV.

    Shen and Danyluk, *Prototype support vector machines: supervised classification in complex
    datasets*, sections 3 and 4.1.

    Examples
    --------
    >>> from protolearn import ExemplarSVM, datasets
    >>> X, y = datasets.load("iris")
    >>> model = ExemplarSVM().fit(X, y)
    >>> model.hyperplanes_.shape
    (150, 4)
    >>> model.predict(X[:2]).tolist()
    ['setosa', 'setosa']
    """

    def __init__(
        self,
        *,
        n_negatives: int = 7,
        C: float = 100.0,
        penalty: str = "l2",
        calibration: str | None = "local",
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ):
        self.n_negatives = n_negatives
        self.C = C
        self.penalty = penalty
        self.calibration = calibration
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Train the models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        X, codes, _ = self._check_data(X, y, None)
        rows = self._scaled(X)
        with one_blas_thread():
            machines = self._exemplar_machines(rows, codes)
            voters = Voters.of(machines, rows, self._calibration())
            voters = voters.calibrated(rows, codes, len(self.classes_))
        self._store(machines, voters, X, np.arange(len(X)))
        self.n_iter_ = 1
        self._warn(machines)
        return self
