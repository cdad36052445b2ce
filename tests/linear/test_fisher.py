"""Fisher's discriminant against its literal formula, LDA and repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine
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


def test_one_versus_rest_is_two_classes_at_a_time():
    X, y = load_wine(return_X_y=True)
    model = FisherPrototypes().fit(X, y)
    for k in range(3):
        assert_allclose(
            model.decision_function(X)[:, k],
            FisherPrototypes().fit(X, y == k).decision_function(X),
            atol=1e-9 * np.abs(model.decision_function(X)).max(),
        )


@pytest.mark.parametrize("ridge", [-1.0, np.inf, "much", None, True])
def test_bad_ridge(ridge):
    with pytest.raises(ValueError, match="ridge="):
        FisherPrototypes(ridge=ridge).fit([[0.0], [1.0]], [0, 1])
