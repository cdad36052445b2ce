"""The Minkowski distance: SciPy's numbers, its gradient, and data of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reference
from protolearn import LVQ1, PrototypeClassifier
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import Minkowski

EXPONENTS = [1, 1.0, 1.3, 2.0, 3, 7.5, 300.0, np.inf]


def book(distance, X, W):
    n, K = len(X), len(W)
    theta = distance.initial(X, np.zeros(n, dtype=np.intp), np.ones(n), 1)
    return Codebook(W, np.arange(K), theta, np.zeros(K, dtype=np.intp), W.mean(axis=0))


def oracle(X, W, p):
    return cdist(X, W, "chebyshev") if p == np.inf else cdist(X, W, "minkowski", p=p)


@pytest.mark.parametrize("p", EXPONENTS)
def test_checks(p):
    check_distance(Minkowski(p))


@given(
    n=st.integers(1, 20),
    d=st.integers(1, 9),
    K=st.integers(1, 9),
    seed=st.integers(0, 99),
    p=st.one_of(st.sampled_from([1.0, 2.0, np.inf]), st.floats(1.0, 20.0)),
    size=st.sampled_from([1e-250, 1e-100, 1.0, 1e100, 1e250]),
)
def test_distances_are_those_of_scipy_at_any_size(n, d, K, seed, p, size):
    rng = np.random.RandomState(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((K, d))
    X[0] = W[0]  # a sample on a prototype
    distance = Minkowski(p)
    codebook = book(distance, size * X, size * W)
    expected = size * oracle(X, W, p)
    D = distance.pairwise(size * X, codebook)
    rounding = 4e-16 * size * max(np.abs(X).max(), np.abs(W).max()) * d  # of size * X and size * W
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=rounding)
    assert D[0, 0] == 0.0
    for k in range(K):
        value = distance.pair(size * X[-1], codebook.prototypes[k], codebook.metric[0])
        np.testing.assert_allclose(value, expected[-1, k], rtol=1e-12, atol=rounding)


@given(
    d=st.integers(1, 9),
    seed=st.integers(0, 99),
    p=st.one_of(st.just(2.0), st.floats(1.05, 20.0)),
    size=st.sampled_from([1e-250, 1.0, 1e250]),
)
def test_gradient_is_the_derivative_at_any_size(d, seed, p, size):
    """It has no unit: the same at every size. Its dual norm is one."""
    rng = np.random.RandomState(seed)
    x, w = rng.standard_normal((2, d))
    theta, gw = np.array([p]), np.zeros(d)
    Minkowski.gradient(size * x, size * w, theta, gw, np.zeros(1))
    numeric = reference.numeric_gradient(lambda v: np.linalg.norm(x - v, p), w)
    np.testing.assert_allclose(gw, numeric, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(gw, p / (p - 1.0)), 1.0, rtol=1e-10)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 0.0])  # 0 stands for infinity
def test_gradient_is_zero_on_the_sample(p):
    x, gw = np.array([1.0, 2.0]), np.zeros(2)
    Minkowski.gradient(x, x.copy(), np.array([p]), gw, np.zeros(1))
    assert (gw == 0.0).all()


def test_kinks_have_a_subgradient():
    x, w, gw = np.array([0.0, 0.0, 0.0]), np.array([3.0, -4.0, 0.0]), np.zeros(3)
    Minkowski.gradient(x, w, np.array([1.0]), gw, np.zeros(1))
    assert gw.tolist() == [1.0, -1.0, 0.0]
    gw[:] = 0.0
    Minkowski.gradient(x, w, np.array([0.0]), gw, np.zeros(1))
    assert gw.tolist() == [0.0, -1.0, 0.0]


@pytest.mark.parametrize("p", EXPONENTS)
def test_terms(rng, p):
    """They add up; for p = 1 they are the differences, for p = inf the largest one."""
    X, W = rng.standard_normal((9, 4)), rng.standard_normal((3, 4))
    X[0] = W[0]
    distance, nearest = Minkowski(p), np.arange(9) % 3
    terms = distance.terms(X, book(distance, X, W), nearest)
    e = np.abs(X - W[nearest])
    np.testing.assert_allclose(terms.sum(axis=1), np.linalg.norm(e, p, axis=1), rtol=1e-12)
    assert (terms >= 0.0).all()
    if p == 1:
        np.testing.assert_allclose(terms, e)
    if p == np.inf:
        assert ((terms > 0.0).sum(axis=1) == [0] + [1] * 8).all()


@pytest.mark.parametrize("bad", [0.5, 0, -np.inf, np.nan, "2", None, True, [2.0]])
def test_a_bad_exponent_is_an_error(iris, bad):
    with pytest.raises(ValueError, match=r"p=.* of Minkowski must be np\.inf, or it must be a"):
        PrototypeClassifier(distance=Minkowski(bad)).fit(*iris)


def test_kinks_need_a_solver_that_takes_them(iris):
    assert [Minkowski(p).smooth for p in (1, 1.5, 2.0, np.inf)] == [False, True, True, False]
    for p in (1, np.inf):
        with pytest.raises(ValueError, match="smooth"):
            PrototypeClassifier(distance=Minkowski(p), solver="lbfgs").fit(*iris)
        assert PrototypeClassifier(distance=Minkowski(p)).fit(*iris).solver_ == "sgd"


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_fits_do_not_depend_on_the_unit(iris, p, size):
    X, y = iris
    for model in (
        LVQ1(distance=Minkowski(p), random_state=0),
        PrototypeClassifier(distance=Minkowski(p), random_state=0),
    ):
        expected = model.fit(X, y).prototypes_.copy()
        model.fit(size * X, y)
        np.testing.assert_allclose(model.prototypes_ / size, expected, rtol=1e-5, atol=1e-6)
        assert model.score(size * X, y) > 0.8


def test_two_is_the_euclidean_distance(iris):
    """The root changes no order: the same winners, and the hypothesis margin is the same cost."""
    X, y = iris
    models = [
        PrototypeClassifier(
            distance=distance, margin="hypothesis", solver="lbfgs", scale=1.0, tol=1e-7
        )
        for distance in ("sqeuclidean", "minkowski")
    ]
    first, second = (model.fit(X, y) for model in models)
    np.testing.assert_allclose(first.loss_curve_[0], second.loss_curve_[0], rtol=0.05)
    np.testing.assert_allclose(first.loss_curve_[-1], second.loss_curve_[-1], rtol=1e-3)
    np.testing.assert_allclose(np.sqrt(first.distances(X)), second.distances(X), atol=0.05)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_stream_that_begins_with_one_row(iris, unit):
    """The first row tells no length; steps must not be in the units of the data."""
    X, y = iris
    order = np.random.RandomState(0).permutation(len(X))
    model = PrototypeClassifier(distance="minkowski", random_state=0)
    model.partial_fit(unit * X[:1], y[:1], classes=np.unique(y))
    for start in list(range(0, len(X), 30)) * 10:
        rows = order[start : start + 30]
        model.partial_fit(unit * X[rows], y[rows])
    assert model.score(unit * X, y) > 0.85
