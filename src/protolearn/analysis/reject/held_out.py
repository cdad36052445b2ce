"""Predictions for rows that a model has not seen, by folds or by a model that is fitted already."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import has_fit_parameter

from ..._arrays import Floats, Indices
from ..._validation import check_sample_weight
from ..margins import known_labels
from ..relevance import LabelledRows
from .confidence import Measure, confidence_of


class HeldOut(NamedTuple):
    """Predictions for held-out rows: labels, how sure, whether wrong, and the weight of a row."""

    predicted: NDArray[Any]
    confidence: Floats
    wrong: NDArray[np.bool_]
    weight: Floats

    def where(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return some of the rows."""
        return HeldOut._make(part[rows] for part in self)


def check_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> LabelledRows:
    """Return rows of one length, with labels that a fitted model knows."""
    X, y = indexable(np.asarray(X) if isinstance(X, (list, tuple)) else X, known_labels(model, y))
    return LabelledRows(X, y, check_sample_weight(sample_weight, len(y)))


def from_folds(
    model: Any, data: LabelledRows, cv: Any, measure: Measure, weight_names: tuple[str, ...]
) -> HeldOut:
    """Fit clones to the training parts of a split, and let them predict the others.

    ``weight_names`` are the keywords by which ``fit`` takes the weights.
    """
    parts = []
    for train, test in check_cv(cv, data.y, classifier=True).split(data.X, data.y):
        known, asked = split_held_out(model, data, train, test)
        fitted = clone(model).fit(known.X, known.y, **dict.fromkeys(weight_names, known.weight))
        parts.append(from_fitted(fitted, asked, measure))
    return HeldOut._make(np.concatenate(part) for part in zip(*parts, strict=True))


def from_fitted(model: Any, data: LabelledRows, measure: Measure) -> HeldOut:
    """Return what a fitted model predicts."""
    predicted = np.asarray(model.predict(data.X))
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    return HeldOut(predicted, confidence_of(model, data.X, measure), predicted != data.y, weight)


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
