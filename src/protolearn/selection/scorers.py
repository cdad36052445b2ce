"""Scores for the question that is asked: costs of errors, and measures of one class.

A threshold for a score of labels is found on held-out scores of classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from .._arrays import Floats, Indices
from .._validation import number_in
from ..analysis import by_class, class_scores

LabelScore = Callable[[Any, Any], float]
"""Of true and predicted labels; larger is better."""

RANKED = "auc", "average_precision"
POSITIVE = "f1", *RANKED
"""Measures of one class against the others."""

LABEL_SCORES: dict[str, LabelScore] = {
    "balanced_accuracy": partial(metrics.recall_score, average="macro", zero_division=0.0),
    "f1_macro": partial(metrics.f1_score, average="macro", zero_division=0.0),
    "matthews_corrcoef": metrics.matthews_corrcoef,
}
"""Scores of scikit-learn to which rare classes count more than by their rows."""

STEPS = np.linspace(-0.5, 1.5, 81)
"""Parts of the way from the most probable class to classes that count alike, or by their costs."""

SMOOTHED = 5
"""Steps over which the score is averaged: its peaks on few rows are luck."""

FEWEST_ROWS = 30
"""Held-out rows from which on a threshold is chosen."""


@dataclass(frozen=True)
class CostScorer:
    """Minus the mean cost of predictions, as a scorer for ``scoring=``.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes), or dict of (true, predicted) to number
        What each prediction costs: rows are true classes, columns predicted ones, both sorted. In a
        dict errors that are not named cost 1, and right predictions nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import AutoPrototypeClassifier
    >>> from protolearn.selection import CostScorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> missed = CostScorer({(0, 1): 20.0})  # a malignant case, 0, that is taken for a benign one
    >>> missed.score([0, 0, 1, 1], [0, 1, 1, 0])
    -5.25
    >>> model = AutoPrototypeClassifier(scoring=missed, max_fits=40, random_state=0).fit(X, y)
    >>> bool(model.best_score_ > -0.4)
    True
    """

    costs: Any
    pairs: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        """Keep a dict as rows of true label, predicted label and cost, which files can hold."""
        if isinstance(self.costs, Mapping):
            rows = [(*pair, cost) for pair, cost in self.costs.items()]
            object.__setattr__(self, "costs", rows)
            object.__setattr__(self, "pairs", True)

    def matrix(self, classes: Any) -> Floats:
        """Return the cost of each prediction, checked.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            The sorted labels.

        Returns
        -------
        costs : array of shape (n_classes, n_classes)
            Rows are true classes.
        """
        labels = np.asarray(classes).tolist()
        if not self.pairs:
            found = np.array(self.costs, dtype=np.float64)
            if found.shape != (len(labels), len(labels)) or not np.isfinite(found).all():
                raise ValueError(
                    f"costs={self.costs!r} must be finite numbers with a row and a column for each "
                    f"of the {len(labels)} classes {labels!r}."
                )
            return found
        found = 1.0 - np.eye(len(labels))
        for *pair, cost in self.costs:
            places = [labels.index(one) if one in labels else -1 for one in pair]
            if len(places) != 2 or min(places) < 0:
                raise ValueError(
                    f"costs names {tuple(pair)!r}, expected a true and a predicted label out of "
                    f"{labels!r}."
                )
            found[tuple(places)] = number_in(cost, f"the cost {{value!r}} of {tuple(pair)!r}", 0.0)
        return found

    def score(self, y_true: Any, y_pred: Any, classes: Any = None) -> float:
        """Return minus the mean cost.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        classes : array-like of shape (n_classes,), default=None
            The sorted labels; None: those that occur.

        Returns
        -------
        score : float
            Larger is better.
        """
        return -float(np.mean(self.row_costs(y_true, y_pred, classes)))

    def row_costs(self, y_true: Any, y_pred: Any, classes: Any = None) -> Floats:
        """Return what each prediction costs.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        classes : array-like of shape (n_classes,), default=None
            The sorted labels; None: those that occur.

        Returns
        -------
        costs : array of shape (n_samples,)
            Costs of the rows.
        """
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        known = np.union1d(y_true, y_pred) if classes is None else np.asarray(classes)
        if classes is None and self.pairs:
            named = [label for *pair, _ in self.costs for label in pair]
            known = np.union1d(known, np.array(named, dtype=known.dtype))
        table = self.matrix(known)
        return table[np.searchsorted(known, y_true), np.searchsorted(known, y_pred)]

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """Return the score of a fitted classifier.

        Parameters
        ----------
        model : classifier
            A fitted one.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        score : float
            Minus the mean cost.
        """
        return self.score(y, model.predict(X), model.classes_)


@dataclass(frozen=True)
class PositiveScorer:
    """A measure of one class against all others, as a scorer for ``scoring=``.

    Parameters
    ----------
    metric : {"f1", "auc", "average_precision"}
        What is measured.
    positive : object, default=None
        The label of the class; None: the mean over all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from protolearn import GLVQ
    >>> from protolearn.selection import PositiveScorer
    >>> X, y = load_wine(return_X_y=True)
    >>> score = PositiveScorer("average_precision", positive=2)
    >>> bool(0.3 < score(GLVQ(random_state=0).fit(X, y), X, y) <= 1.0)
    True
    """

    metric: str
    positive: Any = None

    def score(self, y_true: Any, y_pred: Any) -> float:
        """Return the F1 of predicted labels.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.

        Returns
        -------
        score : float
            Larger is better.
        """
        if self.positive is None:
            return LABEL_SCORES["f1_macro"](y_true, y_pred)
        own = (np.asarray(labels) == self.positive for labels in (y_true, y_pred))
        return float(metrics.f1_score(*own, zero_division=0.0))

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """Return the measure of a fitted classifier.

        Parameters
        ----------
        model : classifier
            A fitted one.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        score : float
            The measure.
        """
        if self.metric not in POSITIVE:
            raise ValueError(f"metric={self.metric!r} must be one of {', '.join(POSITIVE)}.")
        classes = np.asarray(model.classes_)
        if self.positive is not None and self.positive not in classes.tolist():
            raise ValueError(
                f"positive={self.positive!r} is none of the classes {classes.tolist()!r}."
            )
        if self.metric not in RANKED:
            return self.score(y, model.predict(X))
        scores, y = class_scores(model, X), np.asarray(y)
        measure = {"auc": metrics.roc_auc_score}.get(self.metric, metrics.average_precision_score)
        wanted = classes if self.positive is None else np.array([self.positive])
        found = [
            measure(y == label, scores[:, np.flatnonzero(classes == label)[0]])
            for label in wanted
            if 0 < (y == label).sum() < len(y)
        ]
        return float(np.mean(found)) if found else np.nan


def label_score_of(scoring: Any, classes: NDArray[Any]) -> LabelScore | None:
    """Return the score of labels for which a threshold is chosen; None: there is none."""
    if isinstance(scoring, CostScorer):
        return partial(scoring.score, classes=classes)
    if isinstance(scoring, PositiveScorer):
        return None if scoring.metric in RANKED else scoring.score
    return LABEL_SCORES.get(scoring) if isinstance(scoring, str) else None


def class_weights_for(scoring: Any, classes: NDArray[Any]) -> Any:
    """Return the class weights that are tried too: balanced, or what it costs to miss a class."""
    if not isinstance(scoring, CostScorer):
        return "balanced"
    weights = missing_costs(scoring.matrix(classes))
    few_digits = [float(f"{one:.3g}") for one in weights]
    return dict(zip(classes.tolist(), few_digits, strict=True))


def missing_costs(costs: Floats) -> Floats:
    """Return what it costs on average to miss each class, beyond being right; mean one."""
    n_classes = len(costs)
    extra = (costs - np.diag(costs)[:, None]).sum(axis=1) / max(n_classes - 1, 1)
    extra = np.maximum(extra, 1e-3 * max(float(np.abs(extra).max()), 1e-300))
    return np.asarray(extra / extra.mean())


def raise_of_scores(
    scores: list[Floats],
    codes: list[Indices],
    classes: NDArray[Any],
    scoring: Any,
    probabilities: Callable[[list[Floats], list[Indices]], Any],
) -> Floats | None:
    """Return what is added to the score of each class before the largest one wins.

    Parameters
    ----------
    scores : list of arrays of shape (n_samples, n_classes)
        For each fold, the scores of a model that was fitted without it.
    codes : list of arrays of shape (n_samples,)
        The places of the true classes.
    classes : array of shape (n_classes,)
        The labels.
    scoring : object
        What is optimised.
    probabilities : callable
        Finds the ``factor`` and the ``offsets`` that make probabilities of such scores.

    Returns
    -------
    raised : array of shape (n_classes,) or None
        Of mean zero. None if the score is none of labels, or there are too few rows.

    Notes
    -----
    In units of log-probabilities it is a part of the way from the most probable class to classes
    weighted by one over their shares, or by what it costs to miss them. The part is the one with
    the best score on the held-out rows, averaged over its neighbours.
    """
    score = label_score_of(scoring, classes)
    values, own = by_class(np.concatenate(scores)), np.concatenate(codes)
    if score is None or len(own) < FEWEST_ROWS or len(np.unique(own)) < 2:
        return None
    found = probabilities(scores, codes)
    counts = np.bincount(own, minlength=len(classes))
    way = -np.log(np.maximum(counts, 1.0))
    if isinstance(scoring, CostScorer):
        way = np.log(missing_costs(scoring.matrix(classes)))
    raised = (found.offsets + STEPS[:, None] * (way - way.mean())) / found.factor
    truth = classes[own]
    gains = np.array([score(truth, classes[(values + one).argmax(axis=1)]) for one in raised])
    width = np.ones(SMOOTHED)
    smooth = np.convolve(gains, width, "same") / np.convolve(np.ones_like(gains), width, "same")
    best = raised[np.flatnonzero(smooth >= smooth.max() - 1e-12)]
    middle = best[len(best) // 2]
    return np.asarray(middle - middle.mean())
