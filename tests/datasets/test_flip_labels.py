"""flip_labels changes exactly the share it is asked for, to other classes, uniformly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.datasets import flip_labels


@given(
    codes=st.lists(st.integers(0, 4), min_size=2, max_size=60),
    fraction=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_exactly_the_share_changes(codes, fraction, seed):
    y = np.array(["ant", "bee", "cat", "dog", "elk"])[[0, 1, *codes]]
    before = y.copy()
    noisy = flip_labels(y, fraction, random_state=seed)
    assert (noisy != y).sum() == round(fraction * len(y))
    assert set(noisy) <= set(y)
    assert noisy.dtype == y.dtype
    assert noisy.shape == y.shape
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(noisy, flip_labels(y, fraction, random_state=seed))


def test_every_other_class_is_equally_likely():
    y = np.repeat([0, 1, 2, 3], 5000)
    noisy = flip_labels(y, 1.0, random_state=0)
    for label in range(4):
        reached = np.bincount(noisy[y == label], minlength=4)
        assert reached[label] == 0
        # Each of the three others: 5000 / 3 with a standard deviation of 33.
        np.testing.assert_allclose(np.delete(reached, label), 5000 / 3, atol=150)


def test_every_row_is_equally_likely():
    changed = [
        flip_labels([0, 1] * 5, 0.1, random_state=seed) != [0, 1] * 5 for seed in range(2000)
    ]
    np.testing.assert_allclose(np.sum(changed, axis=0), 200, atol=60)


@pytest.mark.parametrize(
    "y", [["a", "b", "a", "b"], [1.5, 2.5, 1.5, 2.5], np.array(["a", "b"] * 2, dtype=object)]
)
def test_kinds_of_labels(y):
    noisy = flip_labels(y, 0.5, random_state=0)
    assert (noisy != np.asarray(y)).sum() == 2
    assert isinstance(noisy, np.ndarray)


def test_nothing_to_change():
    y = np.array([1, 1, 1])
    noisy = flip_labels(y, 0.0)
    assert noisy.tolist() == [1, 1, 1]
    assert noisy is not y
    assert flip_labels([], 0.5).shape == (0,)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan"), "0.1", None, True])
def test_bad_fraction(fraction):
    with pytest.raises(ValueError, match=r"fraction=.* must be a finite number in \[0, 1\]"):
        flip_labels([0, 1], fraction)


def test_bad_labels():
    with pytest.raises(ValueError, match="only the class 'a'"):
        flip_labels(["a", "a"], 0.5)
    with pytest.raises(ValueError, match=r"y has shape \(1, 2\)"):
        flip_labels([[0, 1]], 0.5)
