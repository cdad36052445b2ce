"""Linear classifiers in the feature space of a kernel, against SVC, closed forms and rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all
from protolearn import (
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    SoftMarginSVM,
    certified_radius,
    hypothesis_margin,
)
from protolearn.checks import expected_failed_checks

MODELS = {
    "mean": MeanOfClass(),
    "fisher": FisherPrototypes(ridge=0.5),
    "soft": SoftMarginSVM(multi_class="ovr"),
    "squared": SoftMarginSVM(norm=2),
    "boosting": BoostedPrototypes(C=1.0),
    "crammer singer": SoftMarginSVM(multi_class="crammer_singer"),
    "nearest": SoftMarginSVM(multi_class="nearest"),
}
each_model = pytest.mark.parametrize("name", MODELS)


def moons(n=80):
    return make_moons(n, noise=0.2, random_state=0)


def centred(scores):
    return scores if scores.ndim == 1 else scores - scores.mean(axis=1, keepdims=True)


@each_model
@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_of_rows_are_the_linear_kernel(name, n_classes, iris):
    X, y = iris[0][iris[1] < n_classes], iris[1][iris[1] < n_classes]
    plain = clone(MODELS[name]).fit(X, y)
    given = clone(MODELS[name]).set_params(kernel="precomputed").fit(X @ X.T, y)
    scores = plain.decision_function(X)
    assert_allclose(
        centred(given.decision_function(X @ X.T)),
        centred(scores),
        atol=1e-4 * np.abs(scores).max() if "crammer" in name else 1e-7 * np.abs(scores).max(),
    )
    assert_allclose(given.shift_, plain.shift_, atol=1e-4)
    assert_allclose(given.dual_coef_, plain.dual_coef_, atol=1e-3 if "crammer" in name else 1e-6)
    for missing in ("coef_", "prototypes_", "rest_prototypes_", "path_", "exemplars_"):
        assert not hasattr(given, missing)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_soft_margin_is_libsvm(C, kernel, rng):
    X, y = moons(200)
    settings = {"kernel": kernel, "C": C, "gamma": 0.7, "coef0": 1.0}
    mine, theirs = SoftMarginSVM(**settings).fit(X, y), SVC(**settings, tol=1e-8).fit(X, y)
    rows = 2.0 * rng.standard_normal((300, 2))
    expected = theirs.decision_function(rows)  # of products in single precision
    assert_allclose(mine.decision_function(rows), expected, rtol=1e-5, atol=2e-4)
    assert_array_equal(mine.support_, np.sort(theirs.support_))
    assert_allclose(mine.support_vectors_, X[mine.support_], atol=0.0)


def test_one_versus_rest_is_libsvm(iris):
    X, y = iris
    theirs = OneVsRestClassifier(SVC(tol=1e-8)).fit(X, y)
    mine = SoftMarginSVM(kernel="rbf").fit(X, y)
    assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_hard_margin_is_libsvm_with_a_large_C():
    X, y = moons()
    mine = HardMarginSVM(kernel="rbf", gamma=5.0).fit(X, y)
    theirs = SVC(C=1e6, gamma=5.0, tol=1e-8).fit(X, y)
    assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert mine.margin_[0] == pytest.approx(1.0 / np.sqrt(squared_length(theirs, X)), rel=1e-3)


def squared_length(machine, X):
    gram = rbf_kernel(X[machine.support_], gamma=machine.gamma)
    return float(machine.dual_coef_[0] @ gram @ machine.dual_coef_[0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_means_are_the_closed_form(n_classes, iris, rng):
    X, y = iris[0][iris[1] < n_classes], iris[1][iris[1] < n_classes]
    model = MeanOfClass(kernel="rbf", gamma=0.5).fit(X, y)
    rows = X.mean(axis=0) + rng.standard_normal((200, 4))
    away = []  # squared distances to the means of the classes, but for k(x, x)
    for label in range(n_classes):
        part = X[y == label]
        inner = rbf_kernel(part, part, gamma=0.5).mean()
        away.append(inner - 2.0 * rbf_kernel(rows, part, gamma=0.5).mean(axis=1))
    away = np.array(away).T
    assert_array_equal(model.predict(rows), away.argmin(axis=1))
    expected = 0.5 * (away[:, 0] - away[:, 1])
    scores = model.decision_function(rows)
    mine = scores if n_classes == 2 else scores[:, 1] - scores[:, 0]
    assert_allclose(mine, expected, atol=1e-10)
    assert_allclose(model.shift_, 0.0, atol=1e-12)


def test_fisher_is_the_dual_formula():
    X, y = moons()
    K = rbf_kernel(X, gamma=1.0)
    H = np.eye(80) - 1.0 / 80
    G, N, means = H @ K @ H, np.zeros((80, 80)), []
    for label in (1, 0):
        columns = G[:, y == label]
        N += columns @ (np.eye(40) - 1.0 / 40) @ columns.T
        means.append(columns.mean(axis=1))
    gamma = np.linalg.solve(N + 0.3 * np.eye(80), means[0] - means[1])
    gamma -= gamma.mean()
    model = FisherPrototypes(kernel="rbf", gamma=1.0, ridge=0.3).fit(X, y)
    assert_allclose(model.dual_coef_[0], 2.0 * gamma / np.abs(gamma).sum(), atol=1e-9)
    scores = model.decision_function(X)
    assert scores[y == 1].mean() == pytest.approx(-scores[y == 0].mean())


def test_boosting_comes_to_the_machine():
    X, y = moons()
    boosted = BoostedPrototypes(kernel="rbf", gamma=1.0, C=2.0).fit(X, y)
    machine = SoftMarginSVM(kernel="rbf", gamma=1.0, C=2.0, norm=2).fit(X, y)
    u, v = boosted.decision_function(X), machine.decision_function(X)
    assert np.corrcoef(u, v)[0, 1] > 0.999
    assert (boosted.predict(X) == machine.predict(X)).mean() > 0.98


@each_model
def test_kernels_by_name_by_function_and_by_matrix(name, iris, rng):
    X, y = iris
    settings = {"gamma": 0.3}
    weight = {} if name == "boosting" else {"sample_weight": np.r_[np.zeros(5), np.ones(145)]}
    model = clone(MODELS[name]).set_params(kernel="rbf", **settings).fit(X, y, **weight)

    def function(a, b):
        return rbf_kernel(a, b, **settings)

    rows = X.mean(axis=0) + rng.standard_normal((50, 4))
    called = clone(model).set_params(kernel=function).fit(X, y, **weight)
    matrix = clone(model).set_params(kernel="precomputed").fit(function(X, X), y, **weight)
    expected, size = model.decision_function(rows), np.abs(model.decision_function(rows)).max()
    tolerance = (1e-3 if name in ("boosting", "crammer singer") else 1e-6) * size
    assert_allclose(called.decision_function(rows), expected, atol=tolerance)
    assert_allclose(matrix.decision_function(function(rows, X)), expected, atol=tolerance)
    assert matrix.__sklearn_tags__().input_tags.pairwise
    assert not hasattr(matrix, "support_vectors_")
    assert not hasattr(called, "preimages_")


@each_model
@pytest.mark.parametrize("n_classes", [2, 3])
def test_exemplars_and_preimages(name, n_classes, iris):
    X, y = iris[0][iris[1] < n_classes], iris[1][iris[1] < n_classes]
    model = clone(MODELS[name]).set_params(kernel="rbf", gamma=0.3).fit(X, y)
    dual = model.dual_coef_
    weights = np.maximum(dual if n_classes > 2 else np.vstack([-dual, dual]), 0.0)
    assert_allclose(weights.sum(axis=1), 1.0)

    def away(point, c):  # squared distance of its image to a prototype, but for a constant
        return 1.0 - 2.0 * weights[c] @ rbf_kernel(X, point[None], gamma=0.3).ravel()

    for c in range(n_classes):
        nearest = min(range(len(X)), key=lambda i, c=c: away(X[i], c))
        assert away(model.exemplars_[c], c) == pytest.approx(away(X[nearest], c))
        assert_allclose(model.exemplars_[c], X[model.exemplar_indices_[c]], atol=0.0)
        found = away(model.preimages_[c], c)
        assert found <= away(model.exemplars_[c], c) + 1e-12
        best = minimize(away, model.preimages_[c], (c,), tol=1e-12)
        assert found <= best.fun + 1e-8


def test_another_kernel_leaves_nothing_behind(iris):
    X, y = iris
    model = SoftMarginSVM(kernel="rbf").fit(X, y)
    model.set_params(kernel="linear").fit(X, y)
    for name in ("kernel_", "gamma_", "score_scale_", "exemplars_", "preimages_", "_factors"):
        assert not hasattr(model, name)
    model.set_params(kernel="poly").fit(X, y)
    assert not hasattr(model, "coef_")
    assert model.gamma_ == pytest.approx(1.0 / (4 * X.var()))


def test_errors(iris):
    X, y = iris
    with pytest.raises(ValueError, match="takes a square matrix"):
        SoftMarginSVM(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        MeanOfClass(kernel=lambda a, b: -pairwise_kernels(a, b, "rbf")).fit(X, y)
    with pytest.raises(ValueError, match="not finite"):
        FisherPrototypes(kernel="poly", gamma=1.0, degree=9).fit(1e50 * X, y)
    with pytest.raises(ValueError, match="kernel='cubic'"):
        HardMarginSVM(kernel="cubic").fit(X, y)
    model = SoftMarginSVM(kernel="rbf").fit(X, y)
    with pytest.raises(ValueError, match="project needs kernel='linear'"):
        model.project(X)
    with pytest.raises(ValueError, match="no hypothesis margin"):
        hypothesis_margin(model, X, y)
    with pytest.raises(TypeError, match="no coef_ with kernel='rbf'"):
        certified_radius(model, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    in_all(
        SoftMarginSVM(kernel="rbf"),
        thorough=[
            MeanOfClass(kernel="rbf"),
            FisherPrototypes(kernel="poly", ridge=1.0),
            SoftMarginSVM(kernel="precomputed"),
            BoostedPrototypes(kernel="rbf", C=1.0, max_iter=100),
        ],
    ),
    expected_failed_checks=expected_failed_checks,
)
def test_sklearn_check(estimator, check):
    check(estimator)
