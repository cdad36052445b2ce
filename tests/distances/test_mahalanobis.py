"""The Mahalanobis distance: SciPy's numbers, Ledoit and Wolf's share, and singular covariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from protolearn import LVQ1, PrototypeClassifier
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import Mahalanobis, SparseMahalanobis


def within(X, y, weight):
    """Give the class-centred rows, and their weighted covariance."""
    Z = np.array(X, dtype=float)
    for c in np.unique(y):
        Z[y == c] -= np.average(Z[y == c], axis=0, weights=weight[y == c])
    return Z, (weight[:, None] * Z).T @ Z / weight.sum()


def inverse(distance, X, y, weight=None):
    """Give ``Omega^T Omega`` that a distance makes of some data."""
    weight = np.ones(len(y)) if weight is None else weight
    omega = distance.initial(X, y, weight, 1).reshape(-1, X.shape[1])
    assert np.isfinite(omega).all()
    return omega.T @ omega


def data(seed, n=30, d=4):
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 5.0 * y[:, None]
    return X, y, rng.randint(1, 4, n).astype(float)


@pytest.mark.parametrize("shrinkage", ["auto", 0, 0.3, 1.0])
def test_checks(shrinkage):
    check_distance(Mahalanobis(shrinkage))
    assert Mahalanobis(shrinkage).get_params() == {"shrinkage": shrinkage}


@given(seed=st.integers(0, 99), d=st.integers(1, 6), shrinkage=st.sampled_from([0.0, 0.2, 1.0]))
def test_distances_are_those_of_scipy(seed, d, shrinkage):
    X, y, weight = data(seed, d=d)
    _, S = within(X, y, weight)
    S = (1.0 - shrinkage) * S + shrinkage * np.trace(S) / d * np.eye(d)
    distance, W = Mahalanobis(shrinkage), X[:5]
    theta, group = distance.initial(X, y, weight, 1), np.zeros(5, dtype=np.intp)
    D = distance.pairwise(X, Codebook(W, np.arange(5), theta, group, W.mean(axis=0)))
    expected = cdist(X, W, "mahalanobis", VI=np.linalg.inv(S)) ** 2
    np.testing.assert_allclose(D, expected, rtol=1e-7, atol=1e-7 * expected.max())


@given(seed=st.integers(0, 99), d=st.integers(1, 6), size=st.sampled_from([1e-100, 1.0, 1e100]))
def test_share_is_that_of_ledoit_and_wolf(seed, d, size):
    X, y, weight = data(seed, d=d)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    Z, S = within(X[twice], y[twice], np.ones(len(twice)))
    share = ledoit_wolf_shrinkage(Z, assume_centered=True)
    expected = np.linalg.inv((1.0 - share) * S + share * np.trace(S) / d * np.eye(d))
    for given_ in ((X, y, weight), (X[twice], y[twice], None)):
        got = inverse(Mahalanobis(), size * given_[0], *given_[1:]) * size**2
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


def test_a_singular_covariance_has_its_pseudo_inverse():
    """Whatever the units: a constant feature, a copy and a sum do not count twice."""
    X, y, weight = data(0)
    X = np.column_stack([X, np.full(len(y), 0.1), X[:, 0], X[:, 1] + X[:, 2]])
    _, S = within(X, y, weight)
    S[4], S[:, 4] = 0.0, 0.0
    expected = np.linalg.pinv(S, rcond=1e-10, hermitian=True)
    got = inverse(Mahalanobis(0.0), X, y, weight)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    units = 10.0 ** np.array([-6, 6, 3, 0, 5, -4, 2])
    rescaled = inverse(Mahalanobis(0.0), X * units, y, weight)
    e = (X[0] - X[3]) * units  # of one class
    np.testing.assert_allclose(e @ rescaled @ e, (X[0] - X[3]) @ expected @ (X[0] - X[3]), 1e-6)


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 0.5])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_few_rows_have_a_metric(shrinkage, n):
    X, y, _ = data(1)
    Lambda = inverse(Mahalanobis(shrinkage), X[:n], y[:n])
    assert np.trace(Lambda) > 0.0
    if n < 4:  # one row a class
        np.testing.assert_array_equal(Lambda, np.eye(4))
    one_class = inverse(Mahalanobis(shrinkage), X[:n], np.zeros(n, dtype=np.intp))
    assert np.trace(one_class) > 0.0


def test_class_means_under_it_are_linear_discriminant_analysis(iris):
    X, y = iris
    model = LVQ1(distance=Mahalanobis(0.0), init="means", learning_rate=1e-12).fit(X, y)
    expected = LinearDiscriminantAnalysis(priors=np.ones(3) / 3).fit(X, y)
    assert (model.predict(X) == expected.predict(X)).all()


def test_units_do_not_count(iris):
    X, y = iris
    units = np.array([1e-3, 1.0, 1e3, 1e6])
    first, second = (
        PrototypeClassifier(distance=Mahalanobis(0.0), solver="lbfgs").fit(Z, y)
        for Z in (X, X * units)
    )
    np.testing.assert_allclose(first.scale_, second.scale_, rtol=1e-6)
    assert (first.predict(X) == second.predict(X * units)).mean() > 0.99


def test_sparse_rows_have_the_same_model(rng):
    X, y = load_wine(return_X_y=True)
    X = X * (rng.uniform(size=X.shape) < 0.8)
    S = sparse.csr_array(X)
    assert type(Mahalanobis(0.1).suited_to(S)) is SparseMahalanobis
    assert SparseMahalanobis(0.1).suited_to(X).get_params() == {"shrinkage": 0.1}
    dense, thin = (
        PrototypeClassifier(distance="mahalanobis", solver="lbfgs", max_iter=3).fit(Z, y)
        for Z in (X, S)
    )
    np.testing.assert_allclose(
        dense.rule_.codebook.metric, thin.rule_.codebook.metric, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(dense.distances(X), thin.distances(S), rtol=1e-4)
    assert (dense.predict(S) == dense.predict(X)).all()


def test_the_metric_stays(iris):
    X, y = iris
    for solver in ("lbfgs", "sgd", "adam"):
        model = PrototypeClassifier(distance="mahalanobis", solver=solver, random_state=0)
        model.fit(X, y)
        np.testing.assert_array_equal(model.metric_, inverse(Mahalanobis(), X, y))
        assert model.score(X, y) > 0.95


@pytest.mark.parametrize("bad", [-0.1, 1.1, "ledoit", None, True, np.nan])
def test_a_bad_share_is_an_error(iris, bad):
    with pytest.raises(ValueError, match=r"shrinkage=.* of Mahalanobis must be"):
        PrototypeClassifier(distance=Mahalanobis(bad)).fit(*iris)


def test_too_many_features_is_an_error():
    X, y = sparse.csr_array((2, 5000)), np.array([0, 1])
    with pytest.raises(ValueError, match="5000 x 5000 entries"):
        Mahalanobis().initial(X, y, np.ones(2), 1)
