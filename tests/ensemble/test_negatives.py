"""The first negatives of exemplars against a plain loop over algorithm 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from protolearn.ensemble import members
from protolearn.ensemble.members import choose_negatives


def plain(X, codes, k):
    """Algorithm 2, with exact differences; of equally near rows the first."""
    chosen = []
    for i in range(len(X)):
        others = [j for j in range(len(X)) if codes[j] != codes[i]]
        others.sort(key=lambda j: (((X[j] - X[i]) ** 2).sum(), j))
        apart = [j for j in others if (X[j] != X[i]).any()]
        if not apart:
            chosen.append(sorted(others[:k]))
            continue
        n = X[apart[0]] - X[i]
        chosen.append(sorted([j for j in apart if n @ (X[j] - X[i]) > 0][:k]))
    return chosen


def sets(pairs, n):
    exemplar, negative = pairs
    return [negative[exemplar == i].tolist() for i in range(n)]


# Small integers: distances, products and ties are exact, and many rows lie at the same place
@given(
    arrays(np.int64, st.tuples(st.integers(2, 14), st.integers(1, 3)), elements=st.integers(-2, 2)),
    st.integers(2, 4),
    st.integers(1, 8),
    st.integers(0, 1000),
)
def test_negatives_are_those_of_algorithm_2(X, n_classes, k, seed):
    codes = np.random.RandomState(seed).randint(0, n_classes, len(X))
    codes[:2] = 0, 1
    X = X.astype(float)
    found = sets(choose_negatives(X, codes, k), len(X))
    assert found == plain(X, codes, k)


@pytest.mark.parametrize("k", [1, 7, 200])
def test_rows_in_general_position(rng, k):
    X, codes = rng.normal(size=(150, 4)), rng.randint(0, 3, 150)
    found = sets(choose_negatives(X, codes, k), 150)
    assert found == plain(X, codes, k)
    assert all(1 <= len(chosen) <= k for chosen in found)
    assert (max(map(len, found)) == k) == (k < 100)


def test_pairs_come_by_exemplar_and_then_by_row(rng):
    X, codes = rng.normal(size=(60, 2)), rng.randint(0, 2, 60)
    exemplar, negative = choose_negatives(X, codes, 5)
    assert_array_equal(np.lexsort([negative, exemplar]), np.arange(len(exemplar)))


@pytest.mark.parametrize("size", [1, 3, 32, 1000])
def test_the_size_of_a_block_does_not_matter(rng, monkeypatch, size):
    X = rng.randint(-3, 4, size=(101, 2)).astype(float)  # exact, so that ties stay ties
    codes = rng.randint(0, 3, 101)
    whole = choose_negatives(X, codes, 6)
    monkeypatch.setattr(members, "rows_at_a_time", lambda width: size)
    for part, expected in zip(choose_negatives(X, codes, 6), whole, strict=True):
        assert_array_equal(part, expected)


def test_a_negative_at_the_place_of_the_exemplar_shows_no_direction():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [-2.0, 0.0], [3.0, 3.0]])
    codes = np.array([0, 1, 1, 1, 1])
    assert sets(choose_negatives(X, codes, 5), 5)[0] == [2, 4]


def test_if_all_negatives_are_at_its_place_some_of_them_are_taken():
    X, codes = np.ones((6, 2)), np.array([0, 0, 1, 1, 1, 1])
    found = sets(choose_negatives(X, codes, 3), 6)
    assert found == [[2, 3, 4]] * 2 + [[0, 1]] * 4


@given(st.integers(0, 10**6))
def test_an_exemplar_can_be_separated_from_its_negatives(seed):
    rng = np.random.RandomState(seed)
    X, codes = rng.normal(size=(25, 3)), np.arange(25) % 2
    exemplar, negative = choose_negatives(X, codes, 7)
    for i in range(25):
        Z = X[negative[exemplar == i]] - X[i]
        nearest = Z[(Z**2).sum(axis=1).argmin()]
        assert (Z @ nearest > 0).all()
