"""All usual measures of a classifier at once, with intervals."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, Indices
from .._validation import integer_in
from ..analysis import by_class
from ..folds import row_groups
from .confusion import confusion_percent
from .evaluation_table import Estimate, Evaluation
from .held_out import Answers, answers_of, fold_sizes, folds_of, labelled_rows, over_folds
from .intervals import check_confidence, measure_interval, noise_of_folds, share_interval
from .metrics import MEASURES, ONE_CLASS, Measured, average_precision, measure, rankings
from .roc_curves import as_scores, averaged_at_thresholds, curve_of

MOST_THRESHOLDS = 300

OF_ROWS = "The intervals cover sampling of rows; they do not cover refitting the model."
OF_CHOICE = "The intervals cover sampling of rows and, in part, choosing and refitting the model."


OUTER_FOLDS = 5
"""Folds in which a nested evaluation repeats what a model does."""


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    nested: bool = False,
    groups: Any = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Evaluation:
    """Measure a classifier in all usual ways, with intervals.

    Parameters
    ----------
    model : classifier
        A fitted one, to be tested on rows that it has not seen; with ``cv`` clones of it are
        fitted.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    cv : int, splitter or iterable, default=None
        None: all rows test the model. Otherwise the folds of a cross-validation; an integer is a
        number of shuffled stratified ones, which keep equal rows in one fold. Your own splitter
        decides by itself where equal rows go.
    nested : bool, default=False
        Whether to repeat everything that the model does in each fold of ``cv`` (five if that is
        None): of a search such as AutoPrototypeClassifier the whole choice, which knows nothing of
        the rows that test it.
    groups : array-like of shape (n_samples,), default=None
        Rows that depend on each other, such as those of one patient, have the same label here.
        They stay in one fold of an integer ``cv``, and are given to the ``split`` of your own
        splitter. Groups that have a row in common, up to rounding, count as one group. The
        intervals take groups and equal rows into account.
    confidence : float, default=0.95
        Of the intervals, between zero and one.
    n_resamples : int, default=1000
        How often the tested rows are drawn again for the interval of the log loss.
    n_jobs : int, default=None
        Folds fitted at the same time; None is one, -1 all cores. Only with ``cv``.
    random_state : int, RandomState instance, default=None
        Shuffles the folds of an integer ``cv``, and draws the resamples.

    Returns
    -------
    evaluation : Evaluation
        Print it for a table.

    Notes
    -----
    Over folds, values are means over the folds, and the average precision is that of all rows
    together, since means over small folds are too large. Intervals are for new rows: they cover
    sampling of rows, and do not cover refitting the model. The interval of the accuracy is Clopper
    and Pearson's. For the other measures but the log loss a standard error is computed with half a
    right and half a wrong row more in each class; it is that of a share of some number of rows, and
    the interval is Clopper and Pearson's for so many rows. So no interval collapses where all
    predictions are right. The standard error of the AUC is DeLong's, or that of Hanley and McNeil
    if it is larger. That of the average precision is likewise the larger one of two. The interval
    of the balanced accuracy also holds the sum of those of the classes (Zou and Donner, 2008). The
    interval of the log loss comes from the bootstrap of the t statistic over rows.

    Rows are equal if their numbers agree in about 12 digits, and everything else exactly; labels
    play no part.

    The area under the curve is computed from ``decision_function`` for two classes, and from
    ``predict_proba`` for more, as scikit-learn's ``roc_auc_ovr`` does; from the other one if the
    model has only that. Averages over classes are over those that have tested rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import GLVQ
    >>> from protolearn.selection import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X[:300], y[:300])
    >>> print(evaluate(model, X[300:], y[300:], random_state=0))
    269 tested rows, 95 % intervals
                         value     low    high
    accuracy            ...
    balanced accuracy   ...
    macro F             ...
    MCC                 ...
    AUC                 ...
    average precision   ...
    log loss            ...
    class             precision    recall av. prec.      lift
    0                 ...
    1                 ...
    """
    confidence, data = check_confidence(confidence), labelled_rows(X, y)
    n_resamples = integer_in(n_resamples, "n_resamples={value!r}", 10)
    groups = None if groups is None else column_or_1d(groups)
    together = row_groups(data.X, groups)
    cv = OUTER_FOLDS if nested and cv is None else cv
    if cv is None:
        said = answers_of(model, data)
        return on_test_set(said, confidence, n_resamples, random_state, together.codes)
    folds = folds_of(cv, model, data, together, groups, random_state)
    answers = over_folds(model, data, folds, answers_of, n_jobs, groups)
    tested = together.of(np.concatenate([test for _, test in folds]))
    notes = together.notes if isinstance(cv, numbers.Integral) else ()
    return on_folds(answers, *fold_sizes(folds), confidence, tested, notes, n_resamples)


def evaluate_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    scores: Any = None,
    probabilities: Any = None,
    classes: Any = None,
    groups: Any = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = None,
) -> Evaluation:
    """Measure predictions in all usual ways, with intervals.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    scores : array-like of shape (n_samples, n_classes), default=None
        What ``decision_function`` gives; for two classes one number a row, larger for the second.
    probabilities : array-like of shape (n_samples, n_classes), default=None
        What ``predict_proba`` gives; rows sum to one.
    classes : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; None: all labels that occur, sorted.
    groups : array-like of shape (n_samples,), default=None
        Rows that depend on each other, such as copies, have the same label here.
    confidence : float, default=0.95
        Of the intervals, between zero and one.
    n_resamples : int, default=1000
        How often the rows are drawn again for the interval of the log loss.
    random_state : int, RandomState instance, default=None
        Draws the resamples.

    Returns
    -------
    evaluation : Evaluation
        Print it for a table; see :func:`evaluate`.

    Examples
    --------
    >>> from protolearn.selection import evaluate_predictions
    >>> result = evaluate_predictions([0, 0, 1, 1], [0, 1, 1, 1], scores=[-2.0, 0.5, 0.3, 1.0])
    >>> result.accuracy.value, result.auc.value, result.log_loss.reason
    (0.75, 0.75, 'no probabilities')
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred, scores, probabilities, groups)
    if not len(y_true):
        raise ValueError("y_true has no rows: there is nothing to measure.")
    answers = check_predictions(y_true, y_pred, scores, probabilities, classes)
    groups = None if groups is None else column_or_1d(groups)
    return on_test_set(answers, check_confidence(confidence), n_resamples, random_state, groups)


