"""All usual measures of a classifier at once, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats
from .._validation import integer_in
from .confusion import confusion_percent
from .evaluation_table import Estimate, Evaluation
from .held_out import Answers, answers_of, by_class, labelled_rows, over_folds, splitter_of
from .intervals import (
    check_confidence,
    fold_interval,
    percentile_interval,
    share_interval,
)
from .metrics import MEASURES, ONE_CLASS, Measured, measure, resample_measures
from .roc_curves import averaged_at_thresholds, curve_of

MOST_THRESHOLDS = 300


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
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
        number of shuffled stratified ones.
    confidence : float, default=0.95
        Of the intervals, between zero and one.
    n_resamples : int, default=1000
        How often the tested rows are drawn again; not with ``cv``, which needs no resamples.
    n_jobs : int, default=None
        Folds fitted at the same time; None is one, -1 all cores. Only with ``cv``.
    random_state : int, RandomState instance, default=None
        Draws the resamples, or shuffles the folds of an integer ``cv``.

    Returns
    -------
    evaluation : Evaluation
        Print it for a table.

    Notes
    -----
    On a test set the interval of the accuracy is Wilson's, and the others hold the middle of the
    measures of the resamples (percentile bootstrap). They tell how far another test set would have
    moved the measures of this model. Over folds, values are means and intervals come from the
    corrected resampled t of Nadeau and Bengio, for a model fitted to as many rows as a fold has.

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
    log loss            ...
    """
    confidence, data = check_confidence(confidence), labelled_rows(X, y)
    n_resamples = integer_in(n_resamples, "n_resamples={value!r}", 10)
    if cv is None:
        return on_test_set(answers_of(model, data), confidence, n_resamples, random_state)
    splitter = splitter_of(cv, model, data.y, random_state)
    folds, n_train, n_test = over_folds(model, data, splitter, answers_of, n_jobs)
    return on_folds(folds, n_train, n_test, confidence)


def evaluate_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    scores: Any = None,
    probabilities: Any = None,
    classes: Any = None,
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
    confidence : float, default=0.95
        Of the intervals, between zero and one.
    n_resamples : int, default=1000
        How often the rows are drawn again.
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
    check_consistent_length(y_true, y_pred, scores, probabilities)
    if not len(y_true):
        raise ValueError("y_true has no rows: there is nothing to measure.")
    answers = check_predictions(y_true, y_pred, scores, probabilities, classes)
    return on_test_set(answers, check_confidence(confidence), n_resamples, random_state)


def on_test_set(
    answers: Answers, confidence: float, n_resamples: int, random_state: Any
) -> Evaluation:
    """Measure answers of one model, with intervals by resampling the rows."""
    n_resamples = integer_in(n_resamples, "n_resamples={value!r}", 10)
    rng = check_random_state(random_state)
    samples, n_lacking = resample_measures(answers, n_resamples, rng)
    n_samples, right = len(answers.y_true), answers.y_true == answers.y_pred
    ends = {"accuracy": share_interval(right.sum(), n_samples, confidence)}
    ends |= {name: percentile_interval(s, confidence) for name, s in samples.items()}
    table: dict[str, Any] = {
        name: Estimate(value, *((np.nan, np.nan) if reason else ends[name]), reason)
        for name, (value, reason) in measure(answers).items()
    }
    return Evaluation(
        **table,
        confusion=confusion_of([answers]),
        roc=curve_if_any(answers),
        confidence=confidence,
        n_samples=n_samples,
        notes=tuple(notes_on(answers, n_lacking, n_resamples)),
    )


def on_folds(folds: list[Answers], n_train: Any, n_test: Any, confidence: float) -> Evaluation:
    """Measure the answers of each fold; intervals by the corrected resampled t."""
    by_fold = [measure(answers) for answers in folds]
    table: dict[str, Any] = {
        name: over_all([one[name] for one in by_fold], (low, high), n_train, n_test, confidence)
        for name, (_, low, high) in MEASURES.items()
    }
    curves = [curve for curve in map(curve_if_any, folds) if curve is not None]
    complete = len(curves) == len(folds)
    notes = []
    value, low, high, _ = table["accuracy"]
    if low == high:
        right = sum(int((one.y_true == one.y_pred).sum()) for one in folds)
        ends = share_interval(right, int(np.sum(n_test)), confidence)
        table["accuracy"] = Estimate(value, *ends)
        notes.append(
            "All folds have the same accuracy; since their spread tells nothing, its interval is "
            "Wilson's, as if all rows had been tested by one model."
        )
    return Evaluation(
        **table,
        confusion=confusion_of(folds),
        roc=averaged_at_thresholds(curves, n_train, n_test, MOST_THRESHOLDS) if complete else None,
        confidence=confidence,
        n_samples=int(np.sum(n_test)),
        n_folds=len(folds),
        notes=tuple(notes),
    )


def over_all(
    found: list[Measured], ends: tuple[float, float], n_train: Any, n_test: Any, confidence: float
) -> Estimate:
    """Return the mean of a measure over the folds; none if a fold has none."""
    reasons = [one.reason for one in found if one.reason]
    if reasons:
        some = f"{len(reasons)} of {len(found)} test folds have one class"
        return Estimate(np.nan, np.nan, np.nan, some if reasons[0] == ONE_CLASS else reasons[0])
    scores = np.array([one.value for one in found])
    interval = fold_interval(scores, n_train, n_test, confidence).within(*ends)
    return Estimate(float(scores.mean()), *interval)


def confusion_of(folds: list[Answers]) -> Any:
    """Count which class is taken for which in all folds together."""
    true, assigned = (np.concatenate([f[i] for f in folds]) for i in (0, 1))
    labels = unique_labels(folds[0].classes, true, assigned)
    return confusion_percent(true, assigned, labels=labels)


def curve_if_any(answers: Answers) -> Any:
    """Return the ROC curve of two classes with scores, both of which have rows."""
    scores = answers.probabilities if answers.scores is None else answers.scores
    if scores is None or len(answers.classes) != 2 or len(np.unique(answers.y_true)) < 2:
        return None
    return curve_of(answers.y_true, scores, answers.classes, None)


def notes_on(answers: Answers, n_lacking: int, n_resamples: int) -> list[str]:
    """Return sentences that say what a reader of the table should know."""
    notes = []
    absent = np.setdiff1d(answers.classes, answers.y_true).tolist()
    if absent:
        notes.append(f"No tested row is of {absent!r}; averages are over the other classes.")
    if n_lacking:
        rest = (
            "have neither MCC nor AUC" if len(answers.classes) == 2 else "average over the others"
        )
        notes.append(f"{n_lacking} of {n_resamples} resamples lack a class; they {rest}.")
    if (answers.y_true == answers.y_pred).all():
        notes.append(
            "All predictions are right, and so they are in all resamples; only the interval of the "
            "accuracy tells how sure that is."
        )
    return notes


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
