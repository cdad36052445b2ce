"""What every nearest-prototype model does once it is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parameters import Codebook, Floats, Indices
from ..distances import Distance
from .decision import nearest_scores, probabilities, soft_scores

CHUNK_BYTES = 1 << 22
"""How much of the samples and their distances is handled at a time."""


class NearestPrototypeClassifier(ClassifierMixin, BaseEstimator):
    """The fitted side of a model that decides by distance to prototypes.

    ``fit`` of a subclass stores ``classes_``, ``prototypes_``, ``prototype_labels_`` and
    ``scale_``, and calls ``_store_decision``.
    """

    classes_: NDArray[Any]
    prototypes_: Floats
    prototype_labels_: NDArray[Any]
    scale_: float
    _distance: Distance
    _metric: Floats
    _soft: bool
    _sharpness: float

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. Single precision is computed in single precision.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``.
        """
        check_is_fitted(self)
        if self._soft:
            codes = self._scores(X).argmax(axis=1)
        else:
            codes = self._codebook().labels[self._winners(X)]
        return self.classes_[codes]

    def decision_function(self, X: Any) -> Any:
        """Give the score of each class; for two classes how much the second exceeds the first.

        The score is minus the distance to the nearest prototype of the class, or, for models with
        a soft decision, minus the soft minimum of these distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            In the units of the distance.
        """
        check_is_fitted(self)
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Any:
        """Give class probabilities: the softmax of the scores in units of the scale.

        For a soft decision these are the posteriors of the model. Otherwise they order the classes
        as ``predict`` does but are not calibrated; :class:`~sklearn.calibration.\
CalibratedClassifierCV` does that.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return probabilities(self._scores(X) / self.scale_, self._sharpness)

    def distances(self, X: Any) -> Any:
        """Give the distance of each row to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        D : array of shape (n_samples, n_prototypes)
            Squared where the distance of the model is a squared one.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        codebook = self._codebook()
        return np.concatenate([self._distance.pairwise(part, codebook) for part in self._parts(X)])

    def nearest_prototypes(self, X: Any, k: int = 1) -> tuple[Any, Indices]:
        """Give the k nearest prototypes of each row, nearest first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        k : int, default=1
            How many.

        Returns
        -------
        distances : array of shape (n_samples, k)
        indices : array of shape (n_samples, k)
            Rows of ``prototypes_``.
        """
        D = self.distances(X)
        if not 1 <= k <= D.shape[1]:
            raise ValueError(f"k={k!r} must be between 1 and the {D.shape[1]} prototypes.")
        order = np.argsort(D, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(D, order, axis=1), order

    def contributions(self, X: Any) -> Floats:
        """Give the share of each feature in each decision.

        A feature speaks for the predicted class by as much as it brings the row nearer to the
        nearest prototype of that class than to the nearest one of another class. The shares are
        signed, and their absolute values sum to one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shares : array of shape (n_samples, n_features)
            Positive where the feature speaks for the predicted class.
        """
        D, labels = self.distances(X), self._codebook().labels
        own = self._scores_of(D).argmax(axis=1)[:, None] == labels
        winner = np.where(own, D, np.inf).argmin(axis=1)
        rival = np.where(own, np.inf, D).argmin(axis=1)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        speaks = self._terms(X, rival) - self._terms(X, winner)
        total = np.abs(speaks).sum(axis=1, keepdims=True)
        return np.divide(speaks, total, out=np.zeros_like(speaks), where=total > 0.0)

    def _terms(self, X: Floats, prototype: Indices) -> Floats:
        """Give what each feature adds to the distance of each row to one prototype."""
        codebook = self._codebook()
        theta = codebook.metric[codebook.group[prototype]]
        return self._distance.terms(X, codebook.prototypes[prototype], theta)

    def _codebook(self) -> Codebook:
        """Put the fitted arrays together."""
        labels = np.searchsorted(self.classes_, self.prototype_labels_)
        group = self._distance.groups(labels)
        center = self.prototypes_.mean(axis=0)
        return Codebook(self.prototypes_, labels, self._metric, group, center)

    def _scores(self, X: Any) -> Any:
        """Give one score a class for each row."""
        return self._scores_of(self.distances(X))

    def _scores_of(self, D: Any) -> Any:
        """Give one score a class for each row of a distance matrix."""
        labels, n_classes = self._codebook().labels, len(self.classes_)
        if self._soft:
            return soft_scores(D, labels, n_classes, self._sharpness / self.scale_)
        return nearest_scores(D, labels, n_classes)

    def _winners(self, X: Any) -> Indices:
        """Give the nearest prototype of each row.

        A row with NaN or infinity has no finite distance, so that is noticed afterwards, and the
        data are read once only.
        """
        X = validate_data(
            self,
            X,
            reset=False,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=not self._distance.shows_nonfinite,
        )
        codebook = self._codebook()
        winners = np.empty(len(X), dtype=np.intp)
        finite = True
        start = 0
        for part in self._parts(X):
            rows = slice(start, start + len(part))
            with np.errstate(over="ignore", invalid="ignore"):
                winners[rows], distance = self._distance.nearest(part, codebook)
            finite = finite and bool(np.isfinite(distance).all())
            start += len(part)
        if finite:
            return winners
        assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        if X.dtype == np.float32:
            return self._winners(X.astype(np.float64))
        raise ValueError("The distances overflow: rescale X as the training data were scaled.")

    def _parts(self, X: Any) -> Iterator[Any]:
        """Cut X into parts that fit into the cache."""
        size = max(CHUNK_BYTES // (X.itemsize * (X.shape[1] + len(self.prototypes_))), 32)
        return (X[start : start + size] for start in range(0, len(X), size))
