"""What a careful reader would object to in a result: found by rules, told in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from .._names import count
from ..folds import RowGroups
from ..selection import Estimate, Evaluation, share_interval
from .learning_table import LearningTable, is_missing

KINDS = (
    *("baseline", "leak", "identifier", "duplicates", "never_predicted", "calibration"),
    *("structure", "family", "codes", "constant"),
)
"""Kinds of warnings, the most important first."""

LEAK = 0.995
"""Area under the ROC curve from which on a column alone decides."""

CODES = (-99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)
"""Numbers that often stand for a missing value."""

FAR = 2.0
"""Times the range of the other values that a code lies outside of them, at least."""

ZERO_STEPS, ZERO_SHARE = 5.0, 0.1
"""Usual steps between values, and part of their median, that lie between zero and the smallest
other value, if zero stands for a missing one."""

MOST_NAMED = 5
"""Classes that a warning names."""

GROUP_SIZES = 2.0, 50.0
"""Rows that share a value of a column, on average, if it may name groups such as patients."""

UNEVEN = 0.05
"""Difference of stated and observed accuracy that is worth a word, beyond chance."""


class ResultWarning(NamedTuple):
    """A reason to doubt a result: its kind, the column that it is about or None, a sentence."""

    kind: str
    column: str | None
    text: str


class Costs(NamedTuple):
    """What a prediction costs on average, and the class that costs least if always predicted."""

    own: Estimate
    label: str
    guess: float


def find_warnings(
    table: LearningTable,
    evaluation: Evaluation,
    majority: tuple[str, float],
    folds: Sequence[Any],
    delivered: str,
    together: RowGroups,
    is_split: bool,
    metric: str,
    costs: Costs | None = None,
) -> list[ResultWarning]:
    """Return all warnings, the most important first; ``is_split``: folds follow groups or time."""
    found = [
        *baseline_warnings(evaluation, majority, metric, costs),
        *column_warnings(table, is_split),
        *left_out_warnings(table),
        *duplicate_warnings(table, together),
        *prediction_warnings(evaluation, folds),
        *family_warnings(folds, delivered),
    ]
    return sorted(found, key=lambda one: KINDS.index(one.kind))


def baseline_warnings(
    evaluation: Evaluation, majority: tuple[str, float], metric: str, costs: Costs | None = None
) -> Iterator[ResultWarning]:
    """Return a warning if the model is not clearly better than always predicting one class."""
    if costs is not None:
        if costs.own.high >= costs.guess:
            text = (
                f"The model is not clearly better than always predicting {costs.label!r}, which "
                f"costs {costs.guess:.3g} on average; its predictions cost {costs.own.value:.3g}."
            )
            yield ResultWarning("baseline", None, text)
        return
    label, share = majority
    accuracy, balanced = evaluation.accuracy, evaluation.balanced_accuracy
    chance = 1.0 / max(len(evaluation.recalls), 1)
    is_worse = metric == "accuracy" and accuracy.value <= share
    if is_worse or (accuracy.low <= share and balanced.low <= chance + 0.05):
        text = (
            f"The model is not clearly better than always predicting {label!r}, which is correct "
            f"{share:.1%} of the time; it is correct {accuracy.value:.1%} of the time."
        )
        yield ResultWarning("baseline", None, text)


def column_warnings(table: LearningTable, is_split: bool) -> Iterator[ResultWarning]:
    """Return what looks odd in single columns."""
    for name in table.X.dtype.names or ():
        values = table.X[name]
        missing = is_missing(values)
        if not (~missing).sum() > 2:
            continue
        codes, n_values = column_codes(values)
        if n_values == 1:
            yield ResultWarning(
                "constant", name, f"Column {name!r} has one value; it cannot help to predict."
            )
            continue
        area = separation(codes, values, table.y)
        if area >= LEAK:
            text = (
                f"Column {name!r} alone nearly decides the class (AUC {area:.3f}). If it is known "
                "only after the outcome, or is a copy of it, leave it out with --drop."
            )
            yield ResultWarning("leak", name, text)
        if values.dtype.kind == "f":
            yield from code_warnings(name, values[~missing])
        if not is_split:
            yield from structure_warnings(name, values, codes, n_values, table.y)


def column_codes(values: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    """Return each value as the number of its place among the different ones, and how many."""
    kept = values if values.dtype.kind in "fM" else np.array([str(one) for one in values.tolist()])
    different, codes = np.unique(kept, return_inverse=True)
    return codes, len(different)


def separation(codes: NDArray[np.intp], values: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the least area under the ROC curve over the classes, by this column alone.

    Numbers rank by themselves, in either direction; categories by the share of the class in them,
    of which each needs two rows for that to say anything.
    """
    areas = []
    for label in np.unique(y):
        own = y == label
        if values.dtype.kind in "fM":
            area = roc_auc_score(own, codes)
            if len(np.unique(y)) > 2:
                area = interval_area(codes, own)
            areas.append(max(area, 1.0 - area))
        else:
            sizes = np.bincount(codes)
            if len(sizes) > 0.2 * len(codes):
                return 0.5
            areas.append(roc_auc_score(own, (np.bincount(codes, own) / sizes)[codes]))
    return float(min(areas))


