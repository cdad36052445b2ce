"""Distances: the contract, the block forms, and data far from the origin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import custom_axes
import reference
from protolearn._parameters import Codebook
from protolearn.checks import check_distance
from protolearn.distances import Free, SquaredEuclidean, UnitNorm

CUSTOM = [
    custom_axes.LogCosh(),
    custom_axes.City(),
    custom_axes.Relevances(),
    custom_axes.LocalRelevances(),
]


def codebook(W, theta=None):
    K = len(W)
    theta = np.zeros((1, 0)) if theta is None else theta
    labels = np.arange(K) % 2
    return Codebook(W, labels, theta, np.zeros(K, dtype=np.intp), W.mean(axis=0))


@pytest.mark.parametrize("distance", [SquaredEuclidean(), *CUSTOM], ids=lambda d: type(d).__name__)
def test_checks(distance):
    check_distance(distance)


@given(
    n=st.integers(1, 30),
    d=st.integers(1, 9),
    K=st.integers(1, 9),
    seed=st.integers(0, 99),
    shift=st.sampled_from([0.0, 1.0, 1e4, -1e6]),
    size=st.sampled_from([1e-100, 1.0, 1e100]),
)
def test_squared_euclidean_keeps_its_digits(n, d, K, seed, shift, size):
    rng = np.random.RandomState(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((K, d))
    expected = reference.squared_euclidean((X + shift) * size, (W + shift) * size)
    D = SquaredEuclidean().pairwise((X + shift) * size, codebook((W + shift) * size))
    # Relative to the spread of the data, not to the distance itself: a product cannot do better.
    spread = size**2 * d * 20
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=1e-15 * (1 + abs(shift)) * spread)
    assert (D >= 0).all()


def test_single_precision_stays_single(rng):
    X, W = rng.standard_normal((50, 7)), rng.standard_normal((4, 7))
    D = SquaredEuclidean().pairwise(X.astype(np.float32), codebook(W))
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, cdist(X, W, "sqeuclidean"), rtol=1e-4)


def test_nearest_is_the_smallest_distance(rng):
    X, W = rng.standard_normal((200, 7)) + 100.0, rng.standard_normal((11, 7)) + 100.0
    winner, _ = SquaredEuclidean().nearest(X, codebook(W))
    assert (winner == cdist(X, W).argmin(axis=1)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_shows(rng, bad):
    for W in (rng.standard_normal((5, 3)), np.zeros((2, 3))):
        X = rng.standard_normal((4, 3))
        X[2, 1] = bad
        with np.errstate(invalid="ignore"):
            _, value = SquaredEuclidean().nearest(X, codebook(W))
        assert np.isfinite(value).tolist() == [True, True, False, True]


def test_pull_is_the_formula(rng):
    X, W, G = (
        rng.standard_normal((30, 4)),
        rng.standard_normal((5, 4)),
        rng.standard_normal((30, 5)),
    )
    book = codebook(W)
    out = book.zero_gradients()
    SquaredEuclidean().pull_rows(X, book, G, out)
    expected = reference.numeric_gradient(
        lambda V: float((G * reference.squared_euclidean(X, V)).sum()), W
    )
    np.testing.assert_allclose(out.prototypes, expected, rtol=1e-6, atol=1e-6)


def test_relevances_are_the_formula(rng):
    X, W, lam = rng.standard_normal((9, 4)), rng.standard_normal((3, 4)), rng.dirichlet(np.ones(4))
    D = custom_axes.Relevances().pairwise(X, codebook(W, np.sqrt(lam)[None]))
    np.testing.assert_allclose(D, reference.relevance(X, W, lam))


@pytest.mark.parametrize("constraint", [Free(), UnitNorm()])
def test_constraints(rng, constraint):
    a, g = rng.standard_normal((3, 5)), rng.standard_normal((3, 5))
    theta = constraint.apply(a)
    step = theta.copy()
    for row in step:
        constraint.constrain(row)
    np.testing.assert_allclose(step, theta)  # what it made, it leaves
    numeric = reference.numeric_gradient(lambda z: float((g * constraint.apply(z)).sum()), a)
    np.testing.assert_allclose(constraint.pull_back(a, g), numeric, atol=1e-8)
