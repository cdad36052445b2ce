"""How sure a prediction is: one number a row, larger is surer.

Held-out rows, with the confidence of their predictions, tell which threshold to reject below.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from .._arrays import Floats, Indices
from .._validation import integer_in, number_in
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
    method_for(model, "decision_function", "margin")
    return class_leads(model, X).max(axis=1)


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
    groups, parts = row_groups(data.X).of(np.arange(len(data.y))), []
    scales = [training_scale(model, data, measure)]
    for fitted, known, asked, test in fitted_folds(model, data, cv, weight_names):
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


def fitted_folds(
    model: Any, data: LabelledRows, cv: Any, weight_names: tuple[str, ...] = ()
) -> Iterator[tuple[Any, LabelledRows, LabelledRows, Indices]]:
    """Yield a clone fitted without each fold, its rows, those of the fold, and where these are."""
    for train, test in folds_of_rows(data, cv):
        known, asked = split_held_out(model, data, train, test)
        weight = dict.fromkeys(weight_names, known.weight)
        yield clone(model).fit(known.X, known.y, **weight), known, asked, test


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


def predict_set(
    model: Any,
    X_known: Any,
    y_known: Any,
    X: Any,
    *,
    coverage: float = 0.9,
    cv: Any = 5,
) -> NDArray[np.bool_]:
    """Return for each row a set of classes that holds the true one with a given probability.

    The guarantee is for each class by itself: of the new rows of a class, a share of ``coverage``
    or more have that class in their set, however rare it is. A set may hold one class, several, or
    none if the row resembles no class.

    Parameters
    ----------
    model : classifier
        One with ``decision_function`` or ``predict_proba``; a Pipeline is one.
    X_known : array-like of shape (n_samples, n_features)
        Rows with known labels.
    y_known : array-like of shape (n_samples,)
        Their labels.
    X : array-like of shape (n_new, n_features)
        The rows to predict.
    coverage : float, default=0.9
        Share of the new rows of each class whose set holds it, between zero and one. A class of
        ``n`` rows can be left out of a set only if ``n + 1 > 1 / (1 - coverage)``.
    cv : int, splitter, iterable or "prefit", default=5
        Clones are fitted without each fold, and compare the new rows with the rows of that fold;
        equal rows stay in one fold of an integer ``cv``. ``"prefit"``: the model is fitted already,
        to other rows than ``X_known``.

    Returns
    -------
    sets : array of bool of shape (n_new, n_classes)
        Which classes are in the set of each row; columns are the sorted labels of ``y_known``.

    Notes
    -----
    For each class, the lead of its score over the best other one is compared with that of the known
    rows of this class (Mondrian conformal prediction). With ``cv="prefit"`` and independent rows
    the guarantee is proved, on average over the known rows. With folds (cross-conformal prediction)
    a coverage of ``2 * coverage - 1`` is proved, and that asked for is reached in simulations.

    References
    ----------
    Vovk, Gammerman and Shafer (2005), *Algorithmic learning in a random world*.

    Vovk (2015), *Cross-conformal predictors*, Annals of Mathematics and Artificial Intelligence 74.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ, predict_set
    >>> X, y = load_iris(return_X_y=True)
    >>> sets = predict_set(GLVQ(random_state=0), X[::2], y[::2], X[1::2], coverage=0.9)
    >>> sets.shape
    (75, 3)
    >>> bool(sets[y[1::2] == 1, 1].mean() > 0.8)
    True
    """
    coverage = number_in(coverage, "coverage={value!r}", 0.0, 1.0, above=True, below=True)
    data = LabelledRows.of(X_known, column_or_1d(y_known), None)
    labels = np.unique(data.y)
    parts: Any = [(model, None, data, None)]
    if isinstance(cv, str) and cv == "prefit":
        check_is_fitted(model)
    else:
        parts = fitted_folds(model, data, cv)
    higher: Floats = np.zeros((1, len(labels)))
    sizes = np.zeros(len(labels))
    for fitted, _, asked, _ in parts:
        higher = higher + n_less_typical(fitted, asked, X, labels)
        sizes += np.bincount(np.searchsorted(labels, asked.y), minlength=len(labels))
    return np.asarray((higher + 1.0) / (sizes + 1.0) > (1.0 - coverage) * (1.0 + ROUNDING))


ROUNDING = 1e-12
"""Part by which a share of rows may be off."""


def n_less_typical(model: Any, known: LabelledRows, X: Any, labels: NDArray[Any]) -> Floats:
    """Return for each row and class how many known rows of the class lead by no more than it."""
    check_no_class_missing(model.classes_, labels)
    own, new = class_leads(model, known.X), class_leads(model, X)
    found = np.zeros((len(new), len(labels)))
    for code, label in enumerate(labels):
        column = int(np.searchsorted(model.classes_, label))
        leads = np.sort(own[known.y == label, column])
        found[:, code] = np.searchsorted(leads, new[:, column], side="right")
    return found


def class_leads(model: Any, X: Any) -> Floats:
    """Return how far the score of each class is above the best of the others."""
    scores = class_scores(model, X)
    order = np.sort(scores, axis=1)
    best_other = np.where(scores == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return np.asarray(scores - best_other)


def class_scores(model: Any, X: Any) -> Floats:
    """Return one score a class: by ``decision_function``, or probabilities if there is none."""
    if not hasattr(model, "decision_function"):
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(X), dtype=np.float64)
        raise ValueError(
            f"{type(model).__name__} has neither decision_function nor predict_proba: there is no "
            "score to put a threshold on."
        )
    last = model[-1] if isinstance(model, Pipeline) else model
    scores = by_class(np.asarray(model.decision_function(X), dtype=np.float64))
    # Of three classes there are as many pairs.
    pairs = getattr(last, "decision_function_shape", None) == "ovo"
    if scores.shape[1] != len(model.classes_) or pairs:
        raise ValueError(
            f"decision_function of {type(last).__name__} gives shape {scores.shape} for "
            f"{len(model.classes_)} classes, which is not one score a class; choose "
            "decision_function_shape='ovr'."
        )
    return scores


def by_class(scores: Floats) -> Floats:
    """Return one column for each class; two classes share their difference equally."""
    return np.stack([-0.5 * scores, 0.5 * scores], axis=1) if scores.ndim == 1 else scores


def held_out_leads(
    model: Any, data: LabelledRows, cv: Any, weight_names: tuple[str, ...]
) -> tuple[Floats, Indices]:
    """Return the leads of the classes for held-out rows, and which rows these are.

    Without ``cv`` all rows are held out. Leads of clones that are of another size than those of the
    model are put on its scale.
    """
    if cv is None:
        return class_leads(model, data.X), np.arange(len(data.y))
    own, found, rows = usual_lead(model, data.X), [], []
    for fitted, known, asked, test in fitted_folds(model, data, cv, weight_names):
        check_no_class_missing(known.y, model.classes_)
        scale = own / usual_lead(fitted, known.X)
        is_like = 1.0 / LIKE_SIZE <= scale <= LIKE_SIZE
        found.append(class_leads(fitted, asked.X) * (1.0 if is_like else scale))
        rows.append(test)
    return np.concatenate(found), np.concatenate(rows)


def usual_lead(model: Any, X: Any) -> float:
    """Return the median size of the leads of a model about its training rows."""
    return max(float(np.median(np.abs(class_leads(model, X)))), TINY)


def least_leads(leads: Floats, codes: Indices, coverage: float) -> Floats:
    """Return for each class the lead that a new row of it reaches with the given chance."""
    found = np.full(leads.shape[1], -np.inf)
    for code in range(leads.shape[1]):
        own = np.sort(leads[codes == code, code])
        n_below = int((1.0 - coverage) * (len(own) + 1) * (1.0 + ROUNDING))
        if n_below:
            found[code] = own[n_below - 1]
    return found


def only_class(sets: NDArray[np.bool_], codes: Indices) -> NDArray[np.bool_]:
    """Return in which rows the given class is the only one in the set."""
    own = sets[np.arange(len(sets)), codes]
    return np.asarray(own & (sets.sum(axis=1) == 1))


def check_no_class_missing(y: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise if the training rows of a fold lack a class."""
    unseen = np.setdiff1d(classes, y).tolist()
    if unseen:
        raise ValueError(
            f"The model has not seen the classes {unseen!r}, which occur in the rows with known "
            "labels; with folds each class needs two rows or more."
        )


def folds_of_rows(data: LabelledRows, cv: Any) -> Any:
    """Return the folds that ``cv`` names; a number of them keeps equal rows together."""
    if isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        n_folds = integer_in(cv, "cv={value!r}", 2)
        return stratified_folds(data.y, n_folds, row_groups(data.X), shuffle=False)
    return check_cv(cv, data.y, classifier=True).split(data.X, data.y)
