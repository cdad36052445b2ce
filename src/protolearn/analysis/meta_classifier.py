"""A classifier around another one: what it passes on as it is."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._dask import AccuracyMixin, row_by_row


def model_has(name: str) -> Any:
    """Return a check that the model has a method; if not, the message is that of the model."""
    return lambda self: getattr(getattr(self, "model_", self.model), name) is not None


class AroundClassifier(AccuracyMixin, MetaEstimatorMixin, BaseEstimator):
    """A meta-estimator with a classifier ``model``, and ``model_`` once it is fitted."""

    model: Any
    model_: Any

    @available_if(model_has("predict_proba"))
    @row_by_row
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the model; rejection leaves them as they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(X)

    @available_if(model_has("decision_function"))
    @row_by_row
    def decision_function(self, X: Any) -> Any:
        """Return the class scores of the model; rejection leaves them as they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            As the model gives them.
        """
        check_is_fitted(self)
        return self.model_.decision_function(X)

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes of the model."""
        return self.model_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features that the model has seen."""
        return self.model_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features that the model has seen."""
        return self.model_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Declare that weights are used here and passed on to the model.

        Returns
        -------
        router : MetadataRouter
            Where metadata go, if routing is turned on in scikit-learn.
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(
            model=self.model, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def __sklearn_tags__(self) -> Any:
        """Return the tags: all that the model takes is taken."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.input_tags = deepcopy(inner.input_tags)
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags = deepcopy(inner.classifier_tags)
        return tags
