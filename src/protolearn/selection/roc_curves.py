"""Receiver operating characteristics by the threshold between two classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import auc, precision_recall_curve, roc_curve
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, Indices
from .._validation import integer_in
from ..analysis import LabelledRows, by_class, class_leads, class_scores
from ..folds import row_groups
from .held_out import Answers, check_answers, fold_sizes, folds_of, labelled_rows, over_folds
from .intervals import Interval, effective_rows, noise_of_folds, share_interval


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve:
    """False and true positive rates for every threshold.

    A row is assigned to the positive class if its score is above the threshold Theta. The score of
    a nearest-prototype classifier is ``d(w*(-1), x) - d(w*(+1), x)``, so that the rule is
    ``d(w*(+1), x) < d(w*(-1), x) - Theta``, in the units of its distance.

    Attributes
    ----------
    thresholds : array of shape (n_points,)
        Falling: every score that occurs, and minus infinity at last. The rates are those of this
        threshold, and of all up to the one before.
    fpr, tpr : arrays of shape (n_points,)
        Share of the negative and of the positive rows above the threshold, from 0 to 1.
    auc : float
        Area under the curve: the probability that a positive row scores above a negative one.
    positive : object
        The positive class.
    """

    thresholds: Floats
    fpr: Floats
    tpr: Floats
    auc: float
    positive: Any

    @property
    def working_point(self) -> tuple[float, float]:
        """Both rates at Theta = 0, where the model itself decides."""
        fpr, tpr = self.at(0.0)
        return float(fpr), float(tpr)

    def at(self, threshold: Any) -> tuple[Any, Any]:
        """Return both rates at some thresholds.

        Parameters
        ----------
        threshold : float or array
            Values of Theta.

        Returns
        -------
        fpr, tpr : arrays of the shape of ``threshold``
        """
        rising = self.thresholds[-2::-1]  # the different scores
        above = len(rising) - np.searchsorted(rising, threshold, side="right")
        return self.fpr[above], self.tpr[above]

    def __repr__(self) -> str:
        return f"<RocCurve: AUC {self.auc:.4f}, positive class {self.positive!s}>"

    def __str__(self) -> str:
        fpr, tpr = self.working_point
        return (
            f"AUC {self.auc:.4f}; at Theta = 0 a false positive rate of {fpr:.3f} and a true "
            f"positive rate of {tpr:.3f} (positive class: {self.positive!s})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class AveragedRoc:
    """Curves of several folds, averaged at equal thresholds, and at equal false positive rates.

    Averages at equal thresholds show what a threshold does. They lie below the curves of the folds
    where scores of the folds have different sizes; :attr:`mean_curve` does not.

    Attributes
    ----------
    thresholds : array of shape (n_thresholds,)
        Falling, minus infinity at last.
    fpr, tpr : arrays of shape (n_thresholds,)
        Means over the folds of the rates at each threshold.
    fpr_std, tpr_std : arrays of shape (n_thresholds,)
        Standard deviations over the folds.
    curves : tuple of RocCurve
        The curve of each fold.
    n_train, n_test : arrays of shape (n_folds,)
        Rows that each fold was trained and tested on.
    n_effective : float
        Number of rows whose share of right ones would have the standard error of the mean area.
    """

    thresholds: Floats
    fpr: Floats
    tpr: Floats
    fpr_std: Floats
    tpr_std: Floats
    curves: tuple[RocCurve, ...]
    n_train: Indices
    n_test: Indices
    n_effective: float

    @property
    def positive(self) -> Any:
        """The positive class."""
        return self.curves[0].positive

    @property
    def aucs(self) -> Floats:
        """Area under the curve of each fold."""
        return np.array([curve.auc for curve in self.curves])

    @property
    def auc(self) -> float:
        """Mean of the areas of the folds."""
        return float(self.aucs.mean())

    @property
    def working_point(self) -> tuple[float, float]:
        """Means of both rates at Theta = 0, where the models themselves decide."""
        fpr, tpr = np.mean([curve.working_point for curve in self.curves], axis=0)
        return float(fpr), float(tpr)

    @property
    def mean_curve(self) -> tuple[Floats, Floats, Floats]:
        """Mean true positive rate at each false positive rate; the area below it is ``auc``.

        Three arrays: rising false positive rates, the mean, and the standard deviation over the
        folds. Where curves rise, a false positive rate stands there twice.
        """
        fpr = np.unique(np.concatenate([curve.fpr for curve in self.curves]))
        # Below and above the step at each rate; np.interp knows one of them only.
        steps = np.stack([ends_of_steps(curve, fpr) for curve in self.curves])
        both = steps.reshape(len(self.curves), -1)
        spread = both.std(axis=0, ddof=1) if len(both) > 1 else np.zeros(both.shape[1])
        return np.repeat(fpr, 2), both.mean(axis=0), spread

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the interval of the mean area, over the tested rows of all folds.

        It covers sampling of rows, and does not cover refitting the model; see :func:`evaluate`.

        Parameters
        ----------
        confidence : float, default=0.95
            Between zero and one.

        Returns
        -------
        interval : Interval
            A named tuple ``(low, high)`` between 0 and 1.
        """
        n_rows = self.n_effective
        return share_interval(self.auc * n_rows, n_rows, confidence).around(self.auc)

    def __repr__(self) -> str:
        return f"<AveragedRoc: {len(self.curves)} folds, mean AUC {self.auc:.4f}>"

    def __str__(self) -> str:
        low, high = self.interval()
        fpr, tpr = self.working_point
        return (
            f"Mean AUC of {len(self.curves)} folds {self.auc:.4f}, 95 % interval {low:.4f} to "
            f"{high:.4f}; at Theta = 0 a false positive rate of {fpr:.3f} and a true positive rate "
            f"of {tpr:.3f} (positive class: {self.positive!s})"
        )


