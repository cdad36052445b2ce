"""Intervals of scores."""

import numpy as np
import pytest
from scipy import stats

from protolearn.selection.intervals import (
    corrected_variance,
    fold_interval,
    percentile_interval,
    share_interval,
)

SCORES = np.array([0.9, 0.8, 0.85, 0.95, 0.7])


def test_corrected_resampled_t_by_hand():
    variance = (1 / 5 + 20 / 80) * ((SCORES - 0.84) ** 2).sum() / 4
    assert corrected_variance(SCORES, [80] * 5, [20] * 5) == pytest.approx(variance, rel=1e-14)
    low, high = fold_interval(SCORES, [80] * 5, [20] * 5, 0.9)
    assert (low, high) == pytest.approx(stats.t.interval(0.9, 4, 0.84, np.sqrt(variance)))


def test_it_is_wider_than_a_plain_t_interval_and_tends_to_it():
    plain = stats.ttest_1samp(SCORES, 0.0).confidence_interval(0.95)
    low, high = fold_interval(SCORES, [80] * 5, [20] * 5, 0.95)
    assert low < plain.low < plain.high < high
    assert fold_interval(SCORES, [1e12] * 5, [1] * 5, 0.95) == pytest.approx(tuple(plain))


def test_end_of_the_interval_is_where_the_test_decides():
    from protolearn.selection.significance import corrected_t_test

    low, _ = fold_interval(SCORES, [80] * 5, [20] * 5, 0.95)
    assert corrected_t_test(SCORES - low, 80, 20).pvalue == pytest.approx(0.05)


def test_wilson_in_closed_form():
    right, n, z = 45, 50, stats.norm.ppf(0.975)
    p = right / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert share_interval(right, n, 0.95) == pytest.approx((middle - half, middle + half))
    assert share_interval(50, 50, 0.95).low < 0.95  # all right is not surely right


def test_percentiles_leave_out_what_there_is_not():
    samples = np.append(np.arange(101.0), [np.nan, np.nan])
    assert percentile_interval(samples, 0.9) == pytest.approx((5.0, 95.0))
    assert np.isnan(percentile_interval(np.array([np.nan]), 0.9)).all()


def test_errors():
    with pytest.raises(ValueError, match="scores of 1 fold"):
        fold_interval([0.5], [8], [2], 0.95)
    for bad in (0.0, 1.0, 95, "wide"):
        with pytest.raises(ValueError, match="confidence="):
            fold_interval(SCORES, [8] * 5, [2] * 5, bad)
