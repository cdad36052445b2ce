"""How good the model is, by rows that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..analysis import cheapest_threshold
from ..selection import Evaluation, on_folds, on_test_set
from .learning import Fold

CONFIDENCE = 0.95
N_RESAMPLES = 1000
ABOVE_ALL = 2.0
"""A threshold that no probability reaches: every row is flagged."""


class Reject(NamedTuple):
    """Which predictions should be looked at: those with a probability below a threshold.

    Attributes
    ----------
    cost : float
        What a second look costs, when an error costs 1.
    threshold : float or None
        None: no prediction.
    rate : float
        Share of the left-out rows that are flagged.
    accuracy : float
        Accuracy on the others; NaN if there are none.
    """

    cost: float
    threshold: float | None
    rate: float
    accuracy: float


@dataclass(frozen=True)
class Judgement:
    """How good the procedure is.

    Parameters
    ----------
    evaluation : Evaluation
        Measures with intervals.
    folds : tuple of Fold
        The outer folds that there was time for.
    n_planned : int
        The folds that were wanted.
    majority : tuple of str and float
        The most frequent class, and how often it is right to say that always.
    reject : Reject
        Which predictions should be looked at.
    """

    evaluation: Evaluation
    folds: tuple[Fold, ...]
    n_planned: int
    majority: tuple[str, float]
    reject: Reject


def judged(folds: Sequence[Fold], n_planned: int, cost: float, seed: int) -> Judgement:
    """Sum up the outer folds."""
    answers = [fold.answers for fold in folds]
    if len(folds) > 1:
        n_train, n_test = (
            np.array([fold.n_train for fold in folds]),
            np.array([len(fold.test) for fold in folds]),
        )
        evaluation = on_folds(answers, n_train, n_test, CONFIDENCE)
    else:
        evaluation = on_test_set(answers[0], CONFIDENCE, N_RESAMPLES, seed)
    true = np.concatenate([one.y_true for one in answers])
    labels, counts = np.unique(true, return_counts=True)
    most = int(counts.argmax())
    majority = str(labels[most]), float(counts[most] / len(true))
    return Judgement(evaluation, tuple(folds), n_planned, majority, rejecting(folds, cost))


def rejecting(folds: Sequence[Fold], cost: float) -> Reject:
    """Find the probability below which a second look costs less than the errors do."""
    probability = np.concatenate([fold.answers.probabilities.max(axis=1) for fold in folds])  # type: ignore[union-attr]
    wrong = np.concatenate([fold.answers.y_true != fold.answers.y_pred for fold in folds])
    found = cheapest_threshold(probability, wrong, np.ones(len(wrong)), cost)
    flagged = probability < found
    accuracy = float(1.0 - wrong[~flagged].mean()) if not flagged.all() else np.nan
    threshold = None if found == -np.inf else float(min(found, ABOVE_ALL))
    return Reject(cost, threshold, float(flagged.mean()), accuracy)
