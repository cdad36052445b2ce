"""How sure a prediction is: one number a row, larger is surer.

Held-out rows, with the confidence of their predictions, tell which threshold to reject below.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import has_fit_parameter

from .._arrays import Floats, Indices
from .._validation import integer_in
from ..classifiers import NearestPrototypeClassifier
from ..folds import row_groups, stratified_folds
from ..linear import LinearPrototypeClassifier
from .certificates import certified_radius
from .hypothesis_margins import margin_of_prediction
from .reject_thresholds import (
    as_confidence,
    cheapest_threshold,
    cuts,
    smallest_target,
    threshold_for_error,
)
from .relevance_refits import LabelledRows

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


def has_margin(model: Any) -> bool:
    """Whether a model, or the last step of a pipeline, has a hypothesis margin."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return isinstance(last, NearestPrototypeClassifier) or is_linear(last)


def is_linear(model: Any) -> bool:
    """Whether a model has prototypes and a shift."""
    return isinstance(model, LinearPrototypeClassifier) and hasattr(model, "prototypes_")


def margin(model: Any, X: Any) -> Any:
    """Return the hypothesis margin of the predicted class, or the lead of the best score."""
    if has_margin(model):
        return margin_of_prediction(model, X)
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


LIKE_SIZE = 1.5
"""Factor by which the usual confidences of models may differ and count as one scale."""

SCALE_ROWS = 1000
"""Training rows at most whose confidences are the scale of a model."""

TINY = float(np.finfo(np.float64).tiny)

MEASURES = {"margin": margin, "radius": certified_radius, "probability": probability}


class HeldOut(NamedTuple):
    """Predictions for held-out rows: labels, how sure, whether wrong, weight and group of a row.

    Copies of a row, and a row that is held out several times, are of one group.
    """

    predicted: NDArray[Any]
    confidence: Floats
    wrong: NDArray[np.bool_]
    weight: Floats
    group: Indices


def from_folds(
    model: Any, data: LabelledRows, cv: Any, measure: Measure, weight_names: tuple[str, ...]
) -> HeldOut:
    """Return what clones of a fitted model, without some rows each, predict for these.

    Where the confidences of the clones are of another size than those of the model, they are put
    on its scale.
    """
    together, parts = row_groups(data.X), []
    groups = together.of(np.arange(len(data.y)))
    if isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        n_folds = integer_in(cv, "cv={value!r}", 2)
        folds: Any = stratified_folds(data.y, n_folds, together, shuffle=False)
    else:
        folds = check_cv(cv, data.y, classifier=True).split(data.X, data.y)
    scales = [training_scale(model, data, measure)]
    for train, test in folds:
        known, asked = split_held_out(model, data, train, test)
        fitted = clone(model).fit(known.X, known.y, **dict.fromkeys(weight_names, known.weight))
        parts.append(from_fitted(fitted, asked, measure, groups[test]))
        scales.append(training_scale(fitted, known, measure))
    if not is_one_scale(scales):
        own = scales[0]
        parts = [
            part._replace(confidence=on_scale(part.confidence, scale, own))
            for part, scale in zip(parts, scales[1:], strict=True)
        ]
    return HeldOut._make(np.concatenate(part) for part in zip(*parts, strict=True))


def training_scale(model: Any, data: LabelledRows, measure: Measure) -> Floats:
    """Return the sorted confidences of a model about its training rows, of many rows a part."""
    rows = np.unique(np.linspace(0, len(data.y) - 1, SCALE_ROWS).astype(np.intp))
    return np.sort(confidence_of(model, data.take(rows).X, measure))


def is_one_scale(scales: list[Floats]) -> bool:
    """Whether the confidences of models about their training rows are of about the same size."""
    middle = np.array([np.median(np.abs(scale)) for scale in scales])
    return bool(middle.max() <= LIKE_SIZE * middle.min())


