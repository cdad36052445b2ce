"""Rows far from the centre of the prototypes, and near one of them: products lose their digits."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, MCE, MRSLVQ, RSLVQ, PrototypeClassifier
from protolearn._arrays import middle
from protolearn.codebook import Codebook
from protolearn.distances import LocalMatrix, Mahalanobis, Matrix, Relevance, SquaredEuclidean
from protolearn.distances.distance import KEPT, has_all_digits
from protolearn.distances.lost_digits import rows_of_lost_digits

SEEDS = st.integers(0, 2**32 - 1)
D = 5
KINDS = ["sqeuclidean", "relevance", "matrix", "mahalanobis", "local"]
MODELS = [GLVQ, MCE, RSLVQ, GRLVQ, GMLVQ, LGMLVQ, MRSLVQ, LVQ1]


def maps(kind, rng, K):
    """Give a distance, its parameters, their rows, and Omega of each prototype."""
    if kind == "sqeuclidean":
        return (
            SquaredEuclidean(),
            np.zeros((1, 0)),
            np.zeros(K),
            np.broadcast_to(np.eye(D), (K, D, D)),
        )
    if kind == "relevance":
        roots = rng.rand(1, D) + 0.1
        return Relevance(), roots, np.zeros(K), np.broadcast_to(np.diag(roots[0]), (K, D, D))
    groups = K if kind == "local" else 1
    omega = rng.standard_normal((groups, D, D))
    group = np.arange(K) if kind == "local" else np.zeros(K)
    distance = {
        "matrix": Matrix(),
        "mahalanobis": Mahalanobis(),
        "local": LocalMatrix(localized="prototype"),
    }[kind]
    return distance, omega.reshape(groups, -1), group, omega[group.astype(int)]


def far_apart(rng, K, size):
    """Give prototypes in groups far from each other, and rows near some of them."""
    W = rng.standard_normal((K, D)) + size * rng.standard_normal((2, D))[rng.randint(2, size=K)]
    return W, W[rng.randint(K, size=60)] + rng.standard_normal((60, D))


def exact(X, W, omega):
    """Give all distances by differences; what is missing counts as the mean of the rest."""
    e = np.nan_to_num(X[:, None] - W)
    share = D / (~np.isnan(X)).sum(axis=1)
    return share[:, None] * np.square(np.einsum("krd,nkd->nkr", omega, e)).sum(axis=2)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *itertools.product(KINDS, ["dense", "sparse"]),
        *itertools.product(["sqeuclidean", "relevance"], ["missing"]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(seed=SEEDS)
def test_the_nearest_prototype_is_known_to_enough_digits(kind, form, dtype, seed):
    rng = np.random.RandomState(seed)
    K = rng.randint(2, 8)
    size = 10.0 ** rng.uniform(0, 5 if dtype is np.float32 else 9)
    W, X = far_apart(rng, K, size)
    distance, metric, group, omega = maps(kind, rng, K)
    if form == "missing":
        X[rng.rand(*X.shape) < 0.2] = np.nan
        X[:, 0] = np.nan_to_num(X[:, 0])
    X = X.astype(dtype)
    codebook = Codebook(W, np.arange(K), metric, group.astype(np.intp), middle(W))
    given_rows = csr_array(X) if form == "sparse" else X
    suited = distance.suited_to(given_rows)
    expected = exact(X.astype(np.float64), W, omega)
    found = suited.pairwise(given_rows, codebook)
    assert found.dtype == dtype
    least = expected.min(axis=1)
    error = np.abs(
        np.take_along_axis(found, expected.argmin(axis=1)[:, None], axis=1)[:, 0] - least
    )
    allowed = 10.0 * KEPT[found.dtype.char]
    assert (error <= allowed * least).all()
    winner, _ = suited.nearest(given_rows, codebook)
    reached = np.take_along_axis(expected, winner[:, None], axis=1)[:, 0]
    assert (reached <= (1.0 + allowed) * least).all()


def test_ordinary_rows_are_not_measured_twice(rng):
    W, X = rng.standard_normal((10, 20)), rng.standard_normal((1000, 20))
    codebook = Codebook(W, np.arange(10), np.zeros((1, 0)), np.zeros(10, np.intp), middle(W))
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        found = SquaredEuclidean().pairwise(rows, codebook)
        norms = SquaredEuclidean().prepare(rows, codebook)
        assert has_all_digits(found, norms, codebook)
        assert not len(rows_of_lost_digits(found, 4.0 * norms))
    assert len(rows_of_lost_digits(np.zeros((3, 2)), np.array([0.0, 1.0, 2.0]))) == 2


@pytest.mark.parametrize("cls", MODELS)
def test_two_towns_in_single_precision(cls):
    rng = np.random.RandomState(0)
    town, y = np.repeat([[0, 0], [20000, 5000]], 100, axis=0), np.tile([0, 1], 100)
    X = (town + np.c_[6 * y, 0 * y] + rng.normal(size=(200, 2))).astype(np.float32)
    model = cls(prototypes_per_class=2, random_state=0).fit(X, y)
    assert model.score(X, y) == model.score(X.astype(np.float64), y) == 1.0
    np.testing.assert_array_equal(model.decision_function(X) > 0.0, model.predict(X) == 1)


@pytest.mark.parametrize("cls", [GLVQ, RSLVQ, GRLVQ, LVQ1])
@pytest.mark.parametrize("value", [9999.0, 1e5, 1e9, 1e13, 1e16])
def test_a_prototype_on_an_outlier_changes_no_other_answer(cls, value):
    X, y = load_wine(return_X_y=True)
    X = np.r_[StandardScaler().fit_transform(X), np.full((1, 13), value)]
    y = np.r_[y, 0]
    model = cls(prototypes_per_class=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    roots = np.sqrt(model.relevances_) if cls is GRLVQ else np.ones(13)
    exactly = np.square(roots * (X[:, None] - model.prototypes_)).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.prototype_labels_[exactly])
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
    if value < 1e6:
        np.testing.assert_array_equal(model.predict(X.astype(np.float32)), model.predict(X))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("value", [2024.0, 1e9, 1.7e18])
def test_a_constant_column_changes_nothing(cls, value):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    plain, got = (
        cls(prototypes_per_class=2, random_state=0).fit(Z, y)
        for Z in (np.c_[X, np.zeros(len(X))], np.c_[X, np.full(len(X), value)])
    )
    np.testing.assert_allclose(got.scale_, plain.scale_, rtol=1e-9)
    answers = got.predict(np.c_[X, np.full(len(X), value)])
    np.testing.assert_array_equal(answers, plain.predict(np.c_[X, np.zeros(len(X))]))


def test_units_do_not_count_for_mahalanobis():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :4]
    shared = {"distance": Mahalanobis(0.0), "prototypes_per_class": 2, "random_state": 0}
    plain, got = (
        PrototypeClassifier(**shared).fit((X + 3.0) * units, y).score((X + 3.0) * units, y)
        for units in (np.ones(4), np.array([1e9, 1.0, 1e-6, 1e-9]))
    )
    assert got > plain - 0.05  # k-means sees the units, and begins elsewhere


def test_an_outlier_on_its_prototype_is_not_the_unit_of_distance():
    rng = np.random.RandomState(0)
    X = np.r_[rng.normal(0, 1, (100, 2)), rng.normal(4, 1, (100, 2)), [[1e9, 1e9]]]
    y = np.r_[np.zeros(100), np.ones(101)]
    W = np.array([[-0.5, 0.0], [0.5, 0.0], [4.0, 4.0], [1e9, 1e9]])
    model = GLVQ(init=W, prototypes_per_class=2, max_iter=1, random_state=0).fit(X, y)
    own = [
        np.square(x - W[2 * int(c) : 2 * int(c) + 2]).sum(axis=1).min()
        for x, c in zip(X, y, strict=True)
    ]
    np.testing.assert_allclose(model.scale_, np.mean(own))
