"""Measures of answers by scikit-learn.

Averages over classes are over those that have rows: of the others nothing can be said.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn import metrics

from .._arrays import Floats
from .held_out import Answers

MEASURES = {
    "accuracy": ("accuracy", 0.0, 1.0),
    "balanced_accuracy": ("balanced accuracy", 0.0, 1.0),
    "macro_f": ("macro F", 0.0, 1.0),
    "mcc": ("MCC", -1.0, 1.0),
    "auc": ("AUC", 0.0, 1.0),
    "average_precision": ("average precision", 0.0, 1.0),
    "log_loss": ("log loss", 0.0, np.inf),
}
"""The measures: how tables call them, and where their values end."""

ONE_CLASS = "the tested rows are of one class"


class Measured(NamedTuple):
    """A value, or NaN and why there is none."""

    value: float
    reason: str = ""


def measure(answers: Answers) -> dict[str, Measured]:
    """Return all measures by name; the balanced accuracy is the mean recall of the classes."""
    return {
        "accuracy": Measured(float(metrics.accuracy_score(answers.y_true, answers.y_pred))),
        "balanced_accuracy": Measured(mean_by_class(metrics.recall_score, answers)),
        "macro_f": Measured(mean_by_class(metrics.f1_score, answers)),
        "mcc": mcc(answers),
        "auc": auc(answers),
        "average_precision": average_precision(answers),
        "log_loss": cross_entropy(answers),
    }


def mean_by_class(score: Any, answers: Answers) -> float:
    """Return the mean of a score over the classes with rows."""
    true, present = answers.y_true, np.unique(answers.y_true)
    return float(score(true, answers.y_pred, labels=present, average="macro", zero_division=0.0))


def mcc(answers: Answers) -> Measured:
    """Return Matthews' correlation coefficient."""
    if len(np.unique(answers.y_true)) < 2:
        return Measured(np.nan, ONE_CLASS)
    return Measured(float(metrics.matthews_corrcoef(answers.y_true, answers.y_pred)))


def auc(answers: Answers) -> Measured:
    """Return the area under the ROC curve; of several classes the mean of one against the rest."""
    ranked = rankings(answers)
    if ranked is None:
        return Measured(np.nan, "neither scores nor probabilities")
    if len(np.unique(answers.y_true)) < 2:
        return Measured(np.nan, ONE_CLASS)
    areas = [
        metrics.roc_auc_score(positive, scores) for positive, scores in ranked if positive.any()
    ]
    return Measured(float(np.mean(areas)))


def average_precision(answers: Answers) -> Measured:
    """Return the mean of the average precision of each class with rows against the rest."""
    ranked = rankings(answers, by_class=True)
    if ranked is None:
        return Measured(np.nan, "neither scores nor probabilities")
    if len(np.unique(answers.y_true)) < 2:
        return Measured(np.nan, ONE_CLASS)
    found = [metrics.average_precision_score(*one) for one in ranked if one[0].any()]
    return Measured(float(np.mean(found)))


def rankings(answers: Answers, by_class: bool = False) -> list[tuple[Any, Floats]] | None:
    """Return which rows are positive and how they score: for each class, or once for two.

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
        lead = values[:, 1] - values[:, 0]
        second = y == classes[1], lead
        return [(y == classes[0], -lead), second] if by_class else [second]
    return [(y == label, values[:, c]) for c, label in enumerate(classes)]


def cross_entropy(answers: Answers) -> Measured:
    """Return the mean of minus the logarithm of the probability of the true class."""
    if answers.probabilities is None:
        return Measured(np.nan, "no probabilities")
    loss = metrics.log_loss(answers.y_true, answers.probabilities, labels=answers.classes)
    return Measured(float(loss))


def row_losses(answers: Answers) -> Any:
    """Return minus the log probability of each true class, clipped as scikit-learn does."""
    if answers.probabilities is None:
        return np.full(len(answers.y_true), np.nan)
    column = np.searchsorted(answers.classes, answers.y_true)
    eps = np.finfo(np.float64).eps
    own = answers.probabilities[np.arange(len(column)), column]
    return -np.log(np.clip(own, eps, 1.0 - eps))
