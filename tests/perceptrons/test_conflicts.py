"""Conflicts, against linear programs for all choices and exact elimination."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from protolearn.perceptrons.pocket import Conflicts, Undecided, fewest_errors
from reference import separable


def mirrored(rows, signs, threshold):
    """Give ``y_i x_i``, whole numbers if the rows are."""
    rows = np.column_stack([rows, np.ones(len(rows), rows.dtype)]) if threshold else rows
    return signs[:, None].astype(rows.dtype) * rows


def least(Z):
    """Leave out ever more rows until a hyperplane has the others on its positive side, exactly."""
    for errors in range(len(Z)):
        if any(separable(Z[list(kept)]) for kept in combinations(range(len(Z)), len(Z) - errors)):
            return errors
    return len(Z)


@st.composite
def small_sets(draw):
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    rows = draw(arrays(np.int64, shape, elements=st.integers(-2, 2)))
    signs = draw(arrays(np.float64, shape[0], elements=st.sampled_from([-1.0, 1.0])))
    return rows, signs


@given(small_sets(), st.booleans(), st.integers(-300, 300))
def test_the_fewest_errors(data, threshold, power):
    """Whatever the units are; powers of two lose no digit."""
    rows, signs = data
    Z = mirrored(rows, signs, threshold)
    fewest = least(Z)
    right, certain = fewest_errors(np.ldexp(rows, power), signs, threshold, len(Z) + 1)
    assert certain
    assert np.count_nonzero(~right) == fewest
    assert not right.any() or separable(Z[right])
    assert fewest_errors(np.ldexp(rows, power), signs, threshold, fewest) == (None, True)


@given(small_sets(), st.booleans())
def test_a_conflict_is_none_without_any_of_its_members(data, threshold):
    rows, signs = data
    members = Conflicts(rows, signs, threshold)._conflict(np.ones(len(rows), bool))
    Z = mirrored(rows, signs, threshold)
    assert (members.size == 0) == separable(Z)
    if members.size:
        assert members.size <= np.linalg.matrix_rank(Z) + 1
        assert not separable(Z[members])
        for member in members:
            others = Z[members[members != member]]
            assert not len(others) or separable(others)


def test_known_conflicts():
    board, signs = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1.0, 1.0, -1.0, -1.0])
    assert_array_equal(Conflicts(board, signs, True)._conflict(np.ones(4, bool)), range(4))
    twice, signs = np.array([[1, 2], [5, 0], [1, 2]]), np.array([1.0, 1.0, -1.0])
    assert_array_equal(Conflicts(twice, signs, True)._conflict(np.ones(3, bool)), [0, 2])
    origin = np.array([[0, 0], [1, 1]])
    assert_array_equal(Conflicts(origin, np.ones(2), False)._conflict(np.ones(2, bool)), [0])
    assert Conflicts(origin, np.ones(2), True)._conflict(np.zeros(2, bool)).size == 0


def test_it_gives_up_in_the_end(rng):
    rows, signs = rng.standard_normal((30, 2)), rng.choice([-1.0, 1.0], 30)
    right, certain = fewest_errors(rows, signs, True, 30)
    assert not certain
    assert right is None or separable(mirrored(rows, signs, True)[right])
    right, certain = fewest_errors(rows[:12], signs[:12], True, 12)
    assert certain
    with pytest.raises(Undecided):
        Conflicts(rows[:12], signs[:12], True, programs=2).without(np.count_nonzero(~right))
