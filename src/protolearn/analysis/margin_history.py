"""The margins during training: a callback that measures them after every iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, check_observed_rows, checked_sparse
from ..classifiers import CoordinateDistance
from ..margins import Hypothesis
from ..solvers import State


class MarginHistory:
    """The mean hypothesis margin of some rows while a model learns.

    Give it as ``callback=`` to a classifier; after every iteration it measures the rows under the
    present prototypes and metric. A ``fit`` that begins anew begins a new record.

    The record is that of the object that the fitted classifier has as its ``callback``. Cross
    validation and searches fit clones, which have copies of their own; take the one of
    ``best_estimator_``, or fit the model itself.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The rows: those of training, or others. In a pipeline, as the last step sees them.
    y : array-like of shape (n_samples,)
        Their labels: those of the model, all of them, since classes are known by their order; with
        ``partial_fit`` all have to be there from the first part on.

    Attributes
    ----------
    iterations : list of int
        Iterations or epochs after which was measured.
    mean_margin : list of float
        The mean hypothesis margin after each, in the units of the unsquared distance.
    error : list of float
        The share of rows with a negative margin.

    See Also
    --------
    protolearn.hypothesis_margin : The margins of a fitted model.
    protolearn.report.MarginDisplay : Draws histories by ``from_history``.

    Notes
    -----
    With early stopping the model keeps its best iteration, not the last. :class:`KernelGLVQ`
    learns in coordinates of its feature space, where the rows are not known: that is an error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ
    >>> from protolearn.analysis import MarginHistory
    >>> X, y = load_iris(return_X_y=True)
    >>> history = MarginHistory(X, y)
    >>> model = GLVQ(callback=history, random_state=0).fit(X, y)
    >>> len(history.mean_margin) == model.n_iter_
    True
    """

    def __init__(self, X: Any, y: Any):
        X = check_array(
            X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
        if issparse(X):
            X = checked_sparse(X)
        else:
            check_observed_rows(X)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        self._X, self._codes, self._n_classes = X, codes, len(classes)
        self.iterations: list[int] = []
        self.mean_margin: list[float] = []
        self.error: list[float] = []

    def __call__(self, state: State) -> None:
        """Measure the rows; never end the fit."""
        if state.iteration == 1:
            self.iterations, self.mean_margin, self.error = [], [], []
        margin = self._margin(state)
        self.iterations.append(state.iteration)
        self.mean_margin.append(float(margin.mean()))
        self.error.append(float(np.mean(margin < 0.0)))

    def __repr__(self) -> str:
        return f"<MarginHistory: {self._X.shape[0]} rows, {len(self.iterations)} iterations>"

    def _margin(self, state: State) -> Floats:
        """Return the hypothesis margins under the present codebook."""
        if isinstance(state.distance, CoordinateDistance):
            raise ValueError(
                "MarginHistory cannot follow KernelGLVQ, which learns in coordinates of its "
                "feature space; hypothesis_margin measures the fitted model."
            )
        distance, codebook = state.distance.suited_to(self._X), state.codebook
        if distance.squared is None:
            raise ValueError(
                f"{type(distance).__name__} is no metric, so MarginHistory has nothing to measure."
            )
        distance.check_rows(self._X)
        if self._X.shape[1] != codebook.prototypes.shape[1]:
            raise ValueError(
                f"The rows of MarginHistory have {self._X.shape[1]} features, the prototypes "
                f"{codebook.prototypes.shape[1]}; in a Pipeline give them as its last step sees "
                "them."
            )
        known = np.unique(codebook.labels)
        if len(known) != self._n_classes or known[-1] >= self._n_classes:
            raise ValueError(
                f"y of MarginHistory has {self._n_classes} classes, and the model has prototypes "
                f"of {len(known)}; give rows of all classes of the model, and of no others."
            )
        D = distance.pairwise(self._X, codebook)
        own = codebook.same_class(self._n_classes)[self._codes]
        return Hypothesis().suited_to(distance)(D, own)[0]
