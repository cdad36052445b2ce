"""Soft preprocessing: K + I/C makes a soft classifier of any hard one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import Perceptron
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR

from protolearn import (
    HardMarginSVM,
    KernelAdaTron,
    MeanOfClass,
    NotSeparableError,
    SoftMarginSVM,
    SoftPreprocessing,
    certified_radius,
)
from protolearn.datasets import make_neurons

HARD = {"kernel": "precomputed", "C": 1e9, "tol": 1e-8}


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.RandomState(0)
    y = np.arange(60) % 2
    return rng.normal(size=(60, 3)) + 0.8 * y[:, None], y


def direction(w):
    return np.ravel(w) / np.linalg.norm(w)


@pytest.mark.parametrize("C", [1e-2, 1.0, 50.0])
def test_a_hard_margin_becomes_the_machine_of_squared_slacks(overlapping, C):
    X, y = overlapping
    with pytest.raises(NotSeparableError):
        HardMarginSVM().fit(X, y)
    soft = SoftMarginSVM(norm=2, C=C).fit(X, y)
    model = SoftPreprocessing(HardMarginSVM(), C=C).fit(X, y)
    assert_allclose(direction(model.coef_), direction(soft.coef_), atol=1e-6)
    factor = np.linalg.norm(soft.coef_) / np.linalg.norm(model.coef_)
    assert_allclose(factor * model.intercept_, soft.intercept_, rtol=1e-5, atol=1e-6)
    assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    assert_array_equal(model.predict(X), soft.predict(X))


def test_equation_26_is_what_a_gram_classifier_gets(overlapping):
    X, y = overlapping
    svc = SVC(**HARD).fit(X @ X.T + np.eye(60) / 0.3, y)
    model = SoftPreprocessing(SVC(**HARD), C=0.3).fit(X, y)
    rows = 2.0 * X[::-1]
    assert_allclose(model.decision_function(rows), svc.decision_function(rows @ X.T))
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", lambda A, B: A @ B.T + (A @ B.T) ** 2])
def test_rows_and_products_are_the_same_thing(overlapping, kernel):
    X, y = overlapping
    settings = {"C": 0.5, "kernel": kernel, "gamma": 0.4}
    by_rows = SoftPreprocessing(HardMarginSVM(), **settings).fit(X, y)
    by_gram = SoftPreprocessing(SVC(**HARD), **settings).fit(X, y)
    new = X[::-1] + 0.1
    one, other = (model.decision_function(new) for model in (by_rows, by_gram))
    assert_allclose(one / np.abs(one).max(), other / np.abs(other).max(), atol=1e-4)


def test_a_gram_matrix_may_be_given(overlapping):
    X, y = overlapping
    K = rbf_kernel(X, gamma=0.4)
    for inner in (HardMarginSVM(), SVC(**HARD)):
        expected = SoftPreprocessing(inner, C=2.0, kernel="rbf", gamma=0.4).fit(X, y)
        model = SoftPreprocessing(inner, C=2.0, kernel="precomputed").fit(K, y)
        new = X[:7] + 0.2
        found = model.decision_function(rbf_kernel(new, X, gamma=0.4))
        assert_allclose(found, expected.decision_function(new), rtol=1e-5, atol=1e-8)


def test_small_c_has_the_direction_of_the_class_means(overlapping):
    """Proposition 4 of Graf et al."""
    X, y = overlapping
    means = direction(MeanOfClass().fit(X, y).coef_)
    angles = [
        direction(SoftPreprocessing(HardMarginSVM(), C=C).fit(X, y).coef_) @ means
        for C in (1.0, 1e-3, 1e-6)
    ]
    assert angles[0] < angles[1] < angles[2]
    assert angles[2] == pytest.approx(1.0, abs=1e-8)


def test_large_c_is_no_preprocessing():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    hard = HardMarginSVM().fit(X, y)
    model = SoftPreprocessing(C=1e8).fit(X, y)
    assert_allclose(direction(model.coef_), direction(hard.coef_), atol=1e-4)


def test_other_classifiers_that_need_separable_classes(overlapping):
    X, y = overlapping
    perceptron = Perceptron(max_iter=10**4, tol=None, random_state=0)
    assert perceptron.fit(X, y).score(X, y) < 1.0
    model = SoftPreprocessing(perceptron, C=0.1).fit(X, y)
    padded = np.hstack([X, np.eye(60) / np.sqrt(0.1)])
    assert model.estimator_.score(padded, y) == 1.0
    assert_allclose(model.coef_, model.estimator_.coef_[:, :3])
    kernel = KernelAdaTron(kernel="precomputed")
    soft = SoftPreprocessing(kernel, C=0.1).fit(X, y)
    assert soft.score(X, y) > 0.6


def test_three_classes_and_names():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SoftPreprocessing(HardMarginSVM(), C=10.0).fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert model.score(X, names) > 0.93
    assert_array_equal(
        model.decision_function(X).argmax(axis=1), np.searchsorted(model.classes_, model.predict(X))
    )


def test_certificates_take_the_hyperplane():
    X, y = make_neurons(random_state=0)
    model = SoftPreprocessing(C=0.1).fit(X, y)
    expected = np.abs(model.decision_function(X)) / np.linalg.norm(model.coef_)
    assert_allclose(certified_radius(model, X), expected, rtol=1e-6)


def test_a_refit_without_hyperplane_forgets_the_old_one(overlapping):
    X, y = overlapping
    model = SoftPreprocessing(C=1.0).fit(X, y)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "C=0.0 of SoftPreprocessing"),
        ({"kernel": "cubic"}, "kernel='cubic'"),
        ({"estimator": SVR()}, "must be a classifier"),
        ({"estimator": KNeighborsClassifier()}, "decision_function"),
    ],
)
def test_parameters_are_checked(overlapping, settings, message):
    with pytest.raises(ValueError, match=message):
        SoftPreprocessing(**settings).fit(*overlapping)


def test_a_kernel_that_is_not_positive_is_told(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="lower C"):
        SoftPreprocessing(C=1e6, kernel=lambda A, B: -(A @ B.T)).fit(X, y)
