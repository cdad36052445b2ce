"""What every nearest-prototype model does once it is fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import (
    Floats,
    Indices,
    Reals,
    as_floats,
    as_indices,
    check_observed_rows,
    checked_sparse,
    middle,
    rows_at_a_time,
)
from .._lazy import AccuracyMixin, row_by_row
from .._validation import integer_in
from ..codebook import Codebook
from ..distances import Distance, FeatureTerms
from .decision import Decision
from .metric import MetricViews
from .short_names import ShortNamesMixin

Part = Callable[[Any, Codebook, Distance], tuple[Any, Any]]

SINGLE = (1e-25, 1e25)
"""Scales at which squared distances fit into single precision."""


class NearestPrototypeClassifier(MetricViews, AccuracyMixin, ShortNamesMixin):
    """The fitted side of a model that decides by distance to prototypes.

    ``fit`` of a subclass stores what is named below.
    """

    classes_: NDArray[Any]
    prototypes_: Floats
    prototype_labels_: NDArray[Any]
    scale_: float
    _distance: Distance
    _metric: Floats
    _decision: Decision

    @row_by_row
    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. Single precision is computed in single precision, but for rows that need
            more digits. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``.
        """
        check_is_fitted(self, "classes_")
        # A row with NaN or infinity may show in its distances; then the data are read only once.
        return self.classes_[self._codes(self._rows(X, unless=self._distance.shows_nonfinite))]

    @row_by_row
    def decision_function(self, X: Any) -> Reals:
        """Give the score of each class; for two classes how much the second exceeds the first.

        The score is minus the distance to the nearest prototype of the class, or, for models with
        a soft decision, minus the soft minimum of these distances.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            In the units of the distance.
        """
        check_is_fitted(self, "classes_")
        scores = self.scale_ * self._scores(self._rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @row_by_row
    def predict_proba(self, X: Any) -> Reals:
        """Give class probabilities: the softmax of the scores in units of the scale.

        For a soft decision these are the posteriors of the model. Otherwise they order the classes
        as ``predict`` does but are not calibrated; :class:`~sklearn.calibration.\
CalibratedClassifierCV` does that.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "classes_")
        return self._decision.probabilities(self._scores(self._rows(X)))

    @row_by_row
    def distances(self, X: Any) -> Reals:
        """Give the distance of each row to each prototype.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        D : array of shape (n_samples, n_prototypes)
            Squared where the distance of the model is a squared one.
        """
        check_is_fitted(self, "classes_")
        return self._by_parts(self._rows(X), all_distances)

    @row_by_row
    def nearest_prototypes(self, X: Any, k: int = 1) -> tuple[Reals, Indices]:
        """Give the k nearest prototypes of each row, nearest first.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.
        k : int, default=1
            How many.

        Returns
        -------
        distances : array of shape (n_samples, k)
        indices : array of shape (n_samples, k)
            Rows of ``prototypes_``.
        """
        check_is_fitted(self, "classes_")
        k = integer_in(k, "k={value!r}", 1, len(self.prototype_labels_))
        D = self.distances(X)
        order = np.argsort(D, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(D, order, axis=1), order

    @row_by_row
    def contributions(self, X: Any) -> Floats:
        """Give the share of each feature in each decision.

        A feature speaks for the predicted class by as much as it brings the row nearer to the
        nearest prototype of that class than to the nearest one of another class. The shares are
        signed, and their absolute values sum to one.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        shares : array of shape (n_samples, n_features)
            Positive where the feature speaks for the predicted class.
        """
        check_is_fitted(self, "classes_")
        if not isinstance(self._distance, FeatureTerms):
            raise ValueError(
                f"{type(self).__name__} has no contributions here: its distance is not a sum over "
                "features. Take one that is, such as squared Euclidean or a learned metric."
            )
        X = self._rows(X).astype(np.float64, copy=False)
        return self._by_parts(X, self._shares, width=X.shape[1])

    def _shares(self, X: Any, codebook: Codebook, distance: Distance) -> tuple[Floats, Floats]:
        """Give the contributions of some rows, and their distances."""
        if len(np.unique(codebook.labels)) < 2:
            raise ValueError("There are prototypes of one class only: nothing to decide between.")
        assert isinstance(distance, FeatureTerms)
        D = distance.pairwise(X, codebook)
        scores = self._decision.scores(D / self.scale_, codebook.labels, len(self.classes_))
        own = scores.argmax(axis=1)[:, None] == codebook.labels
        winner = np.where(own, D, np.inf).argmin(axis=1)
        rival = np.where(own, np.inf, D).argmin(axis=1)
        speaks = distance.terms(X, codebook, rival) - distance.terms(X, codebook, winner)
        total = np.abs(speaks).sum(axis=1, keepdims=True)
        return np.divide(speaks, total, out=np.zeros_like(speaks), where=total > 0.0), D

    def _rows(self, X: Any, unless: bool = False) -> Any:
        """Check rows; single precision stays if distances at this scale fit into it."""
        takes_missing = self._distance.missing_form is not None
        X = validate_data(
            self,
            X,
            reset=False,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr" if self._distance.sparse_form else False,
            ensure_all_finite=not unless and ("allow-nan" if takes_missing else True),
        )
        if issparse(X):
            X = checked_sparse(X)
        self._distance.check_rows(X)
        fits = SINGLE[0] < self.scale_ < SINGLE[1]
        return X if fits else X.astype(np.float64, copy=False)

    def _codebook(self) -> Codebook:
        """Put the fitted arrays together."""
        codes = self._prototype_codes()
        prototypes = as_floats(self.prototypes_)
        group = as_indices(self._distance.groups(codes))
        return Codebook(prototypes, codes, self._metric, group, middle(prototypes))

    def _prototype_codes(self) -> Indices:
        """Give the place of the label of each prototype among the classes."""
        return as_indices(np.searchsorted(self.classes_, self.prototype_labels_))

    def _scores(self, X: Any) -> Any:
        """Give one score a class for each row of a checked array, in units of the scale."""
        return self._by_parts(X, self._all_scores)

    def _all_scores(self, part: Any, codebook: Codebook, distance: Distance) -> tuple[Any, Any]:
        D = distance.pairwise(part, codebook)
        far = np.sqrt(np.finfo(D.dtype).max)  # as good as infinite, but a number
        scores = self._decision.scores(
            np.minimum(D / self.scale_, far), codebook.labels, len(self.classes_)
        )
        return scores, D

    def _codes(self, X: Any) -> Indices:
        """Give the class code of each row of a checked array."""
        if self._decision.soft:
            codes: Indices = self._scores(X).argmax(axis=1)
            return codes
        return self._prototype_codes()[self._by_parts(X, _nearest)]

    def _by_parts(
        self, X: Any, function: Part, distance: Distance | None = None, width: int | None = None
    ) -> Any:
        """Run a function over some rows at a time and stack what it gives.

        It gives the result and numbers that are finite if the rows and their distances are.
        ``width`` is how many numbers it needs for a row; as many as the row has by default.
        """
        codebook = self._codebook()
        if distance is None:
            distance = self._distance.suited_to(X) if issparse(X) else self._distance
        if width is None:
            width = X.nnz // max(X.shape[0], 1) if issparse(X) else X.shape[1]
        size = rows_at_a_time(width + int(distance.effort(codebook)), X.dtype.itemsize)
        out = None
        for start in range(0, X.shape[0], size):
            with np.errstate(over="ignore", invalid="ignore"):
                result, numbers = function(X[start : start + size], codebook, distance)
            if not np.isfinite(numbers).all():
                return self._once_more(X, function, distance)
            if out is None:
                out = np.empty((X.shape[0], *result.shape[1:]), dtype=result.dtype)
            out[start : start + size] = result
        return out

    def _once_more(self, X: Any, function: Part, distance: Distance) -> Any:
        """Find out why numbers are not finite: missing values, bad rows, too little precision."""
        may_miss = not issparse(X) and distance.missing_form is not None
        values, name = (X.data if issparse(X) else X), type(self).__name__
        assert_all_finite(values, allow_nan=may_miss, estimator_name=name, input_name="X")
        if may_miss:
            check_observed_rows(X)
            form = distance.suited_to(X)
            if form is not distance:
                return self._by_parts(X, function, form)
        if X.dtype == np.float32:
            return self._by_parts(X.astype(np.float64), function, distance)
        raise ValueError("The distances overflow: rescale X as the training data were scaled.")


def all_distances(part: Any, codebook: Codebook, distance: Distance) -> tuple[Any, Any]:
    """Give the distances of some rows to all prototypes, for ``_by_parts``."""
    D = distance.pairwise(part, codebook)
    return D, D


def _nearest(part: Any, codebook: Codebook, distance: Distance) -> tuple[Any, Any]:
    return distance.nearest(part, codebook)