def on_test_set(
    answers: Answers,
    confidence: float,
    n_resamples: int,
    random_state: Any,
    groups: Indices | None = None,
) -> Evaluation:
    """Measure answers of one model, with intervals over the rows."""
    n_resamples = integer_in(n_resamples, "n_resamples={value!r}", 10)
    return Evaluation(
        **estimates([answers], groups, confidence, n_resamples, check_random_state(random_state)),
        confusion=confusion_of([answers]),
        roc=curve_if_any(answers),
        confidence=confidence,
        n_samples=len(answers.y_true),
        notes=tuple(notes_on(answers)),
        **by_label([answers], groups, confidence),
    )


def on_folds(
    folds: list[Answers],
    n_train: Any,
    n_test: Any,
    confidence: float,
    rows: Indices,
    notes: tuple[str, ...] = (),
    n_resamples: int = 1000,
    chosen: bool = False,
) -> Evaluation:
    """Measure the answers of each fold, with intervals over the rows of all of them.

    ``rows`` has the number of each tested row, or of its group: a row that is tested several times
    is no more than one row. ``chosen`` is that of :func:`noise_of_folds`.
    """
    groups = rows if len(np.unique(rows)) < len(rows) else None
    curve, noise = None, noise_of_folds(folds, chosen)
    if all(has_curve(one) for one in folds):
        curve = averaged_at_thresholds(folds, n_train, n_test, MOST_THRESHOLDS, rows, noise)
    return Evaluation(
        **estimates(folds, groups, confidence, n_resamples, check_random_state(0), noise),
        confusion=confusion_of(folds),
        roc=curve if len(folds) > 1 else curve_if_any(folds[0]),
        confidence=confidence,
        n_samples=int(np.sum(n_test)),
        n_folds=len(folds),
        notes=(*notes, OF_CHOICE if chosen else OF_ROWS),
        **by_label(folds, groups, confidence, noise),
    )


def estimates(
    folds: list[Answers],
    groups: Indices | None,
    confidence: float,
    n_resamples: int,
    rng: Any,
    noise: float = 0.0,
) -> dict[str, Any]:
    """Return each measure, mean over the folds, with its interval; none if a fold has none."""
    by_fold = [measure(answers) for answers in folds]
    table, together = {}, [taken_together(folds)]
    for name in MEASURES:
        value, reason = mean_over([one[name] for one in by_fold])
        parts = folds
        if name == "average_precision":
            (value, reason), parts = average_precision(together[0]), together
        ends: tuple[float, float] = (np.nan, np.nan)
        if not reason:
            ends = measure_interval(name, value, parts, groups, confidence, n_resamples, rng, noise)
        table[name] = Estimate(value, *ends, reason)
    return table


