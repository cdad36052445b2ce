"""How good a model is, by rows that had no part in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..._arrays import Floats, Indices
from ...analysis import LabelledRows
from ...folds import RowGroups, row_groups
from ...selection import (
    Answers,
    Evaluation,
    answers_of,
    fold_sizes,
    folds_of,
    on_folds,
    on_test_set,
    over_folds,
    places_among,
)

CONFIDENCE = 0.95
# Resamples for intervals, and rows that are drawn for all of them together.
MOST_RESAMPLES, FEWEST_RESAMPLES, DRAWN = 1000, 100, 10_000_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """What models said about rows that they had not seen."""

    evaluation: Evaluation  # measures with intervals
    rows: Indices  # the rows that were judged, of folds all together
    answers: Answers  # what was said about them
    how: str  # how the rows came to be unseen, in a sentence
    by: str  # the same in a word or two
    # Whether other models were fitted without the rows, rather than the model asked itself.
    left_out: bool = True

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which answers are wrong."""
        return np.asarray(self.answers.y_true != self.answers.y_pred)

    @cached_property
    def probability(self) -> Floats | None:
        """The probability of each answer, which need not be the most probable one."""
        P = self.answers.probabilities
        if P is None:
            return None
        return P[np.arange(len(P)), places_among(self.answers.classes, self.answers.y_pred)]

    @property
    def confidence(self) -> Floats | None:
        """How sure each answer is: its probability, or the lead of the best score."""
        if self.probability is not None:
            return self.probability
        if self.answers.scores is None:
            return None
        second, best = np.partition(self.answers.scores, -2, axis=1)[:, -2:].T
        return best - second


def evidence_for(model: Any, X: Any, y: Any, cv: Any, seed: int, n_jobs: int | None) -> Evidence:
    """Return how good a model is: by folds, or with ``cv=None`` by rows that it has not seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit itself has warned
        if cv is None:
            return by_given_rows(model, X, y, seed)
        return by_folds(model, X, y, cv, seed, n_jobs)


def by_folds(model: Any, X: Any, y: Any, cv: Any, seed: int, n_jobs: int | None) -> Evidence:
    """Fit clones without each fold, and ask them about it; the seed shuffles a number of folds."""
    data, together, shuffled = LabelledRows(X, y, None), row_groups(X), isinstance(cv, Integral)
    folds = folds_of(
        folds_for(cv, y, together), model, data, together, None, seed if shuffled else None
    )
    answers = over_folds(model, data, folds, answers_of, n_jobs)
    rows = np.concatenate([test for _, test in folds])
    notes = together.notes if shuffled else ()
    evaluation = on_folds(answers, *fold_sizes(folds), CONFIDENCE, together.of(rows), notes)
    kind = type(cv).__name__
    if shuffled:
        kind = "StratifiedKFold" if together.codes is None else "stratified folds of whole groups"
    by = f"{kind}, {len(folds)} splits"
    return Evidence(
        evaluation, rows, pool_answers(answers), how_split(rows, len(y), len(folds)), by
    )


def how_split(rows: Indices, n_rows: int, n_splits: int) -> str:
    """Return a text that says how rows came to be judged by models that had not seen them."""
    judged = np.unique(rows)
    if len(judged) == len(rows) == n_rows:
        return (
            "Each row was predicted by a model that was fitted without it: cross-validation with "
            f"{n_splits} folds."
        )
    often = ", some of them several times" if len(judged) < len(rows) else ""
    return (
        f"{len(judged):,} of {n_rows:,} rows were predicted by models that were fitted without "
        f"them{often}: {n_splits} splits, and {len(rows):,} predictions in all."
    )


def by_given_rows(model: Any, X: Any, y: Any, seed: Any) -> Evidence:
    """Ask the model itself about rows that it has not seen, or so it is said."""
    answers = answers_of(model, LabelledRows(X, y, None))
    how = (
        "The model itself predicted all rows of this page. If it was fitted to them, these "
        "measures are too good."
    )
    n_resamples = int(np.clip(DRAWN // len(y), FEWEST_RESAMPLES, MOST_RESAMPLES))
    evaluation = on_test_set(answers, CONFIDENCE, n_resamples, seed, row_groups(X).codes)
    rows = np.arange(len(y))
    return Evidence(evaluation, rows, answers, how, "the model itself", left_out=False)


def folds_for(cv: Any, y: NDArray[Any], together: RowGroups) -> Any:
    """Return as many folds as the smallest class has rows, if those are fewer than wanted."""
    if not isinstance(cv, Integral):
        return cv
    labels, counts = together.count_by_class(y)
    if counts.min() < 2:
        copies = "" if together.codes is None else " and copies of it"
        raise ValueError(
            f"The class {labels[counts.argmin()].item()!r} has one row{copies}, and without it "
            "there is none to learn from; leave that class out, or give cv=None and rows that the "
            "model has not seen."
        )
    return min(int(cv), int(counts.min()))


def pool_answers(folds: Sequence[Answers]) -> Answers:
    """Return the answers of all folds; scores and probabilities if all have them."""

    def together(name: str) -> Any:
        parts = [getattr(fold, name) for fold in folds]
        return None if any(part is None for part in parts) else np.concatenate(parts)

    y_true, y_pred = together("y_true"), together("y_pred")
    scores, probabilities = together("scores"), together("probabilities")
    return Answers(y_true, y_pred, folds[0].classes, scores, probabilities)
