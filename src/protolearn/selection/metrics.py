"""Measures of answers: once, by scikit-learn, and of many resamples of the rows, all at once.

Averages over classes are over those that have rows: of the others nothing can be said. A resample
is written as how often it has each row. scikit-learn's functions take such weights too, but one
resample at a time, which is some hundred times slower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.utils.multiclass import unique_labels

from .._arrays import Floats, Indices, rows_at_a_time
from .held_out import Answers

MEASURES = {
    "accuracy": ("accuracy", 0.0, 1.0),
    "balanced_accuracy": ("balanced accuracy", 0.0, 1.0),
    "macro_f": ("macro F", 0.0, 1.0),
    "mcc": ("MCC", -1.0, 1.0),
    "auc": ("AUC", 0.0, 1.0),
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
    loss = metrics.log_loss(answers.y_true, answers.probabilities, labels=answers.classes)
    return Measured(float(loss))


class Ranking(NamedTuple):
    """Rows in the order of their scores: positive ones, and where a larger score begins."""

    order: Indices
    starts: Indices
    positive: NDArray[np.bool_]


class ConfusionCells(NamedTuple):
    """Rows in the order of the cells of the confusion matrix, and what each cell counts for."""

    order: Indices
    starts: Indices
    true: Floats
    assigned: Floats
    right: Floats


def resample_measures(
    answers: Answers, n_resamples: int, rng: np.random.RandomState
) -> tuple[dict[str, Floats], int]:
    """Draw the rows with replacement, many times, and measure each resample.

    Returns the measures by name, and how many resamples lack a class that the rows have.
    """
    n_samples = len(answers.y_true)
    cells, ranked = cells_of(answers), rankings(answers)
    ranks = [ranking_of(*one) for one in ranked or () if one[0].any()]
    losses = row_losses(answers)
    parts, lacking = [], 0
    size = rows_at_a_time(n_samples)
    for start in range(0, n_resamples, size):
        weight = draw_counts(n_samples, min(size, n_resamples - start), rng)
        counted, n_lacking = from_counts(weight, cells)
        lacking += n_lacking
        counted["auc"] = mean_area(weight, ranks) if ranks else np.full(len(weight), np.nan)
        counted["log_loss"] = weight @ losses / n_samples
        parts.append(counted)
    return {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}, lacking


def draw_counts(n_samples: int, n_resamples: int, rng: np.random.RandomState) -> Floats:
    """Return how often each row is in each resample: an array (n_resamples, n_samples)."""
    rows = rng.randint(n_samples, size=(n_resamples, n_samples))
    rows += n_samples * np.arange(n_resamples)[:, None]
    counts = np.bincount(rows.ravel(), minlength=n_resamples * n_samples)
    return counts.reshape(n_resamples, n_samples).astype(np.float64)


def cells_of(answers: Answers) -> ConfusionCells:
    """Sort the rows by true and predicted label."""
    labels = unique_labels(answers.y_true, answers.y_pred)
    true = np.searchsorted(labels, answers.y_true)
    assigned = np.searchsorted(labels, answers.y_pred)
    order = np.lexsort((assigned, true))
    true, assigned = true[order], assigned[order]
    new = np.append(True, (np.diff(true) != 0) | (np.diff(assigned) != 0))
    true, assigned = (np.eye(len(labels))[codes[new]] for codes in (true, assigned))
    return ConfusionCells(order, np.flatnonzero(new), true, assigned, true * assigned)


def from_counts(weight: Floats, cells: ConfusionCells) -> tuple[dict[str, Floats], int]:
    """Return what follows from confusion matrices, and how many of them lack a true class."""
    counts = np.add.reduceat(weight[:, cells.order], cells.starts, axis=1)
    true, assigned, right = (counts @ part for part in cells[2:])
    here = true > 0.0
    n_here = here.sum(axis=1)
    recall = np.divide(right, true, out=np.zeros_like(right), where=here)
    f = np.divide(2.0 * right, true + assigned, out=np.zeros_like(right), where=here)
    values = {
        "balanced_accuracy": recall.sum(axis=1) / n_here,
        "macro_f": f.sum(axis=1) / n_here,
        "mcc": correlation(true, assigned, right.sum(axis=1)),
    }
    return values, int((n_here < cells.true.any(axis=0).sum()).sum())


def correlation(true: Floats, assigned: Floats, right: Floats) -> Floats:
    """Return Matthews' coefficient; zero where one class is assigned, NaN where one is true."""
    n = true.sum(axis=1)
    both = right * n - (true * assigned).sum(axis=1)
    spreads = [n**2 - (part**2).sum(axis=1) for part in (true, assigned)]
    size = np.sqrt(spreads[0] * spreads[1])
    values = np.divide(both, size, out=np.zeros_like(size), where=size > 0.0)
    return np.where(spreads[0] > 0.0, values, np.nan)


def ranking_of(positive: NDArray[np.bool_], scores: Floats) -> Ranking:
    """Sort rows by their scores."""
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0.0))
    return Ranking(order, starts, positive[order])


def mean_area(weight: Floats, ranks: list[Ranking]) -> Floats:
    """Return the mean of the areas that there are; NaN where there is none."""
    areas = np.stack([area(weight, ranking) for ranking in ranks])
    there = ~np.isnan(areas)
    total, number = np.where(there, areas, 0.0).sum(axis=0), there.sum(axis=0)
    return np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)


def area(weight: Floats, ranking: Ranking) -> Floats:
    """Return the share of pairs of a positive and a negative row in the right order."""
    sorted_weight = weight[:, ranking.order]
    total = np.add.reduceat(sorted_weight, ranking.starts, axis=1)
    positive = np.add.reduceat(sorted_weight * ranking.positive, ranking.starts, axis=1)
    negative = total - positive
    below = np.cumsum(negative, axis=1) - 0.5 * negative  # ties count half
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    right = (positive * below).sum(axis=1)
    return np.divide(right, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0.0)


def row_losses(answers: Answers) -> Any:
    """Return minus the log probability of each true class, clipped as scikit-learn does."""
    if answers.probabilities is None:
        return np.full(len(answers.y_true), np.nan)
    column = np.searchsorted(answers.classes, answers.y_true)
    eps = np.finfo(np.float64).eps
    own = answers.probabilities[np.arange(len(column)), column]
    return -np.log(np.clip(own, eps, 1.0 - eps))
