"""Predictions that somebody else has made."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from ..._arrays import Floats
from ..held_out import Answers, by_class


def given_answers(
    y_true: Any, y_pred: Any, scores: Any, probabilities: Any, classes: Any
) -> Answers:
    """Check predictions, and put columns into the order of the sorted classes."""
    check_classification_targets(y_true)
    check_classification_targets(y_pred)
    found = unique_labels(y_true, y_pred)
    classes = found if classes is None else np.asarray(classes)
    unknown = np.setdiff1d(y_true, classes).tolist()
    if unknown or len(np.unique(classes)) < len(classes):
        raise ValueError(
            f"classes={classes.tolist()!r} must be different labels, and all that y_true contains"
            + (f"; {unknown!r} are missing." if unknown else ".")
        )
    order = np.argsort(classes)
    if scores is not None:
        scores = as_columns(scores, "scores", len(classes))[:, order]
    if probabilities is not None:
        probabilities = as_columns(probabilities, "probabilities", len(classes))[:, order]
        check_probabilities(probabilities)
    return Answers(y_true, y_pred, classes[order], scores, probabilities)


def as_columns(values: Any, name: str, n_classes: int) -> Floats:
    """Return finite numbers, one column a class."""
    values = np.asarray(values, dtype=np.float64)
    if n_classes == 2 and name == "scores":
        values = by_class(values)
    if values.ndim != 2 or values.shape[1] != n_classes:
        raise ValueError(
            f"{name} has shape {values.shape}, expected one column for each of {n_classes} "
            "classes; give classes= if some of them do not occur."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return values


def check_probabilities(values: Floats) -> None:
    """Raise unless every row is a distribution."""
    wrong = (values < 0.0).any(axis=1) | (np.abs(values.sum(axis=1) - 1.0) > 1e-6)
    if wrong.any():
        raise ValueError(
            f"probabilities are negative or do not sum to one in {wrong.sum()} rows, first in row "
            f"{wrong.argmax()}: {values[wrong.argmax()].tolist()!r}. Give other numbers as scores=."
        )
