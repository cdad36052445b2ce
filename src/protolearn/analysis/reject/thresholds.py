"""Which rows to reject: every cut through the confidences at once, and the best of them.

A cut rejects the rows whose confidence is below a threshold, so rows of equal confidence share
their fate. Thresholds lie midway between neighbouring confidences, where rounding cannot move a row
to the other side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from ..._arrays import Floats, as_floats
from ..._validation import check_sample_weight

EQUAL = 1e-12
"""Part of all weights by which sums of the same weights may differ."""


class Cuts(NamedTuple):
    """All ways to reject the less sure rows, from none to all of them.

    Attributes
    ----------
    thresholds : array
        Rows below are rejected: -inf, midway between neighbouring confidences, +inf.
    rejected, accepted, errors : arrays
        Weight of the rows that are rejected, accepted, and accepted although wrong.
    """

    thresholds: Floats
    rejected: Floats
    accepted: Floats
    errors: Floats


class AccuracyRejectCurve(NamedTuple):
    """What :func:`accuracy_reject_curve` gives.

    Attributes
    ----------
    reject_rate : array
        Share of the rows that are rejected, rising from zero.
    accuracy : array
        Share of right predictions among the accepted rows.
    thresholds : array
        Rows with a smaller confidence are rejected; -inf in the beginning.
    """

    reject_rate: Floats
    accuracy: Floats
    thresholds: Floats


def accuracy_reject_curve(
    y_true: Any, y_pred: Any, confidence: Any, sample_weight: Any = None
) -> AccuracyRejectCurve:
    """Return the accuracy of what is left when the less sure predictions are rejected.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    confidence : array-like of shape (n_samples,)
        How sure each prediction is; larger is surer. Rows with the same number are rejected
        together.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    curve : AccuracyRejectCurve
        A named tuple of the arrays ``reject_rate``, ``accuracy`` and ``thresholds``, from no
        rejection to that of all but the surest rows. To reject all leaves no accuracy.

    Examples
    --------
    >>> from protolearn.analysis import accuracy_reject_curve
    >>> curve = accuracy_reject_curve([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.3, 0.1, 0.5])
    >>> curve.reject_rate.tolist()
    [0.0, 0.25, 0.5, 0.75]
    >>> curve.accuracy.tolist()
    [0.75, 1.0, 1.0, 1.0]
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    confidence = as_confidence(column_or_1d(confidence))
    check_consistent_length(y_true, y_pred, confidence)
    if not len(y_true):
        raise ValueError("y_true has no rows: there is no accuracy to measure.")
    weight = check_sample_weight(sample_weight, len(y_true))
    at = cuts(confidence, y_true != y_pred, np.ones(len(y_true)) if weight is None else weight)
    left = at.accepted[:-1]
    return AccuracyRejectCurve(
        at.rejected[:-1] / left[0], (left - at.errors[:-1]) / left, at.thresholds[:-1]
    )


def as_confidence(values: Any) -> Floats:
    """Return confidences as finite doubles; infinite ones become the largest there are."""
    values = np.asarray(values, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError(
            f"The confidence of {np.isnan(values).sum()} rows is NaN; it must be a number."
        )
    most = np.finfo(np.float64).max  # so that a threshold of infinity rejects all
    return np.clip(values, -most, most)


def cuts(confidence: Floats, wrong: Any, weight: Floats) -> Cuts:
    """Return all cuts through the confidences of the rows that have any weight."""
    counts = weight > 0.0
    confidence, wrong, weight = confidence[counts], wrong[counts], weight[counts]
    values, place = np.unique(confidence, return_inverse=True)
    total = as_floats(np.bincount(place, weight))
    errors = as_floats(np.bincount(place, weight * wrong))
    return Cuts(
        thresholds=np.concatenate([[-np.inf], midway(values[:-1], values[1:]), [np.inf]]),
        rejected=np.concatenate([[0.0], np.cumsum(total)]),
        accepted=summed_from_above(total),
        errors=summed_from_above(errors),
    )


def summed_from_above(values: Floats) -> Floats:
    """Return the sums of all entries from each one on; no error above a cut is exactly zero."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])


def midway(low: Floats, high: Floats) -> Floats:
    """Return the middle between numbers; the upper one where no number lies between."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low < middle) & (middle <= high), middle, high)


def cheapest_threshold(confidence: Floats, wrong: Any, weight: Floats, cost: float) -> float:
    """Return the threshold with the smallest errors + cost * rejections, the lowest if several."""
    at = cuts(confidence, wrong, weight)
    price = at.errors + cost * at.rejected
    return float(at.thresholds[np.argmax(price <= price.min() + EQUAL * at.accepted[0])])


def threshold_for_error(confidence: Floats, wrong: Any, weight: Floats, most: float) -> float:
    """Return the lowest threshold with at most that error among the accepted; +inf if none has."""
    at = cuts(confidence, wrong, weight)
    return float(at.thresholds[np.argmax(at.errors <= most * at.accepted + EQUAL * at.accepted[0])])


def lowest_error(confidence: Floats, wrong: Any, weight: Floats) -> float:
    """Return the smallest error among the accepted that a threshold can reach."""
    at = cuts(confidence, wrong, weight)
    return float((at.errors[:-1] / at.accepted[:-1]).min())
