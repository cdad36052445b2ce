"""Which rows to reject: every cut through the confidences at once, and the best of them.

A cut rejects the rows whose confidence is below a threshold, so rows of equal confidence share
their fate. Thresholds lie midway between neighbouring confidences, where rounding cannot move a row
to the other side. Rejected rows get a label of their own beside the classes.
"""

from __future__ import annotations

import numbers
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, as_floats, relative_weights
from .._validation import check_sample_weight

EQUAL = 1e-12  # part of all weights by which sums of the same weights may differ
NUMBERS, STRINGS = "biuf", "UT"  # kinds of dtypes


class Cuts(NamedTuple):
    """All ways to reject the less sure rows, from none to all of them.

    Rows below a threshold (-inf, midway between neighbouring confidences, +inf) are rejected. The
    next arrays hold the weight of the rows rejected, accepted, and accepted although wrong;
    ``squares`` holds for the accepted ones the sum of their weight times that of all rows that
    depend on them.
    """

    thresholds: Floats
    rejected: Floats
    accepted: Floats
    errors: Floats
    squares: Floats

    @property
    def n_effective(self) -> Floats:
        """How many rows of equal weight the accepted ones are worth; zero at the last cut."""
        return np.divide(
            self.accepted**2, self.squares, out=np.zeros_like(self.squares), where=self.squares > 0
        )


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
    weight = np.ones(len(y_true)) if weight is None else relative_weights(weight)
    at = cuts(confidence, y_true != y_pred, weight)
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


def cuts(confidence: Floats, wrong: Any, weight: Floats, group: Any = None) -> Cuts:
    """Return all cuts through the confidences of the rows that have any weight.

    Rows of one ``group``, copies of each other, depend on each other; None: no row does.
    """
    counts = weight > 0.0
    confidence, wrong, weight = confidence[counts], wrong[counts], weight[counts]
    values, place = np.unique(confidence, return_inverse=True)
    total = as_floats(np.bincount(place, weight))
    errors = as_floats(np.bincount(place, weight * wrong))
    together = weight
    if group is not None:
        codes = np.unique(group[counts], return_inverse=True)[1]
        together = as_floats(np.bincount(codes, weight)[codes])
    squares = as_floats(np.bincount(place, weight * together))
    low, high = values[:-1], values[1:]
    middle = 0.5 * low + 0.5 * high
    middle = np.where((low < middle) & (middle <= high), middle, high)  # no number lies between
    return Cuts(
        thresholds=np.concatenate([[-np.inf], middle, [np.inf]]),
        rejected=np.concatenate([[0.0], np.cumsum(total)]),
        # Summed from above, so that no error above a cut is exactly zero.
        accepted=np.append(np.cumsum(total[::-1])[::-1], 0.0),
        errors=np.append(np.cumsum(errors[::-1])[::-1], 0.0),
        squares=np.append(np.cumsum(squares[::-1])[::-1], 0.0),
    )


def cheapest_threshold(confidence: Floats, wrong: Any, weight: Floats, cost: float) -> float:
    """Return the threshold with the smallest errors + cost * rejections, the lowest if several."""
    at = cuts(confidence, wrong, weight)
    price = at.errors + cost * at.rejected
    return float(at.thresholds[np.argmax(price <= price.min() + EQUAL * at.accepted[0])])


def threshold_for_error(at: Cuts, most: float, risk: float) -> float:
    """Return the lowest threshold that keeps an error among the accepted; +inf if none does.

    The chance over the rows that the error of the threshold is above ``most`` is at most ``risk``.
    Each cut is a test of whether its error is above ``most``, by the binomial distribution. The
    tests go from the surest rows downwards (Learn then Test, Angelopoulos et al., 2021). A test has
    the level of the one before if that has rejected, and zero if not; a few cuts have a part of
    the risk as their own in addition (the fallback procedure, Wiens and Dmitrienko, 2005), so that
    an error among the surest rows does not end the search.
    """
    size, last = at.n_effective, len(at.accepted) - 2
    found, level = np.inf, 0.0
    pvalues = error_pvalues(at, most)
    starts = Counter(start_cuts(size, most, risk))
    share = risk / starts.total()
    for cut in range(last, -1, -1):
        level += share * starts[cut]
        if level > 0.0 and pvalues[cut] <= level:
            found = float(at.thresholds[cut])
        else:
            level = 0.0
    return found