def interval_area(codes: NDArray[np.intp], own: NDArray[np.bool_]) -> float:
    """Return the area by the distance to the median of a class, which may lie between others."""
    centre = np.median(codes[own])
    return float(roc_auc_score(own, -np.abs(codes - centre)))


def code_warnings(name: str, values: NDArray[Any]) -> Iterator[ResultWarning]:
    """Return a warning if a number such as 999, or zero, seems to stand for a missing value."""
    for code in CODES:
        here = values == code
        others = values[~here]
        if here.sum() < 2 or len(np.unique(others)) < 3:
            continue
        span = float(others.max() - others.min())
        if max(code - others.max(), others.min() - code) > FAR * span:
            text = (
                f"Column {name!r} holds {code:g} in {count(int(here.sum()), 'row')}, far from all "
                f"other values ({others.min():g} to {others.max():g}): a code for missing values?"
            )
            yield ResultWarning("codes", name, text)
    zero, others = values == 0.0, np.unique(values[values != 0.0])
    if zero.sum() < 2 or len(others) < 10 or others[0] < 1.0:
        return
    # Counts go on to zero in their usual steps; a blood pressure does not.
    usual = np.median(np.diff(others[: max(len(others) // 2, 5)]))
    if others[0] > max(ZERO_STEPS * usual, ZERO_SHARE * np.median(values[~zero])):
        text = (
            f"Column {name!r} is zero in {count(int(zero.sum()), 'row')}, and at least "
            f"{others[0]:g} in all others: are these missing values?"
        )
        yield ResultWarning("codes", name, text)


def structure_warnings(
    name: str, values: NDArray[Any], codes: NDArray[np.intp], n_values: int, y: NDArray[Any]
) -> Iterator[ResultWarning]:
    """Return a warning if a column is a time, or groups rows that come one after the other."""
    if values.dtype.kind == "M":
        text = (
            f"Column {name!r} is a time, and random folds predict the past from the future. If the "
            f"world changes, test the model on later rows with --time-column {name}."
        )
        yield ResultWarning("structure", name, text)
        return
    whole = values.dtype.kind != "f" or not np.nanmax(np.abs(values % 1.0))
    size = len(codes) / n_values
    runs = 1 + int((np.diff(codes) != 0).sum())
    if (
        whole
        and n_values > 10
        and GROUP_SIZES[0] <= size <= GROUP_SIZES[1]
        and runs <= 1.2 * n_values
    ):
        text = (
            f"Rows with the same value of {name!r} are adjacent ({n_values:,} values, "
            f"{size:.1f} rows each). If they belong together, like rows of one patient, use "
            f"--group {name}."
        )
        yield ResultWarning("structure", name, text)


def left_out_warnings(table: LearningTable) -> Iterator[ResultWarning]:
    """Return a warning for each column that was left out as constant or as an identifier."""
    for name, reason in table.left_out:
        kind = "constant" if reason.startswith("it has") else "identifier"
        yield ResultWarning(kind, name, f"Column {name!r} is left out: {reason}.")


def duplicate_warnings(table: LearningTable, together: RowGroups) -> Iterator[ResultWarning]:
    """Return a warning if rows are copies, which are kept in one fold."""
    n_rows = together.n_copies or together.n_alike
    if n_rows:
        yield ResultWarning("duplicates", None, " ".join(together.notes))


def prediction_warnings(evaluation: Evaluation, folds: Sequence[Any]) -> Iterator[ResultWarning]:
    """Return warnings about classes that are never predicted, and probabilities that are off."""
    missed = [k for k, one in evaluation.precisions.items() if one.reason == "never predicted"]
    if missed:
        names = ", ".join(repr(str(one)) for one in missed[:MOST_NAMED])
        if len(missed) > MOST_NAMED:
            names += f" and {len(missed) - MOST_NAMED} more"
        text = f"Class {names} is never predicted: all of its rows are missed."
        if len(missed) > 1:
            text = (
                f"{len(missed)} classes are never predicted, and all of their rows missed: {names}."
            )
        yield ResultWarning("never_predicted", None, text)
    P = np.concatenate([fold.answers.probabilities for fold in folds])
    classes = folds[0].answers.classes
    said = P.max(axis=1)
    right = classes[P.argmax(axis=1)] == np.concatenate([fold.answers.y_true for fold in folds])
    low, high = share_interval(float(right.sum()), len(right), 0.99)
    mean = float(said.mean())
    if not low <= mean <= high and abs(mean - right.mean()) > UNEVEN:
        text = (
            f"The probabilities are not calibrated: on average they claim {mean:.1%}, and the "
            "most probable "
            f"class is correct {right.mean():.1%} of the time."
        )
        yield ResultWarning("calibration", None, text)


def family_warnings(folds: Sequence[Any], delivered: str) -> Iterator[ResultWarning]:
    """Return a warning if most folds chose another family of models than the delivered one."""
    chosen, family = (
        Counter(fold.chosen.partition("(")[0] for fold in folds),
        delivered.partition("(")[0],
    )
    most, n_folds = chosen.most_common(1)[0]
    if n_folds > max(chosen[family], 1):
        text = (
            f"The measures are those of the procedure: in {n_folds} of {len(folds)} folds it chose "
            f"{most}, and the delivered model is {delivered}."
        )
        yield ResultWarning("family", None, text)
