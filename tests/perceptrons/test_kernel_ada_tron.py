"""KernelAdaTron: LIBSVM's decision values for every kernel and threshold."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from protolearn import AdaTron, KernelAdaTron
from protolearn.datasets import make_teacher_student
from protolearn.perceptrons import products

THRESHOLDS = ["free", "clamped", False]


def linear(X, Y):
    return X @ Y.T


def polynomial(X, Y):
    return polynomial_kernel(X, Y, degree=2, gamma=0.5, coef0=1.0)


def rbf(X, Y):
    return rbf_kernel(X, Y, gamma=0.7)


def laplacian(X, Y):
    return laplacian_kernel(X, Y, gamma=0.4)


KERNELS = {
    "linear": (linear, {"kernel": "linear"}),
    "polynomial": (polynomial, {"kernel": "polynomial", "degree": 2, "kernel_gamma": 0.5}),
    "rbf": (rbf, {"kernel": "rbf", "kernel_gamma": 0.7}),
    "callable": (laplacian, {"kernel": laplacian}),
}


@pytest.fixture(scope="module")
def moons():
    """Give two half moons that overlap a little, and rows to decide on."""
    X, y = make_moons(90, noise=0.2, random_state=0)
    return X, y, np.random.RandomState(1).uniform(-1.5, 2.5, (60, 2))


@pytest.fixture(scope="module")
def apart():
    """Give a ball of one class between two of the other, linearly separable in no threshold."""
    rng = np.random.RandomState(2)
    X = rng.randn(60, 2) * 0.3 + np.array([[-2.0, 0.0], [0.0, 0.3], [2.0, 0.0]])[np.arange(60) % 3]
    return X, (np.arange(60) % 3 == 1).astype(int), rng.randn(60, 2)


def libsvm(K, y, products, gamma, threshold):
    """Give the decision values of LIBSVM; without a free threshold those of the mirrored set."""
    machine = SVC(kernel="precomputed", tol=1e-8, max_iter=10**6)
    if threshold == "free":
        return machine.set_params(C=gamma).fit(K, y).decision_function(products)
    K, products, y = K + (threshold == "clamped"), products + (threshold == "clamped"), 2 * y - 1
    mirrored = np.block([[K, -K], [-K, K]])
    machine.set_params(C=gamma / 2).fit(mirrored, np.append(y, -y))
    return machine.decision_function(np.hstack([products, -products]))


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", KERNELS)
def test_soft_decisions_are_those_of_libsvm(moons, name, threshold):
    X, y, new = moons
    kernel, parameters = KERNELS[name]
    for gamma in (0.25, 8.0):  # sums of these are exact, and so is what is at the bound
        model = KernelAdaTron(C=gamma, fit_intercept=threshold, **parameters).fit(X, y)
        expected = libsvm(kernel(X, X), y, kernel(new, X), gamma, threshold)
        assert_allclose(model.decision_function(new), expected, rtol=0.0, atol=1e-4)
        assert model.embedding_strengths_.max() == gamma


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", ["polynomial", "rbf", "callable"])
def test_hard_decisions_are_those_of_libsvm(apart, name, threshold):
    X, y, new = apart
    kernel, parameters = KERNELS[name]
    model = KernelAdaTron(fit_intercept=threshold, **parameters).fit(X, y)
    expected = libsvm(kernel(X, X), y, kernel(new, X), 1e6, threshold)
    assert_allclose(model.decision_function(new), expected, rtol=0.0, atol=1e-4)
    assert model.score(X, y) == 1.0
    assert model.stability_ > 0.0


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_the_same_by_name_by_function_and_precomputed(moons, name, threshold):
    X, y, new = moons
    kernel, parameters = KERNELS[name]
    settings = {"C": 2.0, "fit_intercept": threshold}
    named = KernelAdaTron(**parameters, **settings).fit(X, y)
    function = KernelAdaTron(kernel=kernel, **settings).fit(X, y)
    gram = KernelAdaTron(kernel="precomputed", **settings).fit(kernel(X, X), y)
    expected = named.decision_function(new)
    assert_allclose(function.decision_function(new), expected, rtol=1e-5, atol=1e-6)
    assert_allclose(gram.decision_function(kernel(new, X)), expected, rtol=1e-5, atol=1e-6)
    assert_array_equal(function.support_, gram.support_)
    stabilities = named.stabilities(X, y)
    assert_allclose(gram.stabilities(kernel(X, X), y), stabilities, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", KERNELS)
def test_products_that_are_not_kept_give_the_same(moons, name, threshold, monkeypatch):
    X, y, new = moons
    model = KernelAdaTron(C=2.0, fit_intercept=threshold, **KERNELS[name][1])
    kept = model.fit(X, y).decision_function(new)
    monkeypatch.setattr(products, "KEPT", 0)
    again = clone(model).fit(X, y)
    assert_allclose(again.decision_function(new), kept, rtol=1e-5, atol=1e-6)
    assert again.stability_ == pytest.approx(model.stability_, rel=1e-5)


def test_strengths_are_at_their_bounds_or_off_them(moons):
    X, y, _ = moons
    model = KernelAdaTron(kernel="linear", C=0.3).fit(X, y)  # all at the bounds, up to rounding
    u, sign = model.embedding_strengths_[0], 2 * y - 1
    assert_array_equal(np.unique(u), [0.0, 0.3])
    edge = sign - (X @ (u * sign @ X))  # y (1 - E): what is at or beyond -theta
    rising = np.where(sign > 0, u == 0.0, u > 0.0)
    middle = 0.5 * (edge[rising].max() + edge[~rising].min())
    assert model.intercept_[0] == pytest.approx(middle, abs=1e-10)


def test_more_than_two_classes_are_told_one_versus_rest(iris):
    X, y = iris
    model = KernelAdaTron(C=3.0).fit(X, y)
    assert model.kernel_gamma_ == pytest.approx(1.0 / (X.shape[1] * X.var()))
    machines = [SVC(C=3.0, tol=1e-8).fit(X, y == k) for k in range(3)]
    expected = np.column_stack([machine.decision_function(X) for machine in machines])
    assert_allclose(model.decision_function(X), expected, atol=1e-4)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))
    everyone = np.unique(np.concatenate([machine.support_ for machine in machines]))
    assert_array_equal(model.support_, everyone)
    assert model.dual_coef_.shape == (3, len(everyone))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_what_is_stored_gives_decisions_and_stabilities(moons, threshold):
    X, y, new = moons
    model = KernelAdaTron(C=2.0, kernel_gamma=0.7, fit_intercept=threshold).fit(X, y)
    sign, u = 2 * y - 1, model.embedding_strengths_[0]
    assert_array_equal(model.support_, np.flatnonzero(u > 0.0))
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert_array_equal(model.dual_coef_[0], (u * sign)[model.support_])
    by_hand = rbf(new, X) @ (u * sign) + model.intercept_
    assert_allclose(model.decision_function(new), by_hand, atol=1e-10)
    K = rbf(X, X) + (threshold == "clamped")
    E = sign * (rbf(X, X) @ (u * sign) + model.intercept_)
    assert_allclose(model.stabilities(X, y), E / np.sqrt((u * sign) @ K @ (u * sign)), atol=1e-10)
    assert model.stability_ == model.stabilities(X, y).min()
    if threshold == "clamped":
        assert model.intercept_[0] == pytest.approx(u @ sign)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_linear_kernel_is_the_ada_tron(moons, threshold):
    X, y, new = moons
    plain = AdaTron(gamma=2.0, fit_intercept=threshold).fit(X, y)
    N = X.shape[1] + (threshold == "clamped")
    kernel = KernelAdaTron(kernel="linear", C=2.0 / N, fit_intercept=threshold).fit(X, y)
    assert_allclose(kernel.decision_function(new), plain.decision_function(new), atol=1e-5)
    assert_allclose(kernel.stabilities(X, y), plain.stabilities(X, y), atol=1e-5)


def test_another_kernel_forgets_what_the_one_before_left(moons):
    X, y, _ = moons
    model = KernelAdaTron(C=1.0).fit(X, y)
    assert hasattr(model, "kernel_gamma_")
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "kernel_gamma_")
    assert hasattr(model, "support_vectors_")
    model.set_params(kernel="precomputed").fit(X @ X.T, y)
    assert not hasattr(model, "support_vectors_")


def test_tools_of_scikit_learn_take_it(moons):
    X, y, new = moons
    function = cross_val_score(KernelAdaTron(kernel=rbf, C=1.0), X, y, cv=5)
    gram = cross_val_score(KernelAdaTron(kernel="precomputed", C=1.0), rbf(X, X), y, cv=5)
    assert_array_equal(function, gram)
    model = GridSearchCV(KernelAdaTron(), {"C": [0.1, 1.0]}, cv=3).fit(X, y).best_estimator_
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(new), model.decision_function(new))
    assert_array_equal(clone(model).fit(X, y).dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("power", [-300, 300])
def test_units_of_two_to_a_power_change_nothing(moons, threshold, power):
    X, y, new = moons
    model = KernelAdaTron(C=2.0, fit_intercept=threshold)
    plain = model.fit(X, y).decision_function(new)
    scaled = clone(model).fit(X * 2.0**power, y).decision_function(new * 2.0**power)
    assert_array_equal(scaled, plain)  # kernel_gamma is "scale"


def test_rows_with_both_labels_are_told(moons):
    X = np.vstack([moons[0], moons[0][:1]])
    y = np.append(moons[1], 1 - moons[1][0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KernelAdaTron().fit(X, y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert warning.filename == __file__
    assert "Set a finite C" in str(warning.message)
    assert model.score(X, y) > 0.5
    assert np.isfinite(model.decision_function(X)).all()
    assert KernelAdaTron(C=1.0).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("X", [np.ones((6, 2)), np.zeros((6, 2))], ids=["ones", "zeros"])
def test_identical_rows_are_told(X, threshold):
    model = KernelAdaTron(kernel="linear", fit_intercept=threshold)
    with pytest.warns(ConvergenceWarning, match="the two classes"):
        model.fit(X, [0, 1, 0, 1, 1, 0])
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("kept", [1 << 28, 0])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_products_beyond_numbers_are_reported(kept, monkeypatch):
    monkeypatch.setattr(products, "KEPT", kept)
    X = np.array([[1e120, 0.0], [0.0, 1e120], [1e120, 1e119], [0.0, 3e119]])
    with pytest.raises(ValueError, match="not finite"):
        KernelAdaTron(kernel="polynomial", kernel_gamma=1.0, degree=3).fit(X, [0, 1, 0, 1])


def test_gram_matrices_are_checked():
    model = KernelAdaTron(kernel="precomputed")
    with pytest.raises(ValueError, match="square matrix"):
        model.fit(np.ones((3, 2)), [0, 1, 1])
    with pytest.raises(ValueError, match="not symmetric"):
        model.fit([[1.0, 2.0], [0.0, 1.0]], [0, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "cosine"),
        ("kernel_gamma", 0.0),
        ("kernel_gamma", "auto"),
        ("degree", 0),
        ("coef0", -1.0),
        ("C", 0.0),
        ("eta", 2.0),
        ("fit_intercept", None),
        ("tol", 0.0),
    ],
)
def test_wrong_parameters_are_named(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        KernelAdaTron(**{name: value}).fit([[0.0], [1.0]], [0, 1])


def test_a_linear_kernel_far_from_the_origin():
    X, y = make_teacher_student(100, 5, random_state=0)
    near, far = KernelAdaTron(kernel="linear").fit(X, y), KernelAdaTron(kernel="linear")
    far.fit(X + 1e6, y)
    assert_allclose(far.decision_function(X + 1e6), near.decision_function(X), atol=1e-5)
    assert_allclose(far.stability_, near.stability_, rtol=1e-6)
    weights = AdaTron(tol=1e-8).fit(X + 1e6, y)
    assert far.intercept_[0] == pytest.approx(weights.intercept_[0], rel=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 100.0, 300.0])
def test_products_of_any_size(factor):
    """Strengths that are tiny beside gamma count: products of 1e14 and a bound of one."""
    X, y = make_teacher_student(60, 5, random_state=1)
    X = factor * X
    model = KernelAdaTron(kernel="polynomial", kernel_gamma=1.0, C=1.0).fit(X, y)
    machine = SVC(kernel="poly", gamma=1.0, coef0=1.0, C=1.0, tol=1e-8).fit(X, y)
    assert_allclose(model.decision_function(X), machine.decision_function(X), atol=1e-4)
    u = model.embedding_strengths_[0]
    assert abs(u @ y) <= 1e-9 * u.sum()


def test_a_matrix_that_is_not_semidefinite_is_refused():
    X, y = make_teacher_student(60, 5, random_state=1)
    model = KernelAdaTron(kernel="precomputed", max_iter=200)
    for gram in (X @ X.T - 2.0 * np.eye(60), -X @ X.T):
        with pytest.raises(ValueError, match="not those of a positive semi-definite kernel"):
            model.fit(gram, y)
    with pytest.raises(ValueError, match="semi-definite"):
        KernelAdaTron(kernel=lambda X, Y: -X @ Y.T).fit(X, y)


def test_no_support_vectors(monkeypatch):
    X, y = make_teacher_student(20, 3, random_state=0)
    model = KernelAdaTron().fit(X, y)
    model._keep(X, np.zeros((1, 20)))
    model.support_, model.dual_coef_ = np.empty(0, dtype=int), np.empty((1, 0))
    assert_allclose(model.decision_function(X), np.full(20, model.intercept_[0]))
    with pytest.raises(ValueError, match="tol"):
        KernelAdaTron(tol=3.0).fit(X, y)
