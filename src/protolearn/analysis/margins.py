"""Hypothesis margin: how far the prototypes may move before a sample changes its class.

``(d- - d+) / 2``, with d+ the distance to the nearest prototype of the sample's label and d- to the
nearest of any other (Crammer et al., 2002, lemma 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._parameters import Floats
from ..classifiers import NearestPrototypeClassifier


def hypothesis_margin(model: Any, X: Any, y: Any) -> Floats:
    """Give the hypothesis margin of labelled samples.

    It is negative where the nearest prototype is of another class: for all models but those with
    a soft decision, where the prediction is wrong.

    Parameters
    ----------
    model : nearest-prototype classifier, or Pipeline that ends in one
        A fitted model. In a pipeline the margin is measured in the space of the last step.
    X : array-like of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    margin : array of shape (n_samples,)
        In the units of the unsquared distance.

    Examples
    --------
    >>> from protolearn import GLVQ, hypothesis_margin
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> hypothesis_margin(model, [[0.5]], [0]).shape
    (1,)
    """
    model, X = last_step(model, X)
    check_metric(model)
    y = known_labels(model, y)
    D = model.distances(X)
    if len(D) != len(y):
        raise ValueError(f"X has {len(D)} rows and y has {len(y)} labels.")
    return margin_of(model, D, y)


def margin_of_prediction(model: Any, X: Any) -> Floats:
    """Give the hypothesis margin of the class that each row is predicted to have.

    It is never negative but for models with a soft decision.
    """
    model, X = last_step(model, X)
    check_metric(model, "; give measure='probability'")
    D = model.distances(X)
    soft = model._decision.soft
    return margin_of(model, D, model.predict(X) if soft else model.prototype_labels_[D.argmin(1)])


def check_metric(model: NearestPrototypeClassifier, advice: str = "") -> None:
    """Raise if the distance of a model has no length, and so no margin."""
    if model._distance.squared is None:
        raise ValueError(
            f"{type(model._distance).__name__} is no metric, so there is no hypothesis margin"
            f"{advice}."
        )


def margin_of(model: NearestPrototypeClassifier, D: Floats, y: Any) -> Floats:
    """Give the hypothesis margin from the distances of a model."""
    if model._distance.squared:
        D = np.sqrt(D)
    own = model.prototype_labels_ == y[:, None]
    nearest_own = np.where(own, D, np.inf).min(axis=1)
    nearest_rival = np.where(own, np.inf, D).min(axis=1)
    return 0.5 * (nearest_rival - nearest_own)


def known_labels(model: NearestPrototypeClassifier, y: Any, name: str = "y") -> Any:
    """Check that the model has seen all labels."""
    y = column_or_1d(y)
    known = set(model.classes_.tolist())
    unknown = [label for label in dict.fromkeys(y.tolist()) if label not in known]
    if unknown:
        raise ValueError(
            f"{name} contains {unknown!r}, which the model has not seen; its classes are "
            f"{model.classes_.tolist()!r}."
        )
    return y


def last_step(model: Any, X: Any) -> tuple[NearestPrototypeClassifier, Any]:
    """Give the nearest-prototype model at the end of a pipeline, and X as it sees it."""
    last = last_classifier(model)
    several = isinstance(model, Pipeline) and len(model) > 1
    return last, model[:-1].transform(X) if several else X


def last_classifier(model: Any) -> NearestPrototypeClassifier:
    """Give the fitted nearest-prototype model at the end of a pipeline."""
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        model = model[-1]
    if not isinstance(model, NearestPrototypeClassifier):
        inner = [name for name in ("best_estimator_", "model_") if hasattr(model, name)]
        raise TypeError(
            f"{type(model).__name__} is not a nearest-prototype classifier; give "
            + (f"its {inner[0]}, " if inner else "")
            + "one of protolearn's, or a Pipeline that ends in one."
        )
    check_is_fitted(model)
    return model