def on_scale(confidence: Floats, scale: Floats, own: Floats) -> Floats:
    """Return confidences with the same ranks among ``own`` as they have among ``scale``."""
    at, least = np.linspace(0.0, 1.0, len(scale)), np.linspace(0.0, 1.0, len(own))
    mapped = np.interp(np.interp(confidence, scale, at), least, own)
    above = (confidence > scale[-1]) & (scale[-1] > 0.0)  # surer than about any training row
    return np.where(above, own[-1] * (confidence / max(scale[-1], TINY)), mapped)


def from_fitted(
    model: Any, data: LabelledRows, measure: Measure, group: Indices | None = None
) -> HeldOut:
    """Return what a fitted model predicts."""
    if group is None:
        group = row_groups(data.X).of(np.arange(len(data.y)))
    predicted = np.asarray(model.predict(data.X))
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    confidence = confidence_of(model, data.X, measure)
    return HeldOut(predicted, confidence, predicted != data.y, weight, group)


def split_held_out(
    model: Any, data: LabelledRows, train: Indices, test: Indices
) -> tuple[LabelledRows, LabelledRows]:
    """Return the rows of both parts; of a Gram matrix the columns of the first."""
    known, asked = data.take(train), data.take(test)
    if get_tags(model).input_tags.pairwise:
        known, asked = (part._replace(X=np.asarray(part.X)[:, train]) for part in (known, asked))
    return known, asked


def weight_name(model: Any) -> str:
    """Return the keyword by which ``fit`` of a model, or of the last step, takes weights."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return f"{name}__{weight_name(last)}"
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"sample_weight is given, but fit of {type(model).__name__} takes none; leave it out, "
            "or choose a model that takes weights."
        )
    return "sample_weight"


def given_thresholds(threshold: Any, classes: NDArray[Any]) -> Floats:
    """Return the threshold of each class out of a number or a dict."""
    by_label = threshold
    if not isinstance(threshold, Mapping):
        by_label = dict.fromkeys(classes.tolist(), threshold)
    unknown = [label for label in by_label if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"threshold names {unknown!r}, which the model has not seen; its classes are "
            f"{classes.tolist()!r}."
        )
    for label, value in by_label.items():
        if not isinstance(value, numbers.Real) or isinstance(value, bool) or value != value:
            raise ValueError(
                f"threshold={threshold!r} must be a number, or a dict of label to number; got "
                f"{value!r} for class {label!r}."
            )
    return np.array([float(by_label.get(label, -np.inf)) for label in classes.tolist()])


def found_thresholds(
    held: HeldOut, classes: NDArray[Any], rule: str, value: float, per_class: bool, risk: float
) -> Floats:
    """Return the threshold of each class that held-out rows ask for.

    All thresholds together keep the target error but for the ``risk``.
    """
    if not per_class:
        return np.full(len(classes), best_threshold(held, rule, value, "any class", risk))
    thresholds = np.empty(len(classes))
    for code, label in enumerate(classes.tolist()):
        own = (held.predicted == label) & (held.weight > 0.0)
        part, which = held, "any class"
        if own.any():
            part, which = HeldOut._make(values[own] for values in held), repr(label)
        thresholds[code] = best_threshold(part, rule, value, which, risk / len(classes))
    return thresholds


def best_threshold(held: HeldOut, rule: str, value: float, which: str, risk: float) -> float:
    """Return the best threshold by "cost" or "target_error" for rows predicted as ``which``."""
    if rule == "cost":
        return cheapest_threshold(held.confidence, held.wrong, held.weight, value)
    at = cuts(held.confidence, held.wrong, held.weight, held.group)
    threshold = threshold_for_error(at, value, risk)
    if threshold == np.inf:
        n_rows = f"{at.n_effective[0]:,.0f}"
        warnings.warn(
            f"target_error={value!r} cannot be guaranteed for predictions of {which}: all are "
            f"rejected. The smallest error that the {n_rows} held-out rows can guarantee is about "
            f"{smallest_target(at, risk):.2g}. Raise target_error, lower confidence, or give more "
            "rows.",
            UserWarning,
            stacklevel=4,
        )
    return threshold
