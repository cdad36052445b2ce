"""The best thresholds, against all cuts tried one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from protolearn.analysis import accuracy_reject_curve
from protolearn.analysis.confidence import HeldOut, found_thresholds
from protolearn.analysis.reject_thresholds import (
    cheapest_threshold,
    cuts,
    lowest_error,
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


@given(ROWS, st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5]))
def test_threshold_for_error_rejects_no_more_than_it_must(rows, most):
    confidence, wrong, weight, _ = arrays(rows)
    tried = [outcome(confidence, wrong, weight, t) for t in all_thresholds(confidence)]
    errors = [e / a for _, a, e in tried if a]
    enough = [r for r, a, e in tried if a and e / a <= most + 1e-12]
    threshold = threshold_for_error(confidence, wrong, weight, most)
    rejected, accepted, _ = outcome(confidence, wrong, weight, threshold)
    if enough:
        assert accepted > 0
        assert rejected == min(enough)
    else:
        assert threshold == np.inf
    assert lowest_error(confidence, wrong, weight) == pytest.approx(min(errors), abs=1e-15)


@given(ROWS, st.sampled_from([0.1, 0.25, 0.6]))
def test_thresholds_by_class_are_the_best_of_all_combinations(rows, cost):
    confidence, wrong, weight, predicted = arrays(rows)
    held = HeldOut(predicted, confidence, wrong, weight)
    price = []
    for combination in product(all_thresholds(confidence), repeat=3):
        rejected, _, errors = outcome(confidence, wrong, weight, np.array(combination)[predicted])
        price.append(errors + cost * rejected)
    thresholds = found_thresholds(held, np.arange(3), "cost", cost, per_class=True)
    rejected, _, errors = outcome(confidence, wrong, weight, thresholds[predicted])
    assert errors + cost * rejected == pytest.approx(min(price))


def test_thresholds_lie_midway():
    confidence = np.array([3.0, 1.0, 3.0, 2.0])
    at = cuts(confidence, np.array([True, False, False, True]), np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(at.thresholds, [-np.inf, 1.5, 2.5, np.inf])
    np.testing.assert_array_equal(at.rejected, [0.0, 2.0, 6.0, 10.0])
    np.testing.assert_array_equal(at.accepted, [10.0, 8.0, 4.0, 0.0])
    np.testing.assert_array_equal(at.errors, [5.0, 5.0, 1.0, 0.0])


def test_shares_that_doubles_do_not_hold_are_reached():
    wrong = np.arange(100) < 29
    assert 0.29 * 100 < 29  # rounded
    assert threshold_for_error(np.zeros(100), wrong, np.ones(100), 0.29) == -np.inf
    assert threshold_for_error(np.zeros(100), wrong, np.ones(100), 0.2899) == np.inf


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
