"""Whether classes are separable, against exact arithmetic and against Cover's count."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from protolearn import is_separable
from protolearn.datasets import make_random_patterns
from protolearn.separability import samples_in_the_way, scale_columns
from reference import cover, separable

XOR = [[0, 0], [1, 1], [0, 1], [1, 0]]


@st.composite
def whole_numbers(draw, largest=3):
    """Few points of a small grid: many lie on one line, or on one another."""
    shape = draw(st.integers(2, 8)), draw(st.integers(1, 2))
    X = draw(arrays(np.int64, shape, elements=st.integers(-largest, largest)))
    y = draw(arrays(np.int64, len(X), elements=st.sampled_from([-1, 1])))
    y[:2] = 1, -1
    return X, y


def exactly(X, y, fit_intercept):
    rows = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    return separable(np.asarray(y)[:, None] * np.asarray(rows, dtype=float))


def test_the_oracle_on_known_cases():
    signs = np.array([-1, 1, 1, 1])
    assert exactly(np.array(XOR), signs, True)
    assert not exactly(np.array(XOR), signs, False)  # the first point is the origin
    assert not exactly(np.array(XOR), [-1, -1, 1, 1], True)
    assert not exactly(np.array([[0], [1], [2]]), [1, -1, 1], True)


@given(whole_numbers(), st.booleans())
def test_agrees_with_exact_arithmetic(data, fit_intercept):
    X, y = data
    assert is_separable(X, y, fit_intercept=fit_intercept) == exactly(X, y, fit_intercept)


@given(whole_numbers(), st.booleans(), st.lists(st.integers(-12, 12), min_size=2, max_size=2))
def test_units_do_not_matter(data, fit_intercept, powers):
    """Powers of two near 1e-12 to 1e12 leave whole numbers exact."""
    X, y = data
    units = 2.0 ** np.rint(np.log2(10.0) * np.array(powers[: X.shape[1]]))
    assert is_separable(X * units, y, fit_intercept) == exactly(X, y, fit_intercept)


@given(whole_numbers(), st.lists(st.integers(-10, 10), min_size=8, max_size=8))
def test_lengths_do_not_matter_without_a_threshold(data, powers):
    X, y = data
    lengths = 10.0 ** np.array(powers[: len(X)])
    assert is_separable(X * lengths[:, None], y, False) == exactly(X, y, False)


@given(whole_numbers(), st.lists(st.integers(0, 14), min_size=2, max_size=2))
def test_the_origin_does_not_matter_with_a_threshold(data, powers):
    """Times of day in seconds since 1970 are small differences of large numbers."""
    X, y = data
    shift = 10.0 ** np.array(powers[: X.shape[1]])
    assert is_separable(X + shift, y) == exactly(X, y, True)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_extreme_units(scale):
    assert is_separable(scale * np.array(XOR), [0, 1, 1, 1])
    assert not is_separable(scale * np.array(XOR), [0, 0, 1, 1])


@pytest.mark.parametrize("outlier", [1e6, 1e9, 1e12, 1e15])
def test_an_outlier_does_not_hide_the_rest(outlier):
    """A solver that drops small entries saw one point in the first two rows."""
    assert is_separable([[0.0], [1.0], [outlier]], [0, 1, 1])
    assert not is_separable([[0.0], [1.0], [outlier]], [0, 1, 0])
    assert not is_separable([*XOR, [outlier, 0]], [0, 0, 1, 1, 1])


def test_a_row_on_the_hyperplane_is_not_separated():
    """Only x = 0 goes through the origin, and the first row lies on it."""
    assert not is_separable([[0.0], [1.0]], [0, 1], fit_intercept=False)
    assert is_separable([[-1.0], [1.0]], [0, 1], fit_intercept=False)
    assert not is_separable([[-1.0, 0], [1, 0], [0, 1], [0, -1], [0, 2]], [0, 1, 1, 0, 0], False)


def test_equal_rows_with_different_labels():
    assert not is_separable([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]], [0, 1, 1])
    assert is_separable([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]], [0, 0, 1])
    assert not is_separable(np.zeros((3, 2)), [0, 0, 1])
    assert not is_separable(np.zeros((3, 2)), [0, 0, 1], fit_intercept=False)


def test_one_class():
    """A threshold alone does it; without one all rows must fit into a half-space."""
    assert is_separable(XOR, [7, 7, 7, 7])
    assert is_separable([[1.0], [2.0]], ["a", "a"], fit_intercept=False)
    assert not is_separable([[1.0], [-2.0]], ["a", "a"], fit_intercept=False)
    assert is_separable([[3.0]], [0])


def test_more_classes_each_from_the_rest():
    corners = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [0.1, 0.1]]
    assert is_separable(corners, ["a", "b", "c", "a"])
    assert not is_separable([[0.0], [1.0], [2.0]], ["a", "b", "c"])  # the middle one
    assert not is_separable([*corners, [1.0, 1.0]], ["a", "b", "c", "a", "d"])


def test_labels_and_containers(rng):
    X = rng.standard_normal((12, 3)).astype(np.float32)
    y = np.where(X[:, 0] > 0, "yes", "no")
    assert is_separable(X, y)
    assert is_separable(X.tolist(), y.tolist())
    assert is_separable(pd.DataFrame(X), pd.Series(y))
    assert isinstance(is_separable(X, y), bool)
    assert is_separable(X, y == "yes")


@pytest.mark.parametrize("P", [14, 20, 26])
def test_cover(P):
    """The share of separable dichotomies; one half at P = 2 N. Four standard errors of 300."""
    N, draws = 10, 300
    rng = np.random.RandomState(P)
    hits = sum(
        is_separable(*make_random_patterns(P, N, inputs="normal", random_state=rng), False)
        for _ in range(draws)
    )
    p = cover(P, N)
    assert abs(hits / draws - p) < 4 * np.sqrt(p * (1 - p) / draws)


def test_the_count_is_one_half_at_twice_the_inputs():
    assert [cover(2 * N, N) for N in (1, 2, 10, 50)] == [0.5] * 4
    assert cover(10, 10) == 1.0


@pytest.mark.parametrize("given", ["free", "clamped", 1, None])
def test_threshold_must_be_a_truth_value(given):
    with pytest.raises(ValueError, match=r"fit_intercept=.* must be True or False"):
        is_separable(XOR, [0, 1, 1, 1], fit_intercept=given)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan], [1.0]], [0, 1], "NaN"),
        ([[0.0], [1.0]], [0.5, 1.7], "Unknown label type"),
        ([[0.0], [1.0]], [0], "inconsistent"),
        ([0.0, 1.0], [0, 1], "2D"),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        is_separable(X, y)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 7), st.integers(1, 3)),
        elements=st.floats(-1e308, 1e308) | st.sampled_from([0.0, 1e-320, -1e-320, 1.0, 1e300]),
    ),
    st.booleans(),
)
def test_any_numbers(X, fit_intercept):
    """An answer without a warning, for whatever doubles; a gap in one column is always seen."""
    y = np.arange(len(X)) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        is_separable(X, y, fit_intercept)
        X[:, 0] = np.where(y == 1, 1e10, -1e10)
        assert is_separable(X, y, fit_intercept)


@given(whole_numbers(), st.integers(0, 12))
def test_without_the_samples_in_the_way_the_rest_is_separable(data, power):
    X, y = data
    X = X + 10.0**power
    wrong = samples_in_the_way(X, y.astype(float))
    assert (len(wrong) == 0) == exactly(X - 10.0**power, y, True)
    kept = np.delete(np.arange(len(X)), wrong)
    assert len(kept) == 0 or exactly(X[kept] - 10.0**power, y[kept], True)


def test_scaling_loses_no_digit(rng):
    """Powers of two: the differences of rows are the same numbers but for a factor."""
    X = np.float64(rng.randint(-(2**20), 2**20, (9, 3)))
    moved = scale_columns(X + 2.0**40, True)
    factors = X.std(axis=0) / moved[:, :3].std(axis=0)
    assert_array_equal(moved[:, :3] * 2.0 ** np.rint(np.log2(factors)), X - np.sort(X, axis=0)[4])
    assert_array_equal(moved[:, 3], 1.0)
