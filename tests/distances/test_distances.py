"""Distances: the contract, the block forms, and data far from the origin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

import custom_axes
import reference
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import (
    Free,
    PartialSquaredEuclidean,
    SparseSquaredEuclidean,
    SquaredEuclidean,
    UnitNorm,
)

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


@pytest.mark.parametrize(
    "distance",
    [SquaredEuclidean(), PartialSquaredEuclidean(), *CUSTOM],
    ids=lambda d: type(d).__name__,
)
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
        constraint.constrain(row, 5)
    np.testing.assert_allclose(step, theta)  # what it made, it leaves
    numeric = reference.numeric_gradient(lambda z: float((g * constraint.apply(z)).sum()), a)
    np.testing.assert_allclose(constraint.pull_back(a, g), numeric, atol=1e-8)


def with_holes(X, rng, share=0.3):
    """Remove values at random; every row keeps one."""
    X = np.array(X)
    holes = rng.uniform(size=X.shape) < share
    holes[np.arange(len(X)), rng.randint(X.shape[1], size=len(X))] = False
    X[holes] = np.nan
    return X


@given(
    n=st.integers(1, 20),
    d=st.integers(1, 9),
    K=st.integers(1, 9),
    seed=st.integers(0, 99),
    share=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    shift=st.sampled_from([0.0, 1.0, 1e4, -1e6]),
    size=st.sampled_from([1e-100, 1.0, 1e100]),
)
def test_partial_distance_is_the_formula(n, d, K, seed, share, shift, size):
    rng = np.random.RandomState(seed)
    X = (with_holes(rng.standard_normal((n, d)), rng, share) + shift) * size
    W = (rng.standard_normal((K, d)) + shift) * size
    expected = reference.partial_squared_euclidean(X, W)
    book = codebook(W)
    D = PartialSquaredEuclidean().pairwise(X, book)
    atol = 1e-15 * (1 + abs(shift)) * size**2 * d * 20
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=atol)
    assert (D >= 0).all()
    winner, value = PartialSquaredEuclidean().nearest(X, book)
    assert np.isfinite(value).all()
    rows = np.arange(n)
    np.testing.assert_allclose(expected[rows, winner], expected.min(axis=1), 1e-12, atol)


def test_partial_pair_and_gradient_are_the_formula(rng):
    X, W = with_holes(rng.standard_normal((20, 6)), rng, 0.6), rng.standard_normal((20, 6))
    for x, w in zip(X, W, strict=True):
        nothing, gw = np.empty(0), np.zeros(6)
        value = PartialSquaredEuclidean.pair(x, w, nothing)
        np.testing.assert_allclose(value, reference.partial_pair(x, w), rtol=1e-13)
        PartialSquaredEuclidean.gradient(x, w, nothing, gw, nothing.copy())
        np.testing.assert_allclose(gw, reference.partial_gradient(x, w), rtol=1e-13)


def test_partial_distance_passes_the_checks_on_incomplete_rows(rng):
    X = rng.uniform(0.1, 1.0, (40, 5))
    X[:-4] = with_holes(X[:-4], rng)  # the last four rows are the prototypes of the check
    check_distance(PartialSquaredEuclidean(), X)


def test_complete_rows_have_the_ordinary_distance(rng):
    X, W = rng.standard_normal((30, 5)) + 10.0, rng.standard_normal((7, 5)) + 10.0
    plain, partial = SquaredEuclidean(), PartialSquaredEuclidean()
    expected = plain.pairwise(X, codebook(W))
    np.testing.assert_allclose(partial.pairwise(X, codebook(W)), expected, rtol=1e-12)
    holes = np.vstack([X, with_holes(X, rng)])
    np.testing.assert_allclose(partial.pairwise(holes, codebook(W))[:30], expected, rtol=1e-12)
    G, gradients = rng.standard_normal((30, 7)), [codebook(W).zero_gradients() for _ in range(2)]
    for distance, out in zip((plain, partial), gradients, strict=True):
        distance.pull_rows(X, codebook(W), G, out)
    np.testing.assert_allclose(gradients[1].prototypes, gradients[0].prototypes, atol=1e-10)


def test_partial_distance_in_single_precision(rng):
    X, W = with_holes(rng.standard_normal((50, 7)), rng), rng.standard_normal((4, 7))
    D = PartialSquaredEuclidean().pairwise(X.astype(np.float32), codebook(W))
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, reference.partial_squared_euclidean(X, W), rtol=1e-4)


def pulls(distance, X, W, G):
    """Give the gradient of ``sum G * D`` by all rows, and by two entries of each row."""
    book = codebook(W)
    whole, some = book.zero_gradients(), book.zero_gradients()
    distance.pull_rows(X, book, G, whole)
    index = np.argsort(-G, axis=1)[:, :2].copy()
    distance.pull_winners(X, book, index, np.take_along_axis(G, index, axis=1), some)
    two = np.zeros_like(G)
    np.put_along_axis(two, index, np.take_along_axis(G, index, axis=1), axis=1)
    return (whole.prototypes, G), (some.prototypes, two)


def test_partial_pull_is_the_formula(rng):
    X = with_holes(rng.standard_normal((30, 4)) + 5.0, rng, 0.5)
    W, G = rng.standard_normal((5, 4)) + 5.0, rng.standard_normal((30, 5))
    for got, factor in pulls(PartialSquaredEuclidean(), X, W, G):
        expected = reference.numeric_gradient(
            lambda V, F=factor: float((F * reference.partial_squared_euclidean(X, V)).sum()), W
        )
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_distance_is_the_formula(rng, kind):
    X = rng.standard_normal((30, 4)) * (rng.uniform(size=(30, 4)) < 0.5)
    X[3] = 0.0
    W, G = rng.standard_normal((5, 4)), rng.standard_normal((30, 5))
    distance, S = SparseSquaredEuclidean(), kind(X)
    expected = reference.squared_euclidean(X, W)
    prepared = distance.prepare(S, codebook(W))
    for D in (distance.pairwise(S, codebook(W)), distance.pairwise(S, codebook(W), prepared)):
        assert isinstance(D, np.ndarray)
        np.testing.assert_allclose(D, expected, rtol=1e-12, atol=1e-13)
    assert (distance.nearest(S, codebook(W))[0] == expected.argmin(axis=1)).all()
    terms = distance.terms(S[:5], codebook(W), np.arange(5))
    np.testing.assert_allclose(terms, (X[:5] - W) ** 2)
    for got, factor in pulls(distance, S, W, G):
        numeric = reference.numeric_gradient(
            lambda V, F=factor: float((F * reference.squared_euclidean(X, V)).sum()), W
        )
        np.testing.assert_allclose(got, numeric, rtol=1e-6, atol=1e-6)


def test_forms_of_the_squared_euclidean_distance(rng):
    X = rng.standard_normal((6, 3))
    distance = SquaredEuclidean()
    assert type(distance.suited_to(X)) is SquaredEuclidean
    assert type(distance.suited_to(with_holes(X, rng, 1.0))) is PartialSquaredEuclidean
    assert type(distance.suited_to(sparse.csr_array(X))) is SparseSquaredEuclidean


def test_every_form_leads_to_the_form_that_suits(rng):
    X = rng.standard_normal((6, 3))
    W = rng.standard_normal((2, 3))
    expected = reference.squared_euclidean(X, W)
    for distance in (SquaredEuclidean(), PartialSquaredEuclidean(), SparseSquaredEuclidean()):
        assert type(distance.suited_to(sparse.csr_array(X))) is SparseSquaredEuclidean
        for rows in (sparse.csr_array(X), X):
            D = distance.suited_to(rows).pairwise(rows, codebook(W))
            np.testing.assert_allclose(D, expected, rtol=1e-9)


class Halved(custom_axes.City):
    """Has a form for rows with missing values, and one for sparse rows."""

    sparse_form, missing_form = SparseSquaredEuclidean, PartialSquaredEuclidean


def test_another_formula_does_not_inherit_the_forms_of_its_parent():
    """Otherwise rows with a hole, or sparse ones, would silently have another distance."""
    with pytest.raises(TypeError, match="Other redefines pair and inherits missing_form from Halv"):

        class Other(Halved):
            pair, sparse_form = custom_axes.LogCosh.pair, None


@pytest.mark.parametrize("distance", CUSTOM, ids=lambda d: type(d).__name__)
def test_a_distance_without_a_form_says_so(distance, rng):
    X, name = rng.standard_normal((6, 3)), type(distance).__name__
    with pytest.raises(ValueError, match=f"{name} does not take missing values; impute"):
        distance.suited_to(with_holes(X, rng, 1.0))
    with pytest.raises(ValueError, match=rf"{name} does not take sparse matrices; give X\.toarray"):
        distance.suited_to(sparse.csr_array(X))
