"""Fisher's discriminant against its literal formula, LDA and repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from protolearn import FisherPrototypes


def cosine(u, v):
    return np.ravel(u) @ np.ravel(v) / np.linalg.norm(u) / np.linalg.norm(v)


def overlapping(rng, n=40, d=5, offset=3.0):
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.standard_normal((n, d)) + y[:, None] * np.linspace(0.0, 1.5, d) + offset, y


def literal_gamma(X, y, ridge):
    """``(N + C I)^-1 (m+ - m-)`` with the Gram matrix of the centred samples, then centred."""
    K = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    N, m = np.zeros_like(K), []
    for label in (1, 0):
        columns = K[:, y == label]
        n = columns.shape[1]
        N += columns @ (np.eye(n) - 1.0 / n) @ columns.T
        m.append(columns.mean(axis=1))
    gamma = np.linalg.solve(N + ridge * np.eye(len(K)), m[0] - m[1])
    gamma -= gamma.mean()
    return 2.0 * gamma / np.abs(gamma).sum()


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("shape", [(40, 5), (12, 30)], ids=["tall", "wide"])
def test_literal_formula(shape, ridge, rng):
    X, y = overlapping(rng, *shape)
    model = FisherPrototypes(ridge=ridge).fit(X, y)
    gamma = literal_gamma(X, y, ridge)
    assert_allclose(model.dual_coef_[0], gamma, atol=1e-9)
    assert_allclose(model.coef_[0], gamma @ X, atol=1e-8)
    scores = model.decision_function(X)  # the hyperplane halves the way between the class means
    assert scores[y == 1].mean() == pytest.approx(-scores[y == 0].mean())


@pytest.mark.parametrize("wide", [False, True], ids=["tall", "wide"])
def test_no_ridge_is_the_limit_of_a_small_one(wide, rng):
    X, y = overlapping(rng, *((12, 30) if wide else (40, 5)))
    none = FisherPrototypes().fit(X, y).coef_
    assert cosine(none, FisherPrototypes(ridge=1e-8).fit(X, y).coef_) > 1 - 1e-12


def test_no_ridge_is_lda(rng):
    X, y = overlapping(rng)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    assert cosine(FisherPrototypes().fit(X, y).coef_, lda.coef_) > 1 - 1e-12


def test_no_ridge_is_lda_in_raw_units():
    X, y = load_breast_cancer(return_X_y=True)  # features from 1e-3 to 1e3
    model = FisherPrototypes().fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    spread = X.std(axis=0)
    assert cosine(model.coef_ * spread, lda.coef_ * spread) > 1 - 1e-8
    mine, theirs = model.decision_function(X), X @ lda.coef_[0]
    assert np.corrcoef(mine, theirs)[0, 1] > 1 - 1e-8


def test_large_ridge_tends_to_the_smoothed_difference_of_means(rng):
    X, y = overlapping(rng)
    Z = X - X.mean(axis=0)
    limit = Z.T @ Z @ (Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0))
    for ridge in (1e12, 1e300):
        assert cosine(FisherPrototypes(ridge=ridge).fit(X, y).coef_, limit) > 1 - 1e-12
    means = Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)
    assert cosine(means, limit) < 0.999  # which is not the mean of class


@pytest.mark.parametrize("ridge", [0.0, 10.0])
def test_weights_are_repeated_rows(ridge, rng):
    X, y = overlapping(rng)
    weight = rng.randint(0, 4, len(X))
    model, repeated = FisherPrototypes(ridge=ridge), FisherPrototypes(ridge=ridge)
    model.fit(X, y, weight)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(model.prototypes_, repeated.prototypes_, atol=1e-10)
    assert_allclose(model.shift_, repeated.shift_, atol=1e-10)
    times = weight[weight > 0]
    spread = np.repeat(model.dual_coef_[0, weight > 0] / times, times)
    assert_allclose(spread, repeated.dual_coef_[0], atol=1e-12)


def centred(scores):
    return scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_several_classes_are_lda(load):
    X, y = load(return_X_y=True)
    X = X[:, X.std(axis=0) > 0.1]
    X, y = X[len(X) // 7 :], y[len(X) // 7 :]  # classes of different size
    model = FisherPrototypes().fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    mine, theirs = centred(model.decision_function(X)), centred(lda.decision_function(X))
    assert_allclose(mine, theirs, atol=1e-8 * np.abs(theirs).max())
    for solver in ("lsqr", "svd"):
        lda = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
        assert (model.predict(X) == lda.predict(X)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("priors", [None, "empirical", [0.7, 0.2, 0.1]], ids=str)
def test_priors(n_classes, priors, rng):
    X, y = load_iris(return_X_y=True)
    X, y = X[30 : 50 * n_classes], y[30 : 50 * n_classes]
    priors = priors[:n_classes] if isinstance(priors, list) else priors
    model = FisherPrototypes(priors=priors).fit(X, y)
    given = np.ones(n_classes) if priors is None else priors
    given = np.bincount(y) if isinstance(given, str) else np.array(given)
    lda = LinearDiscriminantAnalysis(priors=given / given.sum()).fit(X, y)
    rows = X.mean(axis=0) + rng.standard_normal((2000, 4))
    assert np.mean(model.predict(rows) == lda.predict(rows)) > 0.999


def test_equal_priors_are_those_of_two_classes(rng):
    X, y = overlapping(rng)
    default, equal = FisherPrototypes().fit(X, y), FisherPrototypes(priors=[0.5, 0.5]).fit(X, y)
    assert_allclose(default.prototypes_, equal.prototypes_, atol=1e-10)
    assert_allclose(default.shift_, equal.shift_, atol=1e-9)


def literal_scores(X, y, ridge):
    """Scores by ``S + ridge (X^T X)^-1``, the scatter within the classes and the ridge, over n."""
    Z = X - X.mean(axis=0)
    means = np.array([Z[y == label].mean(axis=0) for label in np.unique(y)])
    within = Z - means[y]
    S = (within.T @ within + ridge * np.linalg.inv(Z.T @ Z)) / len(X)
    normals = np.linalg.solve(S, means.T).T
    offsets = np.log(np.bincount(y) / len(y)) - 0.5 * np.sum(normals * means, axis=1)
    return Z @ normals.T + offsets


@pytest.mark.parametrize("ridge", [0.0, 10.0, 1e5])
def test_literal_formula_of_several_classes(ridge):
    X, y = load_iris(return_X_y=True)
    mine = centred(FisherPrototypes(ridge=ridge).fit(X[10:], y[10:]).decision_function(X[10:]))
    assert_allclose(mine, centred(literal_scores(X[10:], y[10:], ridge)), atol=1e-9)


def test_several_classes_in_many_dimensions_are_the_limit_of_a_small_ridge(rng):
    y = np.arange(30) % 4
    X = rng.standard_normal((30, 50)) + np.eye(50)[y]
    rows = rng.standard_normal((500, 50))
    none, small = FisherPrototypes().fit(X, y), FisherPrototypes(ridge=1e-6).fit(X, y)
    assert none.score(X, y) == 1.0
    assert (none.predict(rows) == small.predict(rows)).all()
    assert cosine(none.coef_ - none.coef_.mean(0), small.coef_ - small.coef_.mean(0)) > 1 - 1e-12


def test_directions_without_scatter_decide_first(rng):
    y = np.arange(80) % 4
    X = rng.standard_normal((80, 3))
    X[:, 0] = y < 2  # no scatter within any class
    X[:, 1] += 2.0 * (y % 2)
    model = FisherPrototypes().fit(X, y)
    assert ((model.predict(X) < 2) == (y < 2)).all()
    inner = [LinearDiscriminantAnalysis().fit(X[part, 1:], y[part]) for part in (y < 2, y > 1)]
    for part, lda in zip((y < 2, y > 1), inner, strict=True):
        assert np.mean(model.predict(X[part]) == lda.predict(X[part, 1:])) > 0.9


@pytest.mark.parametrize("priors", ["same", [0.5, 0.5], [1.0, 1.0, 0.0], [1.0, np.nan, 1.0]])
def test_bad_priors(priors):
    with pytest.raises(ValueError, match="priors="):
        FisherPrototypes(priors=priors).fit([[0.0], [1.0], [2.0], [3.1]], [0, 1, 2, 2])


@pytest.mark.parametrize("ridge", [-1.0, np.inf, "much", None, True])
def test_bad_ridge(ridge):
    with pytest.raises(ValueError, match="ridge="):
        FisherPrototypes(ridge=ridge).fit([[0.0], [1.0]], [0, 1])
