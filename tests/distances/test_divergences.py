"""Divergences: SciPy's numbers, gradients, zeros, and prototypes that stay positive."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import kl_div, logsumexp, xlogy
from scipy.stats import entropy
from sklearn.datasets import load_digits, load_iris

import reference
from protolearn import LVQ1, PrototypeClassifier
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import CauchySchwarz, FeatureTerms, KullbackLeibler, Renyi

ORDERS = [0.1, 0.5, 0.999999, 1.0001, 2, 30.0, 1000.0]
ALL = [KullbackLeibler(), CauchySchwarz(), *map(Renyi, ORDERS)]


def book(distance, X, W):
    n, K = len(X), len(W)
    theta = distance.initial(X, np.zeros(n, dtype=np.intp), np.ones(n), 1)
    return Codebook(W, np.arange(K), theta, np.zeros(K, dtype=np.intp), W.mean(axis=0))


def counts(seed, n, d, K, size=1.0):
    """Make rows with zeros, none of which is zero everywhere, and positive prototypes."""
    rng = np.random.RandomState(seed)
    X = rng.poisson(1.0, (n, d)).astype(float)
    X[np.arange(n), rng.randint(d, size=n)] += 1.0
    return size * X, size * rng.uniform(0.1, 3.0, (K, d))


def renyi(x, w, order):
    """Give the formula, sums by their logarithms."""
    p, q = x[x > 0.0] / x.sum(), w[x > 0.0] / w.sum()
    return logsumexp(order * np.log(p) + (1.0 - order) * np.log(q)) / (order - 1.0)


def formula(distance, X, W):
    if isinstance(distance, KullbackLeibler):
        return np.array([[kl_div(x, w).sum() for w in W] for x in X])
    if isinstance(distance, CauchySchwarz):
        return -np.log(1.0 - cdist(X, W, "cosine"))
    return np.array([[renyi(x, w, float(distance.alpha)) for w in W] for x in X])


SIZES = st.sampled_from([1e-100, 1.0, 1e100])


@pytest.mark.parametrize("distance", ALL, ids=repr)
def test_checks(distance):
    check_distance(distance)
    X, W = counts(0, 20, 5, 4)
    check_distance(distance, np.vstack([X, W]))


@given(
    n=st.integers(1, 9),
    d=st.integers(1, 9),
    K=st.integers(1, 5),
    seed=st.integers(0, 99),
    size=SIZES,
    distance=st.sampled_from(ALL),
)
def test_divergences_are_those_of_scipy(n, d, K, seed, size, distance):
    X, W = counts(seed, n, d, K)
    expected = formula(distance, X, W)
    digits = 1e-14 / abs(distance.alpha - 1.0) if isinstance(distance, Renyi) else 1e-13
    rounding = 1e-15 * (1.0 + abs(np.log(size)))  # of the logarithms that are subtracted
    if isinstance(distance, Renyi):  # and divided by alpha - 1
        rounding = max(rounding, 2e-16 * (1.0 + abs(np.log(size))) / abs(distance.alpha - 1.0))
    if isinstance(distance, KullbackLeibler):
        expected = expected * size  # the others do not know the size
        rounding = 0.0  # it has no logarithm of a size
    atol = max(max(digits, 1e-13) * max(expected.max(), 1e-3), rounding)
    tolerance = {"rtol": 1e-9, "atol": atol}
    codebook = book(distance, size * X, size * W)
    D = distance.pairwise(size * X, codebook)
    prepared = distance.prepare(size * X, codebook)
    np.testing.assert_allclose(D, expected, **tolerance)
    np.testing.assert_allclose(distance.pairwise(size * X, codebook, prepared), D, rtol=1e-12)
    assert (D >= 0.0).all()
    for k in range(K):
        value = distance.pair(size * X[0], size * W[k], codebook.metric[0])
        np.testing.assert_allclose(value, expected[0, k], **tolerance)


@given(seed=st.integers(0, 99), distance=st.sampled_from(ALL[:-1]))
def test_pulls_are_the_formula(seed, distance):
    X, W = counts(seed, 9, 4, 3)
    G = np.random.RandomState(seed).standard_normal((9, 3))
    codebook = book(distance, X, W)
    if isinstance(distance, Renyi) and abs(distance.alpha - 1.0) < 1e-3:
        near = KullbackLeibler()  # whose digits the formula at this order does not have

        def value(V):
            P, Q = X / X.sum(axis=1, keepdims=True), V / V.sum(axis=1, keepdims=True)
            return float((G * formula(near, P, Q)).sum())
    else:

        def value(V):
            return float((G * formula(distance, X, V)).sum())

    numeric = reference.numeric_gradient(value, W)
    kept = distance.forward(X, codebook)[1]
    index = np.ascontiguousarray(np.broadcast_to(np.arange(3), G.shape))
    for again in (None, kept):
        whole, some = codebook.zero_gradients(), codebook.zero_gradients()
        distance.pull_rows(X, codebook, G, whole, again)
        distance.pull_winners(X, codebook, index, G, some, again)
        for out in (whole, some):
            np.testing.assert_allclose(out.prototypes, numeric, rtol=1e-3, atol=1e-3)


def test_near_one_renyi_is_the_relative_entropy():
    X, W = counts(0, 1, 6, 1)
    expected = entropy(X[0], W[0])
    for order in (1.0 - 1e-9, 1.0 + 1e-9):
        value = Renyi.pair(X[0], W[0], np.array([0.0, order]))
        np.testing.assert_allclose(value, expected, rtol=1e-7)
        distance = Renyi(order)
        D = distance.pairwise(X, book(distance, X, W))
        np.testing.assert_allclose(D, expected, rtol=1e-7)


def test_renyi_of_one_half_is_the_bhattacharyya_coefficient():
    X, W = counts(1, 7, 6, 3)
    P, Q = X / X.sum(axis=1, keepdims=True), W / W.sum(axis=1, keepdims=True)
    expected = -2.0 * np.log(np.sqrt(P) @ np.sqrt(Q).T)
    np.testing.assert_allclose(Renyi().pairwise(X, book(Renyi(), X, W)), expected, rtol=1e-12)


def test_the_sample_comes_first():
    """The divergence of x from w is not that of w from x."""
    X, W = counts(2, 3, 5, 3)
    X += 0.1
    for distance in (KullbackLeibler(), Renyi(2.0)):
        D, back = (distance.pairwise(A, book(distance, A, B)) for A, B in ((X, W), (W, X)))
        assert np.abs(D - back.T).max() > 0.1


def test_terms_of_kullback_leibler():
    X, W = counts(3, 6, 5, 2)
    distance, nearest = KullbackLeibler(), np.arange(6) % 2
    terms = distance.terms(X, book(distance, X, W), nearest)
    np.testing.assert_allclose(terms, kl_div(X, W[nearest]), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(terms, xlogy(X, X / W[nearest]) - X + W[nearest])
    assert not isinstance(CauchySchwarz(), FeatureTerms)


@pytest.mark.parametrize("distance", [KullbackLeibler(), CauchySchwarz(), Renyi(), Renyi(3.0)])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_stride_leads_to_a_sample_nearby(rng, distance, size):
    """Where all entries are alike; a change of the sum counts for the first alone."""
    w = np.full((1, 8), size)
    change = rng.standard_normal(8)
    x = w + 1e-5 * size * (change - change.mean())
    codebook, gw = book(distance, x, w), np.zeros(8)
    distance.gradient(x[0], w[0], codebook.metric[0], gw, np.zeros(2))
    step = 0.5 * distance.stride(codebook) * gw
    np.testing.assert_allclose(w[0] - step, x[0], rtol=1e-9)


@pytest.mark.parametrize("distance", [KullbackLeibler(), CauchySchwarz(), Renyi()])
def test_the_floor(distance):
    X, _ = counts(4, 20, 5, 1)
    weight = np.random.RandomState(0).randint(1, 4, 20)
    y = np.zeros(20, dtype=np.intp)
    floor = distance.initial(X, y, weight.astype(float), 1)[0, 0]
    np.testing.assert_allclose(floor, 1e-3 * np.repeat(X, weight, axis=0).mean())
    for zeros in (np.zeros((2, 3)), np.full((2, 3), 5e-324)):
        assert distance.initial(zeros, y[:2], np.ones(2), 1)[0, 0] > 0.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("distance", [KullbackLeibler(), CauchySchwarz(), Renyi(), Renyi(2.0)])
@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam", "lvq1"])
def test_prototypes_stay_above_the_floor(distance, solver):
    """On rows with many zeros, where the steps would lead below."""
    X, y = load_digits(n_class=4, return_X_y=True)
    if solver == "lvq1":
        model = LVQ1(distance=distance, random_state=0)
    else:
        settings = {"max_iter": 20, "random_state": 0}
        model = PrototypeClassifier(distance=distance, solver=solver, **settings)
    model.fit(X, y)
    floor = 1e-3 * X.mean()
    assert model.prototypes_.min() >= floor * (1.0 - 1e-9)
    assert model.score(X, y) > 0.85  # class means have 0.93 to 0.95, and LVQ1 lowers no cost


@pytest.mark.parametrize("distance", [KullbackLeibler(), CauchySchwarz(), Renyi()])
def test_rows_that_are_not_taken(distance):
    X, y = load_iris(return_X_y=True)
    name, model = type(distance).__name__, PrototypeClassifier(distance=distance, max_iter=5)
    with pytest.raises(ValueError, match=f"Negative values in data passed to {name}"):
        model.fit(X - 5.0, y)
    with pytest.raises(ValueError, match=f"{name} does not take sparse matrices"):
        model.fit(sparse.csr_array(X), y)
    zero = X.copy()
    zero[7] = 0.0
    if isinstance(distance, KullbackLeibler):
        assert np.isfinite(model.fit(zero, y).distances(zero)).all()
        return
    with pytest.raises(ValueError, match=f"Row 7 passed to {name} is zero everywhere"):
        model.fit(zero, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=f"Row 7 passed to {name} is zero everywhere"):
        model.predict(zero)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, "half", None])
def test_a_bad_order_is_an_error(iris, bad):
    with pytest.raises(ValueError, match=r"alpha=.* of Renyi must be"):
        PrototypeClassifier(distance=Renyi(bad)).fit(*iris)
    with pytest.raises(ValueError, match="must not be 1; its limit there is KullbackLeibler"):
        PrototypeClassifier(distance=Renyi(1)).fit(*iris)


def test_a_divergence_has_no_hypothesis_margin():
    X, y = load_iris(return_X_y=True)
    for name in ("kl", "cauchy_schwarz", "renyi"):
        with pytest.raises(ValueError, match="hypothesis margin needs a distance that is a metric"):
            PrototypeClassifier(distance=name, margin="hypothesis").fit(X, y)


def test_single_precision_is_computed_in_double():
    X, y = load_iris(return_X_y=True)
    for name in ("kl", "cauchy_schwarz", "renyi"):
        model = PrototypeClassifier(distance=name, solver="lbfgs").fit(X, y)
        single = X.astype(np.float32)
        expected = model.distances(single.astype(np.float64))
        np.testing.assert_allclose(model.distances(single), expected, rtol=1e-12)
        assert math.isfinite(model.score(single, y))
