"""The kernel distance: scikit-learn's kernels, gradients, and the linear kernel as a limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

import reference
from protolearn import LVQ1, PrototypeClassifier
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import Kernel

KERNELS = ["rbf", "polynomial", "linear"]


def book(distance, X, W):
    n, K = len(X), len(W)
    theta = distance.initial(X, np.zeros(n, dtype=np.intp), np.ones(n), 1)
    return Codebook(W, np.arange(K), theta, np.zeros(K, dtype=np.intp), W.mean(axis=0))


def by_sklearn(X, W, kernel, **settings):
    if kernel == "rbf":
        settings = {"gamma": settings["gamma"]}
    settings = {} if kernel == "linear" else settings

    def k(A, B):
        return pairwise_kernels(A, B, metric=kernel, **settings)

    return k(W, W).diagonal() - 2.0 * k(X, W) + k(X, X).diagonal()[:, None]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("degree", [1, 2, 5])
@pytest.mark.parametrize("gamma", ["scale", 0.3, 4])
def test_checks(kernel, degree, gamma):
    check_distance(Kernel(kernel, gamma, degree))


@given(
    n=st.integers(1, 20),
    d=st.integers(1, 6),
    K=st.integers(1, 6),
    seed=st.integers(0, 99),
    kernel=st.sampled_from(KERNELS),
    gamma=st.floats(0.01, 3.0),
    degree=st.integers(1, 4),
    coef0=st.floats(0.0, 3.0),
)
def test_distances_are_those_of_the_kernel(n, d, K, seed, kernel, gamma, degree, coef0):
    rng = np.random.RandomState(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((K, d))
    distance = Kernel(kernel, gamma, degree, coef0)
    D = distance.pairwise(X, book(distance, X, W))
    expected = by_sklearn(X, W, kernel, gamma=gamma, degree=degree, coef0=coef0)
    np.testing.assert_allclose(D, expected, rtol=1e-9, atol=1e-11 * max(expected.max(), 1.0))
    assert (D >= 0.0).all()


@given(seed=st.integers(0, 99), kernel=st.sampled_from(KERNELS), degree=st.integers(1, 4))
def test_pulls_are_the_formula(seed, kernel, degree):
    rng = np.random.RandomState(seed)
    X, W, G = (
        rng.standard_normal((9, 3)),
        rng.standard_normal((4, 3)),
        rng.standard_normal((9, 4)),
    )
    distance = Kernel(kernel, 0.5, degree)
    codebook = book(distance, X, W)
    settings = {"gamma": 0.5, "degree": degree, "coef0": 1.0}
    numeric = reference.numeric_gradient(
        lambda V: float((G * by_sklearn(X, V, kernel, **settings)).sum()), W
    )
    kept = distance.forward(X, codebook)[1]
    index = np.ascontiguousarray(np.broadcast_to(np.arange(4), G.shape))
    for again in (None, kept):
        whole, some = codebook.zero_gradients(), codebook.zero_gradients()
        distance.pull_rows(X, codebook, G, whole, again)
        distance.pull_winners(X, codebook, index, G, some, again)
        for out in (whole, some):
            np.testing.assert_allclose(out.prototypes, numeric, rtol=1e-6, atol=1e-5)


def test_small_distances_keep_their_digits():
    """The difference of kernels would be zero."""
    distance, W = Kernel("rbf", 1.0), np.zeros((1, 1))
    x = np.array([[1e-9]])
    np.testing.assert_allclose(distance.pairwise(x, book(distance, x, W)), 2e-18, rtol=1e-12)
    np.testing.assert_allclose(distance.pair(x[0], W[0], np.array([0.0, 1.0, 3.0, 1.0])), 2e-18)


def test_a_sample_far_away_moves_nothing():
    distance, W, X = Kernel("rbf", 1.0), np.zeros((2, 1)), np.array([[1e6], [0.5]])
    codebook = book(distance, X, W)
    D, kept = distance.forward(X, codebook)
    assert (D[0] == 2.0).all()
    out = codebook.zero_gradients()
    distance.pull_rows(X[:1], codebook, np.ones((1, 2)), out, kept[:1])
    assert (out.prototypes == 0.0).all()


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_gamma_is_that_of_svc(rng, size):
    X, weight = rng.standard_normal((30, 4)) + 3.0, rng.randint(1, 4, 30)
    twice, codes = np.repeat(X, weight, axis=0), np.zeros(30, dtype=np.intp)
    gamma = Kernel().initial(size * X, codes, weight.astype(float), 1)[0, 1]
    np.testing.assert_allclose(gamma, 1.0 / (4 * twice.var()) / size**2, rtol=1e-10)


def test_gamma_of_rows_that_agree_is_one():
    for X in (np.full((3, 2), 0.1), np.zeros((1, 3))):
        assert Kernel().initial(X, np.zeros(len(X), dtype=np.intp), np.ones(len(X)), 1)[0, 1] == 1.0


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam"])
@pytest.mark.parametrize("margin", ["relative", "log_odds", "hypothesis"])
def test_the_linear_kernel_is_the_squared_euclidean_distance(iris, solver, margin):
    X, y = iris
    settings = {"solver": solver, "margin": margin, "max_iter": 5, "random_state": 0}
    plain, kernel = (
        PrototypeClassifier(distance=distance, **settings).fit(X, y)
        for distance in ("sqeuclidean", Kernel("linear"))
    )
    np.testing.assert_allclose(kernel.prototypes_, plain.prototypes_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.distances(X), cdist(X, kernel.prototypes_) ** 2)
    assert (kernel.predict(X) == plain.predict(X)).all()


def test_heuristic_rules_with_the_linear_kernel(iris):
    plain, kernel = (
        LVQ1(distance=distance, random_state=0).fit(*iris)
        for distance in ("sqeuclidean", Kernel("linear"))
    )
    np.testing.assert_allclose(kernel.prototypes_, plain.prototypes_, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_stride_leads_to_the_sample(kernel):
    """Half the gradient times the stride is the way to a sample nearby, for features alike."""
    rng = np.random.RandomState(0)
    w = rng.standard_normal((1, 6)) if kernel == "rbf" else np.zeros((1, 6))
    x = w + 1e-4 * rng.standard_normal((1, 6))
    distance = Kernel(kernel, 0.7)
    codebook = book(distance, x, w)
    gw = np.zeros(6)
    distance.gradient(x[0], w[0], codebook.metric[0], gw, np.zeros(4))
    step = 0.5 * distance.stride(codebook) * gw
    np.testing.assert_allclose(w[0] - step, x[0], atol=1e-9)


def test_rbf_orders_prototypes_as_the_euclidean_distance(iris):
    X, y = iris
    model = PrototypeClassifier(distance="kernel", solver="lbfgs", prototypes_per_class=2).fit(X, y)
    assert (
        model.nearest_prototypes(X)[1][:, 0] == cdist(X, model.prototypes_).argmin(axis=1)
    ).all()


def test_the_polynomial_kernel_bends_the_boundary(rng):
    """Along a line x.w of any size is a parabola: the middle of three intervals is a class."""
    X = rng.uniform(-3.0, 3.0, (300, 1))
    y = (np.abs(X[:, 0]) < 1.5).astype(int)
    start = np.array([[2.5], [0.1]])
    distance = Kernel("polynomial", gamma=1.0, degree=2, coef0=0.0)
    model = PrototypeClassifier(distance=distance, init=start, solver="lbfgs").fit(X, y)
    assert model.score(X, y) > 0.95  # (x^2 - w^2)^2: the squared distance of squares


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"kernel": "rfb"}, "Did you mean 'rbf'"),
        ({"kernel": None}, "kernel=None of Kernel must be one of"),
        ({"gamma": 0.0}, "gamma=0.0 of Kernel must be a finite number greater than 0"),
        ({"gamma": "auto"}, "gamma='auto' of Kernel must be 'scale'"),
        ({"degree": 2.5}, "degree=2.5 of Kernel must be an integer"),
        ({"degree": 0}, "degree=0 of Kernel must be an integer of at least 1"),
        ({"coef0": -1.0}, "coef0=-1.0 of Kernel must be a finite number of at least 0"),
    ],
)
def test_bad_settings_are_errors(iris, settings, match):
    with pytest.raises(ValueError, match=match):
        PrototypeClassifier(distance=Kernel(**settings)).fit(*iris)
