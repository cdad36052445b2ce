"""How sure a prediction is: one number a row, larger is surer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from ..._arrays import Floats
from ...classifiers import NearestPrototypeClassifier
from ...linear import LinearPrototypeClassifier
from ..certificates import certified_radius
from ..margins import margin_of_prediction
from .thresholds import as_confidence

Measure = str | Callable[[Any, Any], Any]


def confidence_of(model: Any, X: Any, measure: Measure) -> Floats:
    """Return how sure a fitted model is of each row, by the name of a measure or by a function."""
    check_measure(measure)
    values = measure(model, X) if callable(measure) else MEASURES[measure](model, X)
    values, (X,) = as_confidence(values), indexable(X)
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if values.shape != (rows,):
        raise ValueError(
            f"measure={measure!r} gave an array of shape {values.shape}, expected one number a "
            f"row: ({rows},)."
        )
    return values


def check_measure(measure: Any) -> None:
    """Raise if a measure is neither a function nor a name that is known."""
    if not callable(measure) and not (isinstance(measure, str) and measure in MEASURES):
        raise ValueError(
            f"measure={measure!r} must be one of {', '.join(map(repr, MEASURES))}, or a function "
            "of a fitted model and X that gives one number a row."
        )


def margin(model: Any, X: Any) -> Any:
    """Return the hypothesis margin of the predicted class, or the lead of the best score."""
    return margin_of_prediction(model, X) if has_margin(model) else lead(model, X)


def has_margin(model: Any) -> bool:
    """Whether a model, or the last step of a pipeline, has a hypothesis margin."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return isinstance(last, NearestPrototypeClassifier) or is_linear(last)


def is_linear(model: Any) -> bool:
    """Whether a model has prototypes and a shift."""
    return isinstance(model, LinearPrototypeClassifier) and hasattr(model, "prototypes_")


def lead(model: Any, X: Any) -> Any:
    """Return by how much the best of the class scores exceeds the second."""
    scores = np.asarray(method_for(model, "decision_function", "margin")(X))
    if scores.ndim == 1:
        return np.abs(scores)
    if scores.shape[1] != len(model.classes_):
        raise ValueError(
            f"decision_function of {type(model).__name__} gives {scores.shape[1]} scores for "
            f"{len(model.classes_)} classes, expected one a class; give measure='probability'."
        )
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    return best - second


def radius(model: Any, X: Any) -> Any:
    """Return how far a row may move at least before its class changes."""
    return certified_radius(model, X)


def probability(model: Any, X: Any) -> Any:
    """Return the largest class probability."""
    return np.max(method_for(model, "predict_proba", "probability")(X), axis=1)


def method_for(model: Any, method: str, measure: str) -> Any:
    """Return a method of a model, or say that the measure needs it."""
    if not hasattr(model, method):
        raise ValueError(
            f"{type(model).__name__} has no {method}, which measure={measure!r} needs; give "
            "another measure."
        )
    return getattr(model, method)


MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "margin": margin,
    "radius": radius,
    "probability": probability,
}
