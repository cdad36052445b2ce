"""AdaTron: the known support vector machines, hard data, and what a student learns."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

import reference
from given_examples import INSEPARABLE
from protolearn import AdaTron
from protolearn.analysis import certified_radius, counterfactual, sample_margin
from protolearn.datasets import make_teacher_student

THRESHOLDS = ["free", "clamped", False]


def rows(seed, n=80, d=5, gap=0.2, noise=0.0):
    """Give rows at some distance from a random hyperplane, some with the wrong label."""
    rng = np.random.RandomState(seed)
    w = rng.randn(d) / np.sqrt(d)
    X = rng.randn(n, d)
    y = np.sign(X @ w)
    return X + gap * np.outer(y, w), np.where(rng.rand(n) < noise, -y, y)


def libsvm(X, y, C, threshold):
    """Give the weights of LIBSVM, without a free threshold on the mirrored set, and its support."""
    machine = SVC(kernel="linear", tol=1e-8, max_iter=10**6)
    if threshold == "free":
        machine.set_params(C=C).fit(X, y)
        return np.append(machine.coef_[0], machine.intercept_), np.sort(machine.support_)
    Z = reference.lengthened(X, threshold == "clamped")
    machine.set_params(C=C / 2).fit(np.vstack([Z, -Z]), np.append(y, -y))
    return machine.coef_[0], np.unique(machine.support_ % len(X))


def weights(model):
    """Give the weights, and the threshold where the oracle has it."""
    clamped = model.fit_intercept == "clamped"
    if model.fit_intercept is False:
        return model.coef_[0]
    return np.append(model.coef_, -model.intercept_ if clamped else model.intercept_)


def assert_same_direction(a, b):
    assert a @ b > 0.99999 * np.linalg.norm(a) * np.linalg.norm(b)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("seed", range(3))
def test_hard_is_the_machine_of_largest_margin(seed, threshold):
    X, y = rows(seed)
    model = AdaTron(fit_intercept=threshold).fit(X, y)
    w, support = libsvm(X, y, 1e6, threshold)
    assert_same_direction(weights(model), w)
    assert_allclose(weights(model), w, rtol=1e-4, atol=1e-4)
    assert_array_equal(model.support_, support)
    if threshold != "free":
        w = reference.largest_stability(reference.lengthened(X, threshold == "clamped"), y)
        assert_allclose(weights(model), w, rtol=1e-5, atol=1e-5)
    length = np.linalg.norm(w[: X.shape[1]] if threshold == "free" else w)
    assert model.stability_ == pytest.approx(1.0 / length, rel=1e-5)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("gamma", [0.5, 5.0, 100.0])
def test_soft_is_the_support_vector_machine(gamma, threshold):
    X, y = rows(3, noise=0.15)
    model = AdaTron(gamma=gamma, fit_intercept=threshold).fit(X, y)
    C = gamma / (X.shape[1] + (threshold == "clamped"))
    w, support = libsvm(X, y, C, threshold)
    assert_same_direction(weights(model), w)
    assert_allclose(weights(model), w, rtol=1e-4, atol=1e-4)
    assert_array_equal(model.support_, support)
    u = model.embedding_strengths_
    assert (u >= 0.0).all()
    assert u.max() == gamma


@pytest.mark.parametrize("threshold", ["clamped", False])
def test_soft_without_a_free_threshold_is_liblinear(threshold):
    X, y = rows(5, noise=0.15)
    Z = reference.lengthened(X, threshold == "clamped")
    oracle = LinearSVC(
        loss="hinge", fit_intercept=False, C=2.0 / Z.shape[1], tol=1e-10, max_iter=10**6
    )
    w = oracle.fit(Z, y).coef_[0]
    model = AdaTron(gamma=2.0, fit_intercept=threshold).fit(X, y)
    assert_same_direction(weights(model), w)
    assert_allclose(weights(model), w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("gamma", [np.inf, None, 1.0])
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("eta", [0.3, 1.0, 1.9])
def test_conditions_hold_and_strengths_embed(gamma, threshold, eta):
    X, y = rows(6)
    model = AdaTron(gamma=gamma, fit_intercept=threshold, eta=eta).fit(X, y)
    u = model.embedding_strengths_[0]
    Z = reference.lengthened(X, threshold == "clamped")
    N = Z.shape[1]
    assert_allclose(
        weights(model)[:N] if threshold != "free" else model.coef_[0], (u * y) @ Z / N, atol=1e-10
    )
    assert_array_equal(model.support_, np.flatnonzero(u > 0.0))
    largest = np.inf if gamma is None else gamma
    E = y * (Z @ ((u * y) @ Z)) / N
    violation = reference.optimality_violation(u, E, y, largest, threshold == "free")
    assert violation <= model.tol * (1 + 1e-3)
    if threshold == "free":
        assert abs(u @ y) <= 1e-12 * u.sum()


def test_stabilities_are_distances_to_the_hyperplane():
    X, y = rows(7)
    model = AdaTron().fit(X, y)
    distance = y * (X @ model.coef_[0] + model.intercept_) / np.linalg.norm(model.coef_)
    assert_allclose(model.stabilities(X, y), distance)
    assert model.stability_ == model.stabilities(X, y).min() > 0.0
    assert_allclose(model.stabilities(X, -y), -distance)
    lengthened = AdaTron(fit_intercept="clamped").fit(X, y)
    w = weights(lengthened)
    expected = y * (reference.lengthened(X, True) @ w) / np.linalg.norm(w)
    assert_allclose(lengthened.stabilities(X, y), expected)


def test_certificates_tell_the_stability():
    X, y = rows(8)
    model = AdaTron().fit(X, y)
    for radius in (certified_radius(model, X), sample_margin(model, X)):
        assert_allclose(radius, model.stabilities(X, y), rtol=1e-9)
    assert_allclose(counterfactual(model, X).distance, model.stabilities(X, y), rtol=1e-6)


def test_more_than_two_classes_are_told_one_versus_rest(iris):
    X, y = iris
    model = AdaTron(gamma=3.0).fit(X, y)
    for k in range(3):
        part = SVC(kernel="linear", C=3.0 / X.shape[1], tol=1e-8).fit(X, y == k)
        assert_allclose(model.coef_[k], part.coef_[0], atol=1e-4)
        assert_allclose(model.intercept_[k], part.intercept_[0], atol=1e-4)
    assert model.embedding_strengths_.shape == (3, 150)
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_errors_of_a_student_fall_as_one_over_the_number_of_examples():
    N, sizes, errors = 20, np.array([4, 8, 16, 32]) * 20, []
    for P in sizes:
        angles = []
        for seed in range(10):
            X, y, teacher = make_teacher_student(P, N, random_state=seed, return_teacher=True)
            w = AdaTron(fit_intercept=False).fit(X, y).coef_[0]
            angles.append(np.arccos(w @ teacher / np.linalg.norm(w)) / np.pi)
        errors.append(np.mean(angles))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -1.25 < slope < -0.8


@pytest.mark.parametrize("threshold", ["free", False])
@pytest.mark.parametrize("power", [-330, -100, 100, 330])
def test_units_of_two_to_a_power_change_nothing(threshold, power):
    X, y = rows(1)
    plain, scaled = (AdaTron(fit_intercept=threshold).fit(X * s, y) for s in (1.0, 2.0**power))
    assert_array_equal(scaled.coef_, plain.coef_ * 2.0**-power)
    assert scaled.stability_ == pytest.approx(plain.stability_ * 2.0**power, rel=1e-12)


def test_a_common_offset_leaves_a_free_threshold_alone():
    X, y = rows(2)
    near, far = AdaTron().fit(X, y), AdaTron().fit(X + 1e6, y)
    assert_same_direction(near.coef_[0], far.coef_[0])
    assert far.stability_ == pytest.approx(near.stability_, rel=1e-6)


EASY = {
    "one of each": (np.array([[0.0, 1.0], [2.0, 3.0]]), [0, 1], np.sqrt(2.0)),
    "fewer rows than columns": (np.eye(3, 10), [0, 1, 1], np.sqrt(1.5) / 2),
    "constant column": (np.array([[7.0, -1.0], [7.0, -3.0], [7.0, 2.0]]), [0, 0, 1], 1.5),
    "repeated rows": (np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), [0, 0, 1, 1, 1], 0.5),
    "tiny next to large": (np.array([[1e-3, 1e3], [-1e-3, 1e3]]), [1, 0], 1e-3),
}


@pytest.mark.parametrize("name", EASY)
def test_small_sets_have_the_stability_that_geometry_says(name):
    X, y, stability = EASY[name]
    assert AdaTron().fit(X, y).stability_ == pytest.approx(stability, rel=1e-5)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", INSEPARABLE)
def test_what_nothing_separates_is_told(name, threshold):
    X, y = INSEPARABLE[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = AdaTron(fit_intercept=threshold).fit(X, y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert warning.filename == __file__
    assert "finite gamma" in str(warning.message)
    assert "the two classes" in str(warning.message)
    assert model.score(X, y) >= 0.5
    assert model.stability_ <= 0.0
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.embedding_strengths_).all()


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", INSEPARABLE)
def test_a_finite_gamma_takes_what_nothing_separates(name, threshold):
    X, y = INSEPARABLE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaTron(gamma=1.0, fit_intercept=threshold).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_free_threshold_never_does_worse_than_one_class():
    X = np.random.RandomState(1).randn(50, 3)
    y = np.arange(50) < 8
    with pytest.warns(ConvergenceWarning, match="nothing separates"):
        assert AdaTron().fit(X, y).score(X, y) >= 42 / 50


def test_the_row_at_the_origin_is_never_learned_without_threshold():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [-1.0, -1.0]]), [1, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="nothing separates"):
        model = AdaTron(fit_intercept=False).fit(X, y)
    assert_array_equal(model.predict(X)[1:], y[1:])
    assert AdaTron(fit_intercept="clamped").fit(X, y).score(X, y) == 1.0


def test_running_out_of_sweeps_is_told():
    X, y = rows(3, noise=0.15)
    with pytest.warns(ConvergenceWarning, match=r"after 1 sweeps: .* or lower gamma"):
        model = AdaTron(gamma=100.0, max_iter=1).fit(X, y)
    assert model.n_iter_ == 1
    assert model.n_updates_ <= len(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", 0.0),
        ("gamma", -np.inf),
        ("gamma", np.nan),
        ("eta", 0.0),
        ("eta", 2.0),
        ("tol", 0.0),
        ("max_iter", 0),
        ("max_iter", 1.5),
        ("fit_intercept", "fixed"),
    ],
)
def test_wrong_parameters_are_named(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        AdaTron(**{name: value}).fit([[0.0], [1.0]], [0, 1])


def test_progress_is_printed(capsys):
    X, y = rows(0)
    AdaTron(verbose=1).fit(X, y)
    assert capsys.readouterr().out.startswith("the two classes, sweep 1: violation 2.0e+00\n")


def test_tools_of_scikit_learn_take_it():
    X, y = rows(9, noise=0.1)
    search = GridSearchCV(AdaTron(), {"gamma": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    model = search.best_estimator_
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.stabilities(X, y), model.stabilities(X, y))
    assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("threshold", ["free", False])
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_other_units_of_the_rows_and_of_gamma(threshold, factor):
    """Rows times a power of two, and gamma by its square: the same hyperplane, every digit."""
    X, y = make_teacher_student(80, 6, noise=0.1, random_state=0)
    model = AdaTron(gamma=2.0, fit_intercept=threshold).fit(X, y)
    other = AdaTron(gamma=2.0 / factor**2, fit_intercept=threshold).fit(factor * X, y)
    assert_array_equal(other.embedding_strengths_ * factor**2, model.embedding_strengths_)
    assert_array_equal(other.coef_ * factor, model.coef_)


@pytest.mark.parametrize("fit_intercept", ["free", "clamped"])
@pytest.mark.parametrize("gamma", [1e3, 1e5])
def test_a_large_bound_on_overlapping_classes(fit_intercept, gamma):
    """Raised in stages; primal and dual agree, so no other weights cost less."""
    rng = np.random.RandomState(0)
    y = np.where(np.arange(200) % 2, 1, -1)
    X = rng.standard_normal((200, 4)) + 0.4 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaTron(gamma=gamma, fit_intercept=fit_intercept).fit(X, y)
    rows = np.column_stack([X, -np.ones(200)]) if fit_intercept == "clamped" else X
    w = np.append(model.coef_[0], -model.intercept_[0])[: rows.shape[1]]
    b = model.intercept_[0] if fit_intercept == "free" else 0.0
    slack = np.maximum(0.0, 1.0 - y * (rows @ w + b)).sum()
    C = gamma / rows.shape[1]
    primal = 0.5 * w @ w + C * slack
    u = model.embedding_strengths_[0] / rows.shape[1]
    combined = (u * y) @ rows
    dual = u.sum() - 0.5 * combined @ combined
    assert 0.0 <= u.min() <= u.max() <= C * (1.0 + 1e-12)
    assert primal - dual <= 1e-5 * primal


def test_nearly_parallel_examples_with_a_large_bound():
    """Single steps alone do not arrive in 10,000 sweeps."""
    X, y = make_classification(
        1000, 20, n_informative=10, n_redundant=0, flip_y=0.1, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaTron(gamma=1e4).fit(X, y)
    E = np.where(y == 1, 1, -1) * model.decision_function(X)
    (u,), (w,) = model.embedding_strengths_, model.coef_
    assert (E[u < 1e4] >= 1 - 1e-3).all()
    assert (E[u > 0] <= 1 + 1e-3).all()
    primal, dual = 10 * w @ w + 1e4 * np.maximum(1 - E, 0).sum(), u.sum() - 10 * w @ w
    assert primal - dual <= 1e-3 * primal
