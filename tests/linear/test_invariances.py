"""What does not change a linear classifier, and what it becomes in its limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.linear_model import Perceptron
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from protolearn import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    SoftMarginSVM,
)
from protolearn.checks import TRANSFORMATIONS, check_invariance
from protolearn.datasets import make_graf_toy

MODELS = {
    "mean of class": (MeanOfClass(), 1e-12),
    "hard margin": (HardMarginSVM(), 1e-9),
    "soft margin": (SoftMarginSVM(C=0.3), 1e-9),
    "squared slacks": (SoftMarginSVM(norm=2, C=0.3), 1e-9),
    "fisher": (FisherPrototypes(), 1e-10),
    "fisher ridge": (FisherPrototypes(ridge=1e3), 1e-10),
    "boosting": (BoostedPrototypes(), 1e-6),
    "rvm": (RVM(), 1e-4),
}
each_model = pytest.mark.parametrize("name", MODELS)


def separable(n_features=4, equal=False):
    """Make separable classes of different size (or of the same) in some dimensions."""
    rng = np.random.RandomState(2)
    X, y = make_graf_toy(random_state=0)
    kept = np.flatnonzero((y > 0) | (np.arange(len(y)) % 2 == 0) | equal)
    more = rng.standard_normal((len(X), n_features - 2))
    return np.column_stack([X, more])[kept], y[kept]


def cosine(u, v):
    return np.ravel(u) @ np.ravel(v) / np.linalg.norm(u) / np.linalg.norm(v)


def fitted(name, X, y):
    model, tolerance = MODELS[name]
    return clone(model).fit(X, y), tolerance


def assert_same(model, expected, prototypes, tolerance, scale=1.0, sign=1.0):
    """Compare with a model whose prototypes have been mapped, in units of the data."""
    normal = prototypes[1] - prototypes[0]
    assert cosine(model.coef_, normal) > 0.9999
    assert_allclose(model.prototypes_ / scale, prototypes / scale, atol=10 * tolerance)
    shift = sign * expected.shift_
    assert_allclose(model.shift_ / scale**2, shift, atol=100 * tolerance, rtol=10 * tolerance)


@each_model
def test_rotation_and_reflection(name):
    X, y = separable()
    Q = ortho_group.rvs(4, random_state=0)
    for matrix in (Q, Q * [-1.0, 1.0, 1.0, 1.0]):
        here, tolerance = fitted(name, X, y)
        there, _ = fitted(name, X @ matrix, y)
        assert_same(there, here, here.prototypes_ @ matrix, tolerance)


@each_model
def test_translation(name):
    X, y = separable()
    move = np.array([10.0, -20.0, 5.0, 100.0])
    here, tolerance = fitted(name, X, y)
    there, _ = fitted(name, X + move, y)
    assert_same(there, here, here.prototypes_ + move, tolerance)


@each_model
def test_permutation(name, rng):
    X, y = separable()
    order = rng.permutation(len(X))
    here, tolerance = fitted(name, X, y)
    there, _ = fitted(name, X[order], y[order])
    assert_same(there, here, here.prototypes_, tolerance)
    assert_allclose(there.dual_coef_[0], here.dual_coef_[0, order], atol=10 * tolerance)


@each_model
def test_label_inversion(name):
    X, y = separable()
    here, tolerance = fitted(name, X, y)
    there, _ = fitted(name, X, -y)
    assert_same(there, here, here.prototypes_[::-1], tolerance, sign=-1.0)


@each_model
@pytest.mark.parametrize("scale", [1e-3, 50.0])
def test_scaling(name, scale):
    X, y = separable()
    here, tolerance = fitted(name, X, y)
    model = clone(here)
    if isinstance(model, SoftMarginSVM):
        model.C /= scale**2
    if isinstance(model, FisherPrototypes):
        model.ridge *= scale**4
    assert_same(model.fit(scale * X, y), here, scale * here.prototypes_, tolerance, scale)


@pytest.mark.parametrize("name", ["soft margin", "squared slacks", "fisher ridge"])
def test_a_fixed_weight_is_not_invariant_to_scaling(name):
    X, y = separable()
    here, _ = fitted(name, X, y)
    there, _ = fitted(name, 0.03 * X, y)
    assert cosine(here.coef_, there.coef_) < 0.999


def test_online_perceptron_breaks_permutation(rng):
    X, y = separable()
    order = rng.permutation(len(X))
    online = Perceptron(shuffle=False, tol=None, max_iter=50)
    here, there = clone(online).fit(X, y), clone(online).fit(X[order], y[order])
    assert cosine(here.coef_, there.coef_) < 0.9999


def test_squared_slacks_without_weight_are_the_mean_of_class():
    X, y = separable(equal=True)
    assert (y > 0).sum() == (y < 0).sum()
    means, model = MeanOfClass().fit(X, y), SoftMarginSVM(norm=2, C=1e-9).fit(X, y)
    assert cosine(means.coef_, model.coef_) > 1 - 1e-12
    assert_allclose(model.prototypes_, means.prototypes_, atol=1e-6)
    assert_allclose(model.shift_, 0.0, atol=1e-5)


def test_squared_slacks_without_weight_lose_the_offset_of_unequal_classes():
    X, y = separable()
    means = MeanOfClass().fit(X, y)
    for C in (1e-7, 1e-9):
        model = SoftMarginSVM(norm=2, C=C).fit(X, y)
        assert cosine(means.coef_, model.coef_) > 1 - 1e-9
        assert_allclose(model.prototypes_, means.prototypes_, atol=1e-3)
        gamma = model.dual_coef_[0]
        diverging = -(np.sum(gamma[y > 0] ** 2) - np.sum(gamma[y < 0] ** 2)) / C
        assert model.shift_[0] == pytest.approx(diverging, rel=1e-2 * C / 1e-7)
        assert abs(model.shift_[0]) > 1e-3 / C


def test_slacks_without_weight_are_the_mean_of_class_of_equal_classes():
    X, y = separable(equal=True)
    means, model = MeanOfClass().fit(X, y), SoftMarginSVM(C=1e-9).fit(X, y)
    assert_allclose(model.prototypes_, means.prototypes_, atol=1e-12)
    # Any offset within two margins is optimal then; that of the means is one of them.
    scale = 1e-9 * (y > 0).sum()
    slack = 1.0 - scale * y * (means.decision_function(X))
    assert (slack > 0.0).all()


def test_slacks_without_weight_reduce_the_hull_of_the_larger_class():
    X, y = separable()
    X, y = np.concatenate([X[y > 0][:14], X[y < 0][:5]]), np.repeat([1, -1], [14, 5])
    mean = X[y < 0].mean(axis=0)
    larger = X[y > 0]
    solved = minimize(
        lambda g: 0.5 * np.sum((g @ larger - mean) ** 2),
        np.full(14, 1 / 14),
        jac=lambda g: larger @ (g @ larger - mean),
        bounds=[(0.0, 1 / 5)] * 14,
        constraints={"type": "eq", "fun": lambda g: g.sum() - 1.0, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    model = SoftMarginSVM(C=1e-7).fit(X, y)
    assert_allclose(model.prototypes_[0], mean, atol=1e-12)
    assert_allclose(model.prototypes_[1], solved.x @ larger, atol=1e-5)
    assert np.linalg.norm(larger.mean(axis=0) - model.prototypes_[1]) > 0.1


@pytest.mark.parametrize("norm", [1, 2])
def test_infinite_weight_is_the_hard_margin(norm):
    X, y = separable()
    hard, soft = HardMarginSVM().fit(X, y), SoftMarginSVM(norm=norm, C=1e12).fit(X, y)
    assert_allclose(soft.prototypes_, hard.prototypes_, atol=1e-8)
    assert_allclose(soft.shift_, 0.0, atol=1e-8)


def test_first_round_of_boosting_is_the_mean_of_class():
    X, y = separable()
    path = BoostedPrototypes().fit(X, y).path_
    assert_allclose(path.prototypes[0], MeanOfClass().fit(X, y).prototypes_, atol=1e-10)


@each_model
def test_invariance_of_any_classifier(name):
    X, y = separable()
    model = clone(MODELS[name][0])
    weighted = name in ("soft margin", "squared slacks", "fisher ridge")
    kept = [kind for kind in TRANSFORMATIONS if not (weighted and kind == "scaling")]
    check_invariance(model, X, y, transformations=kept, tol=0.01)


@pytest.mark.parametrize(
    ("model", "breaks"),
    [
        (DecisionTreeClassifier(max_depth=3, random_state=0), "rotation"),
        (Perceptron(shuffle=False, tol=None, max_iter=5), "permutation"),
        (LinearSVC(C=0.01), "translation"),
        (SVC(kernel="linear", C=1e-3), "scaling"),
    ],
    ids=["tree", "perceptron", "regularised offset", "fixed weight"],
)
def test_what_is_not_invariant(model, breaks, iris):
    with pytest.raises(AssertionError, match=f"changes its answers by .*{breaks}"):
        check_invariance(model, *iris, transformations=[breaks])


def test_several_classes_are_invariant(iris):
    for model in (MeanOfClass(), FisherPrototypes(), NearestCentroid()):
        check_invariance(model, *iris)
    with pytest.raises(ValueError, match="contains 'shear'"):
        check_invariance(MeanOfClass(), *iris, transformations=["shear"])