def by_label(
    folds: list[Answers], groups: Indices | None, confidence: float, noise: float = 0.0
) -> dict[str, Any]:
    """Return recall, precision, average precision and lift of each class that has rows."""
    true, assigned = (np.concatenate([fold[i] for fold in folds]) for i in (0, 1))
    recalls, precisions, averages, lifts = {}, {}, {}, {}
    together = taken_together(folds)
    for label in np.unique(true):
        name = label.item() if hasattr(label, "item") else label
        right = (true == label) & (assigned == label)
        recalls[name] = share_of(right, true == label, groups, confidence, noise)
        precisions[name] = share_of(right, assigned == label, groups, confidence, noise)
        averages[name] = average_precision_of(together, label, groups, confidence, noise)
        lifts[name] = precisions[name].value / float(np.mean(true == label))
    return {
        "recalls": recalls,
        "precisions": precisions,
        "average_precisions": averages,
        "lifts": lifts,
    }


def share_of(
    right: Any, rows: Any, groups: Indices | None, confidence: float, noise: float = 0.0
) -> Estimate:
    """Return the share of right ones among some rows, with its interval."""
    if not rows.any():
        return Estimate(np.nan, np.nan, np.nan, "never predicted")
    classes, own = np.array([False, True]), right[rows]
    answers = Answers(np.ones(len(own), dtype=bool), own, classes, None, None)
    together = None if groups is None else groups[rows]
    share = float(own.mean())
    ends = measure_interval("accuracy", share, [answers], together, confidence, noise=noise)
    return Estimate(share, *ends)


def average_precision_of(
    answers: Answers, label: Any, groups: Indices | None, confidence: float, noise: float
) -> Estimate:
    """Return the average precision of a class against the rest."""
    ranked = rankings(answers, by_class=True)
    if ranked is None:
        return Estimate(np.nan, np.nan, np.nan, "neither scores nor probabilities")
    positive, scores = ranked[int(np.searchsorted(answers.classes, label))]
    value = float(average_precision_score(positive, scores))
    # Copies count once.
    n_positive = int(positive.sum()) if groups is None else len(np.unique(groups[positive]))
    n_effective = n_positive / (1.0 + noise)
    ends = share_interval(value * n_effective, n_effective, confidence).around(value)
    return Estimate(value, *ends)


def taken_together(folds: list[Answers]) -> Answers:
    """Return the answers of all folds; of several by probabilities, if there are any.

    Means of the average precision over small folds are too large, more so the less is learned.
    Probabilities mean the same in all folds, and scores need not.
    """
    if len(folds) == 1:
        return folds[0]
    true, assigned = (np.concatenate([one[i] for one in folds]) for i in (0, 1))
    known: list[Floats | None] = []
    for part in ([one.probabilities for one in folds], [one.scores for one in folds]):
        there = [one for one in part if one is not None]
        known.append(np.concatenate(there) if len(there) == len(folds) else None)
    probabilities, scores = known
    return Answers(
        true, assigned, folds[0].classes, scores if probabilities is None else None, probabilities
    )


def mean_over(found: list[Measured]) -> Measured:
    """Return the mean of a measure over the folds, or why there is none."""
    reasons = [one.reason for one in found if one.reason]
    if not reasons:
        return Measured(float(np.mean([one.value for one in found])))
    if len(found) > 1 and reasons[0] == ONE_CLASS:
        return Measured(np.nan, f"{len(reasons)} of {len(found)} test folds have one class")
    return Measured(np.nan, reasons[0])


def confusion_of(folds: list[Answers]) -> Any:
    """Count which class is taken for which in all folds together."""
    true, assigned = (np.concatenate([f[i] for f in folds]) for i in (0, 1))
    labels = unique_labels(folds[0].classes, true, assigned)
    return confusion_percent(true, assigned, labels=labels)


def has_curve(answers: Answers) -> bool:
    """Whether there are scores of two classes, both of which have rows."""
    scores = answers.probabilities if answers.scores is None else answers.scores
    two = len(answers.classes) == 2
    return scores is not None and two and len(np.unique(answers.y_true)) == 2


def curve_if_any(answers: Answers) -> Any:
    """Return the ROC curve of two classes with scores, both of which have rows."""
    if not has_curve(answers):
        return None
    return curve_of(answers.y_true, as_scores(answers), answers.classes, None)


def notes_on(answers: Answers) -> list[str]:
    """Return sentences that say what a reader of the table should know."""
    absent = np.setdiff1d(answers.classes, answers.y_true).tolist()
    if not absent:
        return []
    return [f"No tested row is of {absent!r}; averages are over the other classes."]


def check_predictions(
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
        wrong = (probabilities < 0.0).any(axis=1)
        wrong |= np.abs(probabilities.sum(axis=1) - 1.0) > 1e-6
        if wrong.any():
            first = wrong.argmax()
            raise ValueError(
                f"probabilities are negative or do not sum to one in {wrong.sum()} rows, first in "
                f"row {first}: {probabilities[first].tolist()!r}. Give other numbers as scores=."
            )
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