def roc(model: Any, X: Any, y: Any, *, positive: Any = None) -> RocCurve:
    """Return the false and true positive rates of a classifier for every threshold.

    Parameters
    ----------
    model : classifier
        A fitted one. Scores come from ``decision_function``, which is the difference of two
        distances if the model is a nearest-prototype one; otherwise from ``predict_proba``.
    X : array-like of shape (n_samples, n_features)
        The rows, best such that the model has not seen.
    y : array-like of shape (n_samples,)
        Their labels.
    positive : label, default=None
        The positive class. None: the second of two. With more classes it must be given, and the
        others together are the negative ones; the score is then how far that of the positive class
        is above the best of the others.

    Returns
    -------
    curve : RocCurve
        Print it for a sentence.

    References
    ----------
    Biehl (lecture notes), section 6.3.1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import GLVQ
    >>> from protolearn.selection import roc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = roc(GLVQ(random_state=0).fit(X[:300], y[:300]), X[300:], y[300:])
    >>> curve.auc > 0.9
    True
    """
    y = check_answers(model, y)
    return curve_of(y, class_scores(model, X), model.classes_, positive)


def roc_over_folds(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    positive: Any = None,
    n_thresholds: int = 300,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> AveragedRoc:
    """Average the curves of the folds of a cross-validation at equal thresholds.

    Parameters
    ----------
    model : classifier
        Clones of it are fitted.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    cv : int, splitter or iterable, default=10
        The folds; an integer is a number of shuffled stratified ones. Every test set needs rows of
        both classes.
    positive : label, default=None
        The positive class, see :func:`roc`.
    n_thresholds : int, default=300
        Most thresholds at which the curves are averaged: all scores that occur if they are not
        more, otherwise quantiles of them.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay in one fold, as equal rows do; see :func:`evaluate`.
    n_jobs : int, default=None
        Folds fitted at the same time; None is one, -1 all cores.
    random_state : int, RandomState instance, default=None
        Shuffles the folds of an integer ``cv``.

    Returns
    -------
    averaged : AveragedRoc
        Print it for a sentence.

    Notes
    -----
    Averages at equal thresholds suppose that scores have the same size in every fold. Where they
    do not, the averaged curve lies below those of the folds; the mean area does not suffer.

    References
    ----------
    Fawcett (2006), *An introduction to ROC analysis*, Pattern Recognition Letters 27(8).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import GLVQ
    >>> from protolearn.selection import roc_over_folds
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> averaged = roc_over_folds(GLVQ(random_state=0), X, y, cv=5, random_state=0)
    >>> averaged.auc > 0.9
    True
    """
    n_thresholds = integer_in(n_thresholds, "n_thresholds={value!r}", 2)
    data, groups = labelled_rows(X, y), None if groups is None else column_or_1d(groups)
    together = row_groups(data.X, groups)
    folds = folds_of(cv, model, data, together, groups, random_state)
    positive = np.unique(data.y)[column_of(np.unique(data.y), positive)]
    ask = partial(leads_on, positive=positive)
    answers = over_folds(model, data, folds, ask, n_jobs, groups)
    rows = together.of(np.concatenate([test for _, test in folds]))
    given = *fold_sizes(folds), n_thresholds, rows, noise_of_folds(answers)
    found = averaged_at_thresholds(answers, *given)
    return replace(found, curves=tuple(replace(one, positive=positive) for one in found.curves))


def leads_on(model: Any, rows: LabelledRows, positive: Any) -> Answers:
    """Return the answers of a fitted model about the positive class and all others together."""
    y, column = check_answers(model, rows.y), column_of(model.classes_, positive)
    lead, classes = class_leads(model, rows.X)[:, column], np.array([False, True])
    return Answers(y == model.classes_[column], lead > 0.0, classes, by_class(lead), None)


def averaged_at_thresholds(
    folds: list[Answers],
    n_train: Indices,
    n_test: Indices,
    n_thresholds: int,
    rows: Indices,
    noise: float,
) -> AveragedRoc:
    """Average the curves of two classes, which are steps, at thresholds that are common to all.

    ``rows`` has the number of each tested row, or of its group. ``noise`` is that of the folds.
    """
    curves = [curve_of(one.y_true, as_scores(one), one.classes, one.classes[1]) for one in folds]
    scores = np.unique(np.concatenate([curve.thresholds[:-1] for curve in curves]))
    if len(scores) > n_thresholds:
        shares = np.linspace(0.0, 1.0, n_thresholds)
        scores = np.quantile(scores, shares, method="inverted_cdf")
    thresholds = np.append(scores[::-1], -np.inf)
    fpr, tpr = np.stack([curve.at(thresholds) for curve in curves], axis=1)
    return AveragedRoc(
        thresholds,
        fpr.mean(axis=0),
        tpr.mean(axis=0),
        fpr.std(axis=0, ddof=1),
        tpr.std(axis=0, ddof=1),
        tuple(curves),
        n_train,
        n_test,
        effective_rows("auc", folds, rows) / (1.0 + noise),
    )


def ends_of_steps(curve: RocCurve, fpr: Floats) -> Floats:
    """Return the least and the largest true positive rate at each false positive rate."""
    first = np.searchsorted(curve.fpr, fpr, side="left")
    last = np.searchsorted(curve.fpr, fpr, side="right") - 1
    between = np.interp(fpr, curve.fpr, curve.tpr)
    here = curve.fpr[np.minimum(first, len(curve.fpr) - 1)] == fpr
    low = np.where(here, curve.tpr[np.minimum(first, len(curve.tpr) - 1)], between)
    return np.stack([low, np.where(here, curve.tpr[last], between)], axis=1)


def precision_steps(positive: Any, scores: Floats) -> tuple[Floats, Floats]:
    """Return recall and precision as a line of steps; the area below it is the average precision.

    It begins at a recall of zero and ends at one.
    """
    precision, recall, _ = precision_recall_curve(positive, scores)
    recall, precision = recall[::-1], precision[::-1]
    rising = np.flatnonzero(np.diff(recall) > 0.0)
    across = np.stack([recall[rising], recall[rising + 1]], axis=1).ravel()
    return across, np.repeat(precision[rising + 1], 2)


def as_scores(answers: Answers) -> Floats:
    """Return one score a class: scores, or probabilities if there are none."""
    found = answers.probabilities if answers.scores is None else answers.scores
    assert found is not None
    return found


def curve_of(y: Any, scores: Floats, classes: Any, positive: Any) -> RocCurve:
    """Return the curve of one class against the others, from one score a class."""
    column = column_of(classes, positive)
    own, others = scores[:, column], np.delete(scores, column, axis=1)
    is_positive = y == classes[column]
    if is_positive.all() or not is_positive.any():
        rows = "positive" if is_positive.all() else "negative"
        raise ValueError(
            f"All {len(y)} rows are {rows} ones (positive class: {classes[column]!s}); both rates "
            "need rows of both kinds."
        )
    fpr, tpr, scores_above = roc_curve(
        is_positive, own - others.max(axis=1), drop_intermediate=False
    )
    # scikit-learn counts scores of at least a threshold, and the rule here those above it.
    thresholds = np.append(scores_above[1:], -np.inf)
    return RocCurve(thresholds, fpr, tpr, float(auc(fpr, tpr)), classes[column])


def column_of(classes: Any, positive: Any) -> int:
    """Return the place of the positive class among all."""
    known = classes.tolist()
    if positive is None:
        if len(known) != 2:
            raise ValueError(
                f"There are {len(known)} classes; give positive=, the one that is compared with "
                f"the others, out of {known!r}."
            )
        return 1
    if positive not in known:
        raise ValueError(f"positive={positive!r} must be one of the classes {known!r}.")
    return known.index(positive)
