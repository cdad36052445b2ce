"""What every nearest-prototype model does once it is fitted."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, Reals
from .._dask import AccuracyMixin, row_by_row
from .._names import SharedAttributes
from .._validation import integer_in
from ..codebook import Codebook
from ..distances import DISTANCES, Distance, FeatureTerms
from ..losses import LOSSES
from ..margins import MARGINS
from ..rule import DecisionRule
from ..solvers import SOLVERS
from .metric import MetricViews

REGISTRIES: dict[str, Any] = {
    "distance": DISTANCES,
    "margin": MARGINS,
    "loss": LOSSES,
    "solver": SOLVERS,
}
"""Parts of a classifier that have short names; to set their own parameters takes an object."""


class NearestPrototypeClassifier(MetricViews, SharedAttributes, AccuracyMixin, BaseEstimator):
    """The fitted side of a model that decides by distance to prototypes: it asks its rule."""

    rule_: DecisionRule
    _only_names: ClassVar[tuple[str, ...]] = ()
    """Parts that are names always."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self._fitted_rule("classes_").classes

    @property
    def prototype_labels_(self) -> NDArray[Any]:
        """The label of each prototype."""
        return self._fitted_rule("prototype_labels_").labels

    @property
    def scale_(self) -> float:
        """The unit of distance that was used."""
        return self._fitted_rule("scale_").scale

    def _fitted_rule(self, name: str) -> DecisionRule:
        """Return the rule; raise as for an attribute that is not there before the fit."""
        rule = self.__dict__.get("rule_")
        if rule is None:
            raise AttributeError(f"{type(self).__name__} has no {name}: it is not fitted.")
        found: DecisionRule = rule
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``loss__beta`` and the like need the part to be an object.

        Parameters
        ----------
        **params : dict
            New values.

        Returns
        -------
        self : object
            The classifier.
        """
        for key in params:
            part, _, name = key.partition("__")
            value = params.get(part, getattr(self, part, None))
            if name and part in REGISTRIES and isinstance(value, str):
                if part in self._only_names:
                    raise ValueError(f"{key} cannot be set: {part} is a name; set {name} itself.")
                known = REGISTRIES[part].get(value, next(iter(REGISTRIES[part].values())))
                example = f"protolearn.{known.__module__.split('.')[1]}.{known.__name__}"
                raise ValueError(
                    f"{key} cannot be set while {part}={value!r} is a short name; give an object, "
                    f"for example {part}={example}(...)."
                )
        super().set_params(**params)
        return self

    @row_by_row
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

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
        check_is_fitted(self, "rule_")
        rule = self.rule_
        # A row with NaN or infinity may show in its distances; then the data are read only once.
        rows = rule.read_rows(self, X, allow_nonfinite=rule.distance.shows_nonfinite)
        return rule.classes[rule.codes(rows)]

    @row_by_row
    def decision_function(self, X: Any) -> Reals:
        """Return the score of each class; for two classes the lead of the second over the first.

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
        check_is_fitted(self, "rule_")
        rule = self.rule_
        scores = rule.scale * rule.scores(rule.read_rows(self, X))
        return scores[:, 1] - scores[:, 0] if len(rule.classes) == 2 else scores

    @row_by_row
    def predict_proba(self, X: Any) -> Reals:
        """Return class probabilities; the class that ``predict`` returns has the largest.

        They are a softmax of the margins of the classes (differences of distances, or the relative
        or hypothesis margin where that is learned) at a temperature that ``fit`` finds, as
        ``calibrate`` says. None is below about ``1 / n`` after n rows. For a soft decision they are
        the posteriors of the model. After ``partial_fit`` the temperature follows the rows of the
        stream, each before it is learned from.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "rule_")
        return self.rule_.probabilities(self.rule_.read_rows(self, X))

    @row_by_row
    def distances(self, X: Any) -> Reals:
        """Return the distance of each row to each prototype.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        D : array of shape (n_samples, n_prototypes)
            Squared where the distance of the model is a squared one.
        """
        check_is_fitted(self, "rule_")
        return self.rule_.distances(self.rule_.read_rows(self, X))

    @row_by_row
    def nearest_prototypes(self, X: Any, k: int = 1) -> tuple[Reals, Indices]:
        """Return the k nearest prototypes of each row, nearest first.

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
        check_is_fitted(self, "rule_")
        rule = self.rule_
        k = integer_in(k, "k={value!r}", 1, len(rule.codebook.labels))

        def first(part: Any, codebook: Codebook, distance: Distance) -> tuple[Any, Any]:
            D = distance.pairwise(part, codebook)
            order = D.argmin(axis=1)[:, None] if k == 1 else np.argsort(D, axis=1, kind="stable")
            found = np.empty((len(D), k), dtype=[("distance", D.dtype), ("index", np.intp)])
            found["index"] = order[:, :k]
            found["distance"] = np.take_along_axis(D, found["index"], axis=1)
            return found, D

        found = rule.by_chunks(rule.read_rows(self, X), first)
        return found["distance"].copy(), found["index"].copy()

    @row_by_row
    def contributions(self, X: Any) -> Floats:
        """Return the share of each feature in each decision.

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
        check_is_fitted(self, "rule_")
        if not isinstance(self.rule_.distance, FeatureTerms):
            raise ValueError(
                f"{type(self).__name__} has no contributions here: its distance is not a sum over "
                "features. Take one that is, such as squared Euclidean or a learned metric."
            )
        return self.rule_.contributions(self.rule_.read_rows(self, X))
