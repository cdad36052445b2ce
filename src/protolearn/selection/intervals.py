"""Intervals of scores: of folds that overlap, of counts, and of resamples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest, t

from .._arrays import Floats
from .._validation import number_in


class Interval(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float

    def within(self, low: float, high: float) -> Interval:
        """Cut the interval at the ends of what is possible."""
        return Interval(*(float(end) for end in np.clip(self, low, high)))


def check_confidence(confidence: Any) -> float:
    """Return the confidence of an interval, a number between zero and one."""
    return number_in(confidence, "confidence={value!r}", 0.0, 1.0, above=True, below=True)


def corrected_variance(scores: Any, n_train: Any, n_test: Any) -> float:
    """Return the variance of the mean of scores over folds, corrected for their overlap.

    Training sets of folds share most of their rows, so the scores depend on each other, and
    ``s^2 / J`` is too small. Nadeau and Bengio (2003) take ``(1 / J + n_test / n_train) s^2``.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if len(scores) < 2:
        raise ValueError(
            f"There are scores of {len(scores)} fold; an interval needs two folds or more."
        )
    share = np.sum(n_test) / np.sum(n_train)
    return float((1.0 / len(scores) + share) * scores.var(ddof=1))


def fold_interval(scores: Any, n_train: Any, n_test: Any, confidence: float) -> Interval:
    """Return the interval of the mean of scores over folds by the corrected resampled t."""
    spread = np.sqrt(corrected_variance(scores, n_train, n_test))
    half = spread * t.ppf(0.5 + 0.5 * check_confidence(confidence), len(scores) - 1)
    mean = float(np.mean(scores))
    return Interval(mean - float(half), mean + float(half))


def share_interval(successes: int, trials: int, confidence: float) -> Interval:
    """Return Wilson's interval of a share."""
    ends = binomtest(int(successes), int(trials)).proportion_ci(confidence, method="wilson")
    return Interval(float(ends.low), float(ends.high))


def percentile_interval(samples: Floats, confidence: float) -> Interval:
    """Return the interval that holds the middle of the samples; those that are NaN do not count."""
    samples = samples[~np.isnan(samples)]
    if not len(samples):
        return Interval(np.nan, np.nan)
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(samples, [tail, 100.0 - tail])
    return Interval(float(low), float(high))
