"""The best thresholds, against all cuts tried one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score

from protolearn.analysis import accuracy_reject_curve
from protolearn.analysis.confidence import HeldOut, found_thresholds
from protolearn.analysis.reject_thresholds import (
    cheapest_threshold,
    cuts,
    error_pvalues,
    smallest_target,
    start_cuts,
    threshold_for_error,
)

# Few different numbers, so that many are equal; weights that sums hold exactly.
CONFIDENCE = st.sampled_from([-2.0, 0.0, 5e-324, 0.1, np.nextafter(0.1, 1.0), 0.5, 1e308, 1.7e308])
WEIGHT = st.sampled_from([0.0, 0.5, 1.0, 3.0])
ROWS = st.lists(
    st.tuples(CONFIDENCE, st.booleans(), WEIGHT, st.integers(0, 2)), min_size=1, max_size=12
).filter(lambda rows: any(row[2] for row in rows))


def arrays(rows):
    confidence, wrong, weight, predicted = zip(*rows, strict=True)
    return np.array(confidence), np.array(wrong), np.array(weight), np.array(predicted)


def outcome(confidence, wrong, weight, threshold):
    """Give the weights of rejected, accepted, and accepted wrong rows."""
    accepted = confidence >= threshold
    return weight[~accepted].sum(), weight[accepted].sum(), weight[accepted & wrong].sum()


def all_thresholds(confidence):
    return [-np.inf, *np.unique(confidence), np.inf]


@given(ROWS, st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9]))
def test_cheapest_threshold_is_that_of_brute_force(rows, cost):
    confidence, wrong, weight, _ = arrays(rows)
    tried = []
    for threshold in all_thresholds(confidence):
        rejected, _, errors = outcome(confidence, wrong, weight, threshold)
        tried.append((errors + cost * rejected, rejected))
    cheapest = min(price for price, _ in tried)
    fewest = min(rejected for price, rejected in tried if np.isclose(price, cheapest, 1e-9, 1e-9))
    rejected, _, errors = outcome(
        confidence, wrong, weight, cheapest_threshold(confidence, wrong, weight, cost)
    )
    assert errors + cost * rejected == pytest.approx(cheapest)
    assert rejected == fewest


def certified(confidence, wrong, most, risk):
    """Give the lowest threshold of the fallback procedure, test by test."""
    at = cuts(confidence, wrong, np.ones(len(wrong)))
    starts = start_cuts(at.n_effective, most, risk)
    found, level = np.inf, 0.0
    for cut in reversed(range(len(at.thresholds) - 1)):
        accepted = confidence >= at.thresholds[cut]
        level += risk / len(starts) * starts.count(cut)
        test = binomtest(int(wrong[accepted].sum()), int(accepted.sum()), most, "less")
        if level > 0 and test.pvalue <= level:
            found = at.thresholds[cut]
        else:
            level = 0.0
    return found


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.3]), st.sampled_from([0.05, 0.1, 0.5]))
def test_threshold_for_error_is_that_of_exact_tests(seed, most, risk):
    rng = np.random.RandomState(seed)
    n = rng.randint(5, 200)
    confidence = rng.rand(n).round(2)
    wrong = rng.rand(n) < 0.3 * (1 - confidence)
    at = cuts(confidence, wrong, np.ones(n))
    threshold = threshold_for_error(at, most, risk)
    assert threshold == certified(confidence, wrong, most, risk)
    if threshold < np.inf:
        accepted = confidence >= threshold
        assert binomtest(int(wrong[accepted].sum()), int(accepted.sum()), most).pvalue <= 2 * risk
        assert wrong[accepted].mean() < most


def test_pvalues_are_those_of_the_binomial_distribution():
    confidence, wrong = np.arange(20.0), np.arange(20) % 7 == 0
    at = cuts(confidence, wrong, np.ones(20))
    for cut, pvalue in enumerate(error_pvalues(at, 0.2)):
        k, n = int(wrong[cut:].sum()), 20 - cut
        assert pvalue == pytest.approx(binomtest(k, n, 0.2, "less").pvalue)


def test_copies_and_weights_count_as_fewer_rows():
    wrong = np.zeros(100, dtype=bool)
    alone, copies = (
        cuts(np.ones(100), wrong, np.ones(100), group) for group in (None, np.arange(100) // 5)
    )
    assert alone.n_effective.tolist() == [100.0, 0.0]
    assert copies.n_effective.tolist() == [20.0, 0.0]
    uneven = cuts(np.ones(100), wrong, np.repeat([1.0, 3.0], 50))
    assert uneven.n_effective[0] == pytest.approx(200**2 / (50 + 450))


def test_smallest_target_can_be_kept():
    rng = np.random.RandomState(0)
    for n, noise in (5, 0.0), (60, 0.1), (400, 0.02), (400, 1.0):
        at = cuts(rng.rand(n), rng.rand(n) < noise, np.ones(n))
        target = smallest_target(at, 0.1)
        assert target >= 0.999 or threshold_for_error(at, target, 0.1) < np.inf
        assert threshold_for_error(at, 0.9 * target, 0.1) == np.inf
    # Without an error, 45 rows keep five percent and 44 do not: 0.95 ** 45 < 0.1.
    for n, kept in (45, True), (44, False):
        at = cuts(np.ones(n), np.zeros(n, dtype=bool), np.ones(n))
        assert (threshold_for_error(at, 0.05, 0.1) < np.inf) == kept


@given(ROWS, st.sampled_from([0.1, 0.25, 0.6]))
def test_thresholds_by_class_are_the_best_of_all_combinations(rows, cost):
    confidence, wrong, weight, predicted = arrays(rows)
    held = HeldOut(predicted, confidence, wrong, weight, np.arange(len(wrong)))
    price = []
    for combination in product(all_thresholds(confidence), repeat=3):
        rejected, _, errors = outcome(confidence, wrong, weight, np.array(combination)[predicted])
        price.append(errors + cost * rejected)
    thresholds = found_thresholds(held, np.arange(3), "cost", cost, per_class=True, risk=0.1)
    rejected, _, errors = outcome(confidence, wrong, weight, thresholds[predicted])
    assert errors + cost * rejected == pytest.approx(min(price))


def test_thresholds_lie_midway():
    confidence = np.array([3.0, 1.0, 3.0, 2.0])
    at = cuts(confidence, np.array([True, False, False, True]), np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(at.thresholds, [-np.inf, 1.5, 2.5, np.inf])
    np.testing.assert_array_equal(at.rejected, [0.0, 2.0, 6.0, 10.0])
    np.testing.assert_array_equal(at.accepted, [10.0, 8.0, 4.0, 0.0])
    np.testing.assert_array_equal(at.errors, [5.0, 5.0, 1.0, 0.0])
    np.testing.assert_array_equal(at.squares, [30.0, 26.0, 10.0, 0.0])


def test_equal_prices_reject_least():
    # One error, or three rejections for 1/3 each: 3 * 0.3333.. is 1 only up to rounding.
    confidence, wrong = np.array([0.0, 0.0, 0.0, 1.0]), np.array([True, False, False, False])
    assert cheapest_threshold(confidence, wrong, np.ones(4), 1 / 3) == -np.inf
    assert cheapest_threshold(confidence, wrong, np.ones(4), 0.33) == 0.5


@given(ROWS)
def test_curve_is_accuracy_at_every_threshold(rows):
    confidence, wrong, weight, predicted = arrays(rows)
    y = np.where(wrong, predicted + 1, predicted)
    curve = accuracy_reject_curve(y, predicted, confidence, sample_weight=weight)
    assert curve.reject_rate[0] == 0.0
    assert curve.thresholds[0] == -np.inf
    assert len(curve.accuracy) == len(np.unique(confidence[weight > 0.0]))
    for rate, accuracy, threshold in zip(*curve, strict=True):
        kept = confidence >= threshold
        assert rate == pytest.approx(weight[~kept].sum() / weight.sum())
        expected = accuracy_score(y[kept], predicted[kept], sample_weight=weight[kept])
        assert accuracy == pytest.approx(expected)


def test_curve_takes_strings_and_infinity():
    rate, accuracy, _ = accuracy_reject_curve(
        ["a", "b", "b"], ["a", "a", "b"], [np.inf, -np.inf, 0]
    )
    np.testing.assert_allclose(rate, [0.0, 1 / 3, 2 / 3])
    np.testing.assert_allclose(accuracy, [2 / 3, 1.0, 1.0])


def test_curve_errors():
    with pytest.raises(ValueError, match="The confidence of 1 rows is NaN"):
        accuracy_reject_curve([0, 1], [0, 1], [0.5, np.nan])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        accuracy_reject_curve([0, 1], [0, 1], [0.5])
    with pytest.raises(ValueError, match="y_true has no rows"):
        accuracy_reject_curve([], [], [])
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        accuracy_reject_curve([0, 1], [0, 1], [0.5, 0.7], [1.0, -1.0])
