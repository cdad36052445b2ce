"""Hypothesis margin: how far the prototypes may move before a sample changes its class.

``(d- - d+) / 2``, with d+ the distance to the nearest prototype of the sample's label and d- to the
nearest of any other (Crammer et al., 2002, lemma 1). Linear classifiers have a shift besides their
prototypes: see ``linear_margins``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats
from .._lazy import row_by_row
from ..classifiers import NearestPrototypeClassifier
from ..linear.base import LinearPrototypeClassifier
from .linear_margins import linear_margin


@row_by_row
def hypothesis_margin(model: Any, X: Any, y: Any) -> Floats:
    """Give the hypothesis margin of labelled samples.

    How far all prototypes may move before a sample changes its class; negative where they have to
    move for it to get its class. So it is negative where the prediction is wrong, for all models
    but those with a soft decision, where that is where the nearest prototype is of another class.

    Parameters
    ----------
    model : nearest-prototype or linear classifier of protolearn, or Pipeline that ends in one
        A fitted model. In a pipeline the margin is measured in the space of the last step.
    X : array-like of shape (n_samples, n_features)
        The samples. A Dask array or frame is answered lazily, by a Dask array.
    y : array-like of shape (n_samples,)
        Their labels; for a Dask collection also a Dask array or series with the same parts.

    Returns
    -------
    margin : array of shape (n_samples,)
        In the units of the unsquared distance.

    Notes
    -----
    Of a nearest-prototype model it is ``(d- - d+) / 2``, d+ the distance to the nearest prototype
    of the label and d- to the nearest of any other.

    Of a linear classifier with two classes and the shift S in favour of the label it is
    ``(d-^2 - d+^2 + S) / (2 (d- + d+))``, as long as no prototype that comes nearer has to pass the
    sample; S does not move. Of one versus rest it is the least over the other classes, where the
    prototypes of both classes and of their rests move.

    Examples
    --------
    >>> from protolearn import GLVQ, hypothesis_margin
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> hypothesis_margin(model, [[0.5]], [0]).shape
    (1,)
    """
    model, X = last_step(model, X, last_with_prototypes)
    y = known_labels(model, y)
    if isinstance(model, LinearPrototypeClassifier):
        check_lengths(X, y)
        return linear_margin(model, X, np.searchsorted(model.classes_, y))
    check_metric(model)
    D = model.distances(X)
    check_lengths(D, y)
    return margin_of(model, D, y)


def margin_of_prediction(model: Any, X: Any) -> Floats:
    """Give the hypothesis margin of the class that each row is predicted to have.

    It is never negative but for models with a soft decision.
    """
    model, X = last_step(model, X, last_with_prototypes)
    if isinstance(model, LinearPrototypeClassifier):
        return linear_margin(model, X)
    check_metric(model, "; give measure='probability'")
    D = model.distances(X)
    soft = model._decision.soft
    return margin_of(model, D, model.predict(X) if soft else model.prototype_labels_[D.argmin(1)])


def check_lengths(X: Any, y: Any) -> None:
    """Raise if there are not as many rows as labels."""
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(y):
        raise ValueError(f"X has {rows} rows and y has {len(y)} labels.")


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


def known_labels(model: Any, y: Any, name: str = "y") -> Any:
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


def last_of(model: Any) -> Any:
    """Give the last step of a fitted pipeline, or what is no pipeline as it is."""
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        model = model[-1]
    return model


def last_classifier(model: Any) -> NearestPrototypeClassifier:
    """Give the fitted nearest-prototype model at the end of a pipeline."""
    last = last_of(model)
    if not isinstance(last, NearestPrototypeClassifier):
        raise not_one_of_these(last, "is not a nearest-prototype classifier", "of protolearn's")
    check_is_fitted(last)
    return last


def last_with_prototypes(model: Any) -> Any:
    """Give the fitted model at the end of a pipeline, nearest-prototype or linear."""
    last = last_of(model)
    if not isinstance(last, (LinearPrototypeClassifier, NearestPrototypeClassifier)):
        what = "is neither a nearest-prototype classifier nor a linear one with prototypes"
        raise not_one_of_these(last, what, "of protolearn's")
    if isinstance(last, NearestPrototypeClassifier):
        return last_classifier(model)
    check_is_fitted(last)
    if not hasattr(last, "prototypes_"):
        raise ValueError(
            f"{type(last).__name__} has no prototypes with these parameters, so that there is no "
            "hypothesis margin."
        )
    return last


def last_step(model: Any, X: Any, find: Callable[[Any], Any] = last_classifier) -> tuple[Any, Any]:
    """Give what is found at the end of a pipeline, and X as it sees it."""
    last = find(model)
    several = isinstance(model, Pipeline) and len(model) > 1
    return last, model[:-1].transform(X) if several else X


def not_one_of_these(model: Any, what: str, these: str) -> TypeError:
    """Say what a model is not, and what to give."""
    inner = [name for name in ("best_estimator_", "model_") if hasattr(model, name)]
    return TypeError(
        f"{type(model).__name__} {what}; give "
        + (f"its {inner[0]}, " if inner else "")
        + f"one {these}, or a Pipeline that ends in one."
    )