def error_pvalues(at: Cuts, most: float) -> Floats:
    """Return the chance of so few errors at each cut, if the error were ``most``."""
    size = at.n_effective[:-1]
    errors = size * at.errors[:-1] / at.accepted[:-1]
    right = np.maximum(size - errors, 0.0)
    # Not all wrong: the binomial distribution, for numbers that need not be whole.
    return np.where(right > 0.0, betainc(np.maximum(right, EQUAL), errors + 1.0, 1.0 - most), 1.0)


def start_cuts(size: Floats, most: float, risk: float) -> list[int]:
    """Return the cuts that have a level of their own.

    The first accepts so many rows that a test without errors rejects; the others accept about
    twice as many each, up to all.
    """
    n_rows = float(size[0])
    if most <= 0.0:
        return [0]
    doublings = np.log2(max(n_rows * np.log1p(-most) / np.log(risk), 1.0))
    n_starts = 1 + int(doublings)
    fewest = min(np.log(risk / n_starts) / np.log1p(-most), n_rows)
    sizes = np.geomspace(fewest, n_rows, n_starts)
    # Sizes fall along the cuts, but for weights; the last cut that is large enough.
    return [int(np.flatnonzero(size >= one * (1.0 - EQUAL))[-1]) for one in sizes]


def smallest_target(at: Cuts, risk: float) -> float:
    """Return about the smallest error that a threshold keeps with the same risk, rounded up."""
    low, high = 0.0, 1.0
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        if threshold_for_error(at, middle, risk) < np.inf:
            high = middle
        else:
            low = middle
    unit = 10.0 ** (np.floor(np.log10(high)) - 1.0)
    return float(np.ceil(high / unit) * unit)


def free_label(label: Any, classes: NDArray[Any]) -> Any:
    """Return the label of rejected rows.

    If none is given, "reject" for strings; for numbers -1, or the next below all classes.
    """
    if label is None and all(isinstance(each, str) for each in classes.tolist()):
        label = "reject"
    elif label is None:
        if all(isinstance(each, numbers.Real) for each in classes.tolist()):
            return min(-1, int(np.floor(min(classes.tolist()))) - 1)
        raise ValueError(
            f"There is no usual label of rejected rows for the classes {classes.tolist()!r}; give "
            "reject_label."
        )
    if not isinstance(label, (str, numbers.Real, np.bool_)) or label != label:
        raise ValueError(f"reject_label={label!r} must be a number, a string, or None.")
    if label in classes.tolist():
        raise ValueError(
            f"reject_label={label!r} is one of the classes {classes.tolist()!r}; give another."
        )
    return label


def common_dtype(classes: NDArray[Any], label: Any) -> np.dtype[Any]:
    """Return a dtype that holds the classes and the label, that of the classes if possible."""
    own, other = classes.dtype, np.asarray(label).dtype
    if own.kind in STRINGS and other.kind in STRINGS:
        return np.promote_types(own, other)
    if own.kind not in NUMBERS or other.kind not in NUMBERS:
        return np.dtype(object)
    if own.kind != "b" and other.kind != "b" and fits(label, own):
        return own
    wide = np.promote_types(own, other)
    exact = wide.kind != "f" or "f" in own.kind + other.kind  # no double holds all 64-bit integers
    return wide if exact else np.dtype(object)


def fits(label: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a dtype holds a number as it is."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(dtype.type(label)) == float(label)
    limits = np.iinfo(dtype)
    return float(label).is_integer() and bool(limits.min <= label <= limits.max)
