"""What a fitted metric says: its matrix, its relevances, and the map that it defines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats
from .._dask import is_dask, row_by_row
from ..distances import Distance, LinearMetric
from ..rule import DecisionRule


def maps_rows(distance: Distance) -> bool:
    """Whether one linear map serves all prototypes."""
    return isinstance(distance, LinearMetric) and distance.localized is None


def named_distance(model: Any) -> Distance:
    """Return the distance that the parameters of a classifier name, fitted or not."""
    distance: Distance = model._axes()[0]
    return distance


def _has_map(model: Any) -> bool:
    """Whether a model maps rows, before or after the fit; raise if it does not."""
    rule = getattr(model, "rule_", None)
    distance = model._axes()[0] if rule is None else rule.distance
    if maps_rows(distance):
        return True
    raise AttributeError(
        f"{type(model).__name__} with {distance!r} has no linear map for all prototypes."
    )


class FrameOfRows(TransformerMixin, BaseEstimator):
    """Puts mapped rows into the frame that ``set_output`` names.

    scikit-learn would wrap ``transform`` of a class once and for all, also of models that have
    none because their distance defines no map. So the frame is made here.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def transform(self, X: Any) -> Any:
        """Return the rows, as an array."""
        return self.model._map_rows(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        return self.model.get_feature_names_out()


class MetricViews:
    """The fitted metric, where the distance is a linear one."""

    rule_: DecisionRule
    n_features_in_: int
    _frame_kind: str | None = None
    """What ``set_output`` has chosen."""

    @property
    def omega_(self) -> Floats:
        """The linear map Omega, an array (r, d); with local metrics one for each group."""
        distance, d = self._linear_metric("omega_"), self.n_features_in_
        return self._of_groups(np.stack([distance.omega(row, d) for row in self._metric_rows()]))

    @property
    def metric_(self) -> Floats:
        """``Omega^T Omega``, an array (d, d); with local metrics one for each group."""
        self._linear_metric("metric_")
        omega = self.omega_
        metric: Floats = np.swapaxes(omega, -1, -2) @ omega
        return metric

    @property
    def relevances_(self) -> Floats:
        """The diagonal of ``metric_``: how much each feature counts; learned ones sum to one."""
        distance = self._linear_metric("relevances_")
        return self._of_groups(distance.relevances(self._metric_rows(), self.n_features_in_))

    def _linear_metric(self, name: str) -> LinearMetric:
        """Return the distance, if it is a linear metric."""
        rule = self.__dict__.get("rule_")
        if rule is not None and isinstance(rule.distance, LinearMetric):
            return rule.distance
        raise AttributeError(
            f"{type(self).__name__} has no {name}: "
            + (
                "it is not fitted."
                if rule is None
                else f"{rule.distance!r} is not a linear metric."
            )
        )

    def _metric_rows(self) -> Floats:
        """Return the parameters of the metric, a row for each group."""
        return self.rule_.codebook.metric

    def _of_groups(self, arrays: Floats) -> Floats:
        """Return the array of the only group, or those of all."""
        distance = self._linear_metric("metric")
        return arrays[0] if distance.localized is None else arrays

    @available_if(_has_map)
    def transform(self, X: Any) -> Any:
        """Return ``Omega x``: the rows where the metric is the plain Euclidean one.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        Z : array of shape (n_samples, rank)
            In the units of the distance; a frame if ``set_output`` asks for one. A sum over
            features of which one is missing is NaN.
        """
        if is_dask(X):
            return self._map_rows(X)
        return FrameOfRows(self).set_output(transform=self._frame_kind).transform(X)

    @available_if(_has_map)
    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose what ``transform`` gives.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            Arrays or frames; None leaves it as it is.

        Returns
        -------
        self : estimator
            Itself.
        """
        if transform is not None:
            self._frame_kind = transform
        return self

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted copy that gives the same frames."""
        copy: Any = super().__sklearn_clone__()  # type: ignore[misc]
        if self._frame_kind is not None:
            copy._frame_kind = self._frame_kind
        return copy

    @row_by_row
    def _map_rows(self, X: Any) -> Any:
        """Return ``Omega x`` as an array."""
        check_is_fitted(self, "rule_")
        X = self.rule_.read_rows(self, X)
        distance = self._linear_metric("transform").suited_to(X)
        assert isinstance(distance, LinearMetric)
        return distance.map_rows(X, self._metric_rows()[0])

    @available_if(_has_map)
    def fit_transform(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Fit, and give ``Omega x`` of the same rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            What ``fit`` takes besides.

        Returns
        -------
        Z : array of shape (n_samples, rank)
            As of ``transform``.
        """
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    @available_if(_has_map)
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name to each column of ``transform``.

        Parameters
        ----------
        input_features : ignored
            There because scikit-learn passes it.

        Returns
        -------
        names : array of str
            The name of the class and a number.
        """
        check_is_fitted(self, "rule_")
        distance = self._linear_metric("transform")
        count = distance.map_rows(np.zeros((1, self.n_features_in_)), self._metric_rows()[0]).shape[
            1
        ]
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(count)], dtype=object)

    @available_if(_has_map)
    @row_by_row
    def project(self, X: Any) -> Any:
        """Return the rows in the two leading directions of the metric, to plot them.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        Z : array of shape (n_samples, 2)
            Distances here are those of the metric, less what the other directions add. A metric
            with a single direction has zeros in the second column.
        """
        check_is_fitted(self, "rule_")
        X = self.rule_.read_rows(self, X)
        metric = self._linear_metric("project")
        leading = metric.leading(self._metric_rows()[0], self.n_features_in_).astype(X.dtype)
        if issparse(X):
            return X @ leading.T
        # Features without a part in a direction may be missing.
        return np.stack([X[:, row != 0.0] @ row[row != 0.0] for row in leading], axis=1)
