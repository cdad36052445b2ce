"""Measures of one set of answers, by scikit-learn.

Averages over classes are over those that have rows: of the others nothing can be said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    recall_score,
    roc_auc_score,
)

from ..._arrays import Floats
from ..held_out import Answers

RANGES = {
    "accuracy": (0.0, 1.0),
    "balanced_accuracy": (0.0, 1.0),
    "macro_f": (0.0, 1.0),
    "mcc": (-1.0, 1.0),
    "auc": (0.0, 1.0),
    "log_loss": (0.0, np.inf),
}
"""The measures, and where their values end."""

ONE_CLASS = "the tested rows are of one class"


class Measured(NamedTuple):
    """A value, or NaN and why there is none."""

    value: float
    reason: str = ""


def measured(answers: Answers) -> dict[str, Measured]:
    """Return all measures by name."""
    return {name: FUNCTIONS[name](answers) for name in RANGES}


def classes_with_rows(answers: Answers) -> Any:
    """Return the classes that occur among the true labels."""
    return np.unique(answers.y_true)


def accuracy(answers: Answers) -> Measured:
    """Return the share of right predictions."""
    return Measured(float(accuracy_score(answers.y_true, answers.y_pred)))


def balanced_accuracy(answers: Answers) -> Measured:
    """Return the mean share of right predictions over the classes, which is the mean recall."""
    return Measured(by_class(recall_score, answers))


def macro_f(answers: Answers) -> Measured:
    """Return the mean F over the classes."""
    return Measured(by_class(f1_score, answers))


def by_class(score: Any, answers: Answers) -> float:
    """Return the mean of a score over the classes with rows."""
    present = classes_with_rows(answers)
    return float(
        score(answers.y_true, answers.y_pred, labels=present, average="macro", zero_division=0.0)
    )


def mcc(answers: Answers) -> Measured:
    """Return Matthews' correlation coefficient."""
    if len(classes_with_rows(answers)) < 2:
        return Measured(np.nan, ONE_CLASS)
    return Measured(float(matthews_corrcoef(answers.y_true, answers.y_pred)))


def auc(answers: Answers) -> Measured:
    """Return the area under the ROC curve; of several classes the mean of one against the rest."""
    ranked = rankings(answers)
    if ranked is None:
        return Measured(np.nan, "neither scores nor probabilities")
    if len(classes_with_rows(answers)) < 2:
        return Measured(np.nan, ONE_CLASS)
    areas = [roc_auc_score(positive, scores) for positive, scores in ranked if positive.any()]
    return Measured(float(np.mean(areas)))


def rankings(answers: Answers) -> list[tuple[Any, Floats]] | None:
    """Return which rows are positive and how they score: once for two classes, else for each.

    Probabilities of several classes are compared as scikit-learn's ``roc_auc_ovr`` does; those of
    two classes say no more than the scores, and round more.
    """
    y, classes = answers.y_true, answers.classes
    two = len(classes) == 2
    order = [answers.scores, answers.probabilities]
    values = next((v for v in (order if two else order[::-1]) if v is not None), None)
    if values is None:
        return None
    if two:
        return [(y == classes[1], values[:, 1] - values[:, 0])]
    return [(y == label, values[:, c]) for c, label in enumerate(classes)]


def cross_entropy(answers: Answers) -> Measured:
    """Return the mean of minus the logarithm of the probability of the true class."""
    if answers.probabilities is None:
        return Measured(np.nan, "no probabilities")
    loss = log_loss(answers.y_true, answers.probabilities, labels=answers.classes)
    return Measured(float(loss))


FUNCTIONS: dict[str, Callable[[Answers], Measured]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "macro_f": macro_f,
    "mcc": mcc,
    "auc": auc,
    "log_loss": cross_entropy,
}
