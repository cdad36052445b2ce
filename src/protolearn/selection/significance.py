"""Tests of differences: over the folds of one data set, and over data sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import betainc

from .._arrays import Floats
from .intervals import NOISE_MOST, corrected_variance, noise_part

EXACT = 50
"""Most differences of which SciPy has the exact distribution of the signed-rank statistic."""

DIGITS = 12
"""Decimals, relative to the largest value, beyond which means of folds differ by rounding."""


class PairedTest(NamedTuple):
    """The outcome of a paired test.

    Attributes
    ----------
    statistic : float or array of shape (n_datasets,)
        What was measured.
    pvalue : float or array of shape (n_datasets,)
        Probability of a statistic as large if there is no difference.
    """

    statistic: Any
    pvalue: Any


class RowTest(NamedTuple):
    """The difference of two accuracies on the same rows.

    Attributes
    ----------
    difference, low, high : float or array of shape (n_datasets,)
        The difference and the ends of its interval.
    pvalue : float or array of shape (n_datasets,)
        Probability of a difference as large if there is none.
    """

    difference: Any
    low: Any
    high: Any
    pvalue: Any


class WinTieLoss(NamedTuple):
    """On how many data sets a model is better, about equal, and worse.

    Attributes
    ----------
    win : int
        Data sets on which it is significantly better.
    tie : int
        Data sets without a significant difference.
    loss : int
        Data sets on which it is significantly worse.
    """

    win: int
    tie: int
    loss: int


def row_test(
    first: Floats, second: Floats, codes: Any, confidence: float, labels: Any = None
) -> RowTest:
    """Compare two models by the rows about which one of them is right and the other wrong.

    The p value is the mid-p value of McNemar's exact test, if each row is tested once and depends
    on no other; otherwise that of a t test over groups of rows. The interval is that of Bonett and
    Price (2012): the standard error counts one row more on each side. With ``labels`` the models
    are those of folds, and their rows count as fewer where little is learned.
    """
    known = ~np.isnan(first) & ~np.isnan(second)
    gap = (first - second)[known]
    n_rows = len(gap)
    if not n_rows:
        return RowTest(np.nan, np.nan, np.nan, np.nan)
    sums = np.bincount(np.unique(codes[known], return_inverse=True)[1], gap)
    difference, n_groups = float(gap.mean()), len(sums)
    more = np.square(np.array([1.0, -1.0]) - difference).sum()
    sizes = np.bincount(np.unique(codes[known], return_inverse=True)[1])
    noise = 0.0 if labels is None else noise_of_models(0.5 * (first + second)[known], labels[known])
    spread = float(np.square(sums - difference * sizes).sum() + more) / (n_rows + 2.0) ** 2
    spread *= 1.0 + noise
    error, quantile = np.sqrt(spread), stats.t.ppf(0.5 + 0.5 * confidence, max(n_groups - 1, 1))
    ends = difference + quantile * error * np.array([-1.0, 1.0])
    if n_groups == n_rows and np.isin(gap, (-1.0, 0.0, 1.0)).all():
        counts = np.array([(gap > 0.0).sum(), (gap < 0.0).sum()]) / (1.0 + noise)
        pvalue = mcnemar_pvalue(*counts.tolist())
    else:
        pvalue = float(2.0 * stats.t.sf(abs(difference) / error, max(n_groups - 1, 1)))
    low, high = np.clip(ends, -1.0, 1.0).tolist()
    return RowTest(difference, low, high, pvalue)


def noise_of_models(right: Floats, labels: Any) -> float:
    """Return :func:`~.intervals.noise_part` by the mean recall, of how often each row was right."""
    codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    recalls = (np.bincount(codes, right) + 0.5) / (sizes + 1.0)
    chance = 1.0 / len(sizes)
    variance = float((recalls * (1.0 - recalls) / sizes).sum()) * chance**2
    if len(sizes) < 2:
        return NOISE_MOST
    # A difference of two models is noise for less long than the accuracy of one.
    return noise_part(float(recalls.mean()), chance, variance, errors=1.0, power=1.0)


def mcnemar_pvalue(n_first: float, n_second: float) -> float:
    """Return the mid-p value of as many rows about which only one of two models is right.

    The numbers need not be whole.
    """
    n_rows, fewer = n_first + n_second, min(n_first, n_second)
    if n_first == n_second:
        return 1.0
    at_most = betainc(n_rows - fewer, fewer + 1.0, 0.5)
    below = betainc(n_rows - fewer + 1.0, fewer, 0.5) if fewer > 0.0 else 0.0
    return float(at_most + below)


def corrected_t_test(difference: Floats, n_train: Any, n_test: Any) -> PairedTest:
    """Test whether the mean difference over resampled splits is zero (Nadeau and Bengio 2003)."""
    mean = difference.mean()
    if difference.min() == difference.max():
        return PairedTest(0.0, 1.0) if mean == 0 else PairedTest(np.copysign(np.inf, mean), 0.0)
    statistic = float(mean / np.sqrt(corrected_variance(difference, n_train, n_test)))
    return PairedTest(statistic, float(2.0 * stats.t.sf(abs(statistic), len(difference) - 1)))


def signed_rank_test(difference: Floats) -> PairedTest:
    """Test whether differences over data sets are as often and as far above zero as below.

    Zeros are dropped, as Wilcoxon did.
    """
    difference = difference[difference != 0.0]
    if not len(difference):
        return PairedTest(0.0, 1.0)
    method = "exact" if len(difference) <= EXACT else "approx"
    found = stats.wilcoxon(difference, method=method)
    return PairedTest(float(found.statistic), float(found.pvalue))


def friedman_test(scores: Floats) -> PairedTest:
    """Test whether all models, three or more, have the same mean rank over the data sets."""
    if (scores == scores[:, :1]).all():  # SciPy would divide by zero
        return PairedTest(0.0, 1.0)
    found = stats.friedmanchisquare(*scores.T)
    return PairedTest(float(found.statistic), float(found.pvalue))


def nemenyi_difference(n_models: int, n_datasets: int, alpha: float) -> float:
    """Return the difference of mean ranks from which on two models differ (Demsar 2006, 3.2.2)."""
    quantile = stats.studentized_range.ppf(1.0 - alpha, n_models, np.inf) / np.sqrt(2.0)
    return float(quantile * np.sqrt(n_models * (n_models + 1) / (6.0 * n_datasets)))


def holm(pvalues: Floats) -> Floats:
    """Correct p values for their number (Holm 1979): the probability of one false alarm at all."""
    order = np.argsort(pvalues, kind="stable")
    factor = np.arange(len(pvalues), 0, -1)
    corrected = np.empty_like(pvalues)
    corrected[order] = np.minimum(np.maximum.accumulate(factor * pvalues[order]), 1.0)
    return corrected


def drop_rounding(values: Floats, largest: float | None = None) -> Floats:
    """Return means or their differences without the rounding of sums over folds.

    So equal values are equal. ``largest`` is the size of the means, if these are differences.
    """
    unit = np.abs(values).max() if largest is None else largest
    return values if unit == 0.0 else np.round(values / unit, DIGITS) * unit
