"""Support vector machines against LIBSVM, quadratic programs and the conditions of an optimum."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from protolearn import HardMarginSVM, NotSeparableError, SoftMarginSVM, is_separable
from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.linear.canonical import CenteredFrame
from protolearn.linear.svm_solver import soft_margin_1, soft_margin_2


def overlapping(name):
    rng = np.random.RandomState(0)
    if name == "wdbc":
        X, y = load_breast_cancer(return_X_y=True)
        X, y = X[:200], y[:200]
    elif name == "neurons":
        X, y = make_neurons(random_state=0)
        X, y = X[:150], (y[:150] == y.max()).astype(int)
    elif name == "wide":
        X, y = rng.standard_normal((30, 60)), np.arange(30) % 2
    else:
        y = (np.arange(80) % 4 == 0).astype(int)
        X = rng.standard_normal((80, 3)) + y[:, None]
    return StandardScaler().fit_transform(X) / np.sqrt(X.shape[1]), y


def machine(model, X, C=np.inf):
    """Give ``alpha, w, b`` in the scale of the margin; alpha is best on its ray in the dual."""
    gamma, plain = model.dual_coef_[0], np.diff(model.prototypes_, axis=0)[0]
    if model.norm == 2:
        length = 2.0 / (plain @ plain + np.sum(gamma**2 / C))
    else:
        with np.errstate(divide="ignore"):
            length = min(2.0 / (plain @ plain), np.min(C / np.abs(gamma)))
    assert_allclose(model.coef_[0], length * plain, rtol=1e-6, atol=1e-9 * length)
    return length * np.abs(gamma), model.coef_[0], model.intercept_[0]


def primal(norm, w, b, X, signs, C):
    slack = np.maximum(0.0, 1.0 - signs * (X @ w + b))
    return 0.5 * w @ w + np.sum(C * slack if norm == 1 else 0.5 * C * slack**2)


def dual(norm, alpha, X, signs, C):
    w = (alpha * signs) @ X
    return alpha.sum() - 0.5 * w @ w - (0.5 * np.sum(alpha**2 / C) if norm == 2 else 0.0)


def libsvm(norm, X, y, C, weight=None):
    """Give w and b of LIBSVM; squared slacks as a hard margin with ``1/C`` on the diagonal."""
    if norm == 1:
        model = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y, weight)
        return model.coef_[0], model.intercept_[0]
    give = np.full(len(X), 1.0 / C) if weight is None else 1.0 / (C * weight)
    model = SVC(kernel="precomputed", C=1e8, tol=1e-10).fit(X @ X.T + np.diag(give), y)
    return model.dual_coef_[0] @ X[model.support_], model.intercept_[0]


SETS = ["overlap", "wdbc", "neurons", "wide"]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("name", SETS)
def test_same_as_libsvm(name, C, norm):
    X, y = overlapping(name)
    _, w, b = machine(SoftMarginSVM(norm=norm, C=C).fit(X, y), X, C)
    coef, intercept = libsvm(norm, X, y, C)
    assert_allclose(w, coef, atol=1e-6 * np.linalg.norm(coef))
    assert_allclose(b, intercept, atol=1e-6 * max(1.0, np.linalg.norm(coef)))


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("name", SETS)
def test_optimum(name, C, norm):
    X, y = overlapping(name)
    signs = 2 * y - 1
    alpha, w, b = machine(SoftMarginSVM(norm=norm, C=C).fit(X, y), X, C)
    value = primal(norm, w, b, X, signs, C)
    gap = value - dual(norm, alpha, X, signs, C)
    assert abs(alpha @ signs) <= 1e-12 * alpha.sum()
    assert -1e-12 * value <= gap <= 1e-9 * value
    margins = signs * (X @ w + b)
    if norm == 2:
        assert_allclose(np.maximum(0.0, 1.0 - margins), alpha / C, atol=1e-8)
    else:
        assert (alpha <= C * (1 + 1e-12)).all()
        assert (margins[alpha < C * (1 - 1e-9)] >= 1 - 1e-7).all()
        assert (margins[alpha > 0.0] <= 1 + 1e-7).all()


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("name", ["overlap", "wdbc"])
@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_never_worse_than_libsvm(name, C):
    X, y = overlapping(name)
    signs = 2 * y - 1
    theirs = SVC(kernel="linear", C=C, tol=1e-6, max_iter=200_000).fit(X, y)
    _, w, b = machine(SoftMarginSVM(C=C).fit(X, y), X, C)
    best = primal(1, theirs.coef_[0], theirs.intercept_[0], X, signs, C)
    assert primal(1, w, b, X, signs, C) <= best * (1 + 1e-12)


@pytest.mark.parametrize("norm", [1, 2])
def test_sample_weights(norm, rng):
    X, y = overlapping("overlap")
    weight = rng.uniform(0.1, 3.0, len(X))
    model = SoftMarginSVM(norm=norm, C=2.0).fit(X, y, weight)
    _, w, b = machine(model, X, 2.0 * weight)
    coef, intercept = libsvm(norm, X, y, 2.0, weight)
    assert_allclose(np.append(w, b), np.append(coef, intercept), atol=2e-6)


@pytest.mark.parametrize("norm", [1, 2])
def test_weights_are_repeated_rows(norm, rng):
    X, y = overlapping("overlap")
    weight = rng.randint(0, 4, len(X))
    model = SoftMarginSVM(norm=norm).fit(X, y, weight)
    coef, prototypes, shift = model.coef_, model.prototypes_, model.shift_
    model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(model.coef_, coef, atol=1e-10)
    assert_allclose(model.prototypes_, prototypes, atol=1e-10)
    assert_allclose(model.shift_, shift, atol=1e-10)


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 5.0}, "balanced"], ids=["dict", "balanced"])
def test_class_weight(class_weight):
    X, y = overlapping("overlap")
    model = SoftMarginSVM(class_weight=class_weight).fit(X, y)
    theirs = SVC(kernel="linear", tol=1e-10, class_weight=class_weight).fit(X, y)
    _, w, b = machine(model, X, theirs.class_weight_[y])
    assert_allclose(np.append(w, b), np.append(theirs.coef_, theirs.intercept_), atol=2e-6)


def test_balanced_classes_count_by_their_weights(rng):
    X, y = overlapping("overlap")
    weight = rng.randint(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    model = SoftMarginSVM(norm=2, class_weight="balanced")
    weighted = model.fit(X, y, weight).decision_function(X)
    assert_allclose(weighted, model.fit(X[rows], y[rows]).decision_function(X), atol=1e-9)


@pytest.mark.parametrize("norm", [1, 2])
def test_one_versus_rest(norm, iris):
    X, y = iris
    mine = SoftMarginSVM(norm=norm, multi_class="ovr").fit(X, y)
    other = OneVsRestClassifier(SoftMarginSVM(norm=norm)).fit(X, y)
    assert_allclose(mine.decision_function(X), other.decision_function(X), atol=1e-9)
    assert (mine.predict(X) == other.predict(X)).all()


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_one_versus_rest_is_that_of_libsvm(C, iris):
    X, y = iris
    mine = SoftMarginSVM(C=C, multi_class="ovr").fit(X, y)
    theirs = OneVsRestClassifier(SVC(kernel="linear", C=C, tol=1e-10)).fit(X, y)
    assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert (mine.predict(X) == theirs.predict(X)).all()


def joint_cost(W, b, X, y, C):
    """Give the cost of Crammer and Singer."""
    scores = X @ W.T + b
    lead = 1.0 + scores - scores[np.arange(len(y)), y][:, None]
    lead[np.arange(len(y)), y] = 0.0
    return 0.5 * np.sum(W**2) + np.sum(C * lead.max(axis=1))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("C", [0.2, 5.0])
def test_crammer_singer_and_liblinear(load, C):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X) / np.sqrt(X.shape[1])
    settings = {"C": C, "multi_class": "crammer_singer"}
    model = SoftMarginSVM(**settings).fit(X, y)
    theirs = LinearSVC(**settings, tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)
    mine, other = (joint_cost(m.coef_, m.intercept_, X, y, C) for m in (model, theirs))
    assert mine <= other * (1.0 + 1e-6)
    # LIBLINEAR's own cost has the squared offsets as well, and is the least of its kind.
    offsets = model.intercept_ - model.intercept_.mean()
    assert other + 0.5 * np.sum(theirs.intercept_**2) <= 1.001 * (mine + 0.5 * np.sum(offsets**2))
    assert np.mean(model.predict(X) == theirs.predict(X)) > 0.97


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_tol_is_a_share_of_the_least_cost(load, C):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    least, coarse = (
        joint_cost(model.coef_, model.intercept_, X, y, C)
        for model in (SoftMarginSVM(C=C).fit(X, y), SoftMarginSVM(C=C, tol=1e-2).fit(X, y))
    )
    assert least * (1.0 - 1e-9) <= coarse <= least / (1.0 - 1e-2)


def test_crammer_singer_is_the_quadratic_program(rng):
    y = np.arange(18) % 3
    X = rng.standard_normal((18, 2)) + 1.5 * np.eye(3)[y][:, :2]
    weight, C = rng.uniform(0.5, 2.0, 18), 0.7
    model = SoftMarginSVM(C=C, multi_class="crammer_singer").fit(X, y, weight)

    def cost(v):  # normals, offsets and slacks
        return 0.5 * np.sum(v[:6] ** 2) + C * weight @ v[9:]

    def room(v):
        scores = X @ v[:6].reshape(3, 2).T + v[6:9]
        lead = scores[np.arange(18), y][:, None] - scores - 1.0 + v[9:, None]
        lead[np.arange(18), y] = v[9:]
        return lead.ravel()

    start = np.concatenate([np.zeros(9), np.ones(18)])
    solved = minimize(
        cost,
        start,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    mine = joint_cost(model.coef_, model.intercept_, X, y, C * weight)
    assert mine == pytest.approx(solved.fun, rel=2e-6)
    coef = model.coef_ - model.coef_.mean(axis=0)
    assert_allclose(coef, solved.x[:6].reshape(3, 2), atol=5e-3)


def test_crammer_singer_warns_of_impossible_data(rng):
    X = rng.standard_normal((60, 3)) * [1.0, 1e4, 1e-4]
    with pytest.warns(ConvergenceWarning, match="Scale the features, or take a smaller C"):
        SoftMarginSVM(C=1e3, multi_class="crammer_singer").fit(X, np.arange(60) % 3)


@pytest.mark.parametrize(("n_classes", "shape"), [(3, (24, 3)), (4, (40, 5)), (3, (15, 20))])
def test_joint_hard_margin_is_the_quadratic_program(n_classes, shape, rng):
    (n, d), K = shape, n_classes
    y, means = np.arange(n) % K, 3.0 * rng.standard_normal((K, d))
    X = means[y] + 0.5 * rng.standard_normal((n, d))
    model = HardMarginSVM(multi_class="crammer_singer").fit(X, y)

    def room(v):
        scores = X @ v[: K * d].reshape(K, d).T + v[K * d :]
        lead = scores[np.arange(n), y][:, None] - scores - 1.0
        return lead[np.arange(K) != y[:, None]]

    start = np.concatenate([5.0 * means.ravel(), -2.5 * np.sum(means**2, axis=1)])
    solved = minimize(
        lambda v: 0.5 * np.sum(v[: K * d] ** 2),
        start,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    coef = model.coef_ - model.coef_.mean(axis=0)
    assert 0.5 * np.sum(coef**2) == pytest.approx(solved.fun, rel=1e-6)
    assert_allclose(coef, solved.x[: K * d].reshape(K, d), atol=1e-4 * np.abs(coef).max())
    assert room(np.append(model.coef_, model.intercept_)).min() > -1e-6
    assert_allclose(model.margin_, 1.0 / cdist(coef, coef).max(axis=1))
    assert model.score(X, y) == 1.0


def test_joint_hard_margin_needs_less_than_one_versus_rest():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 2]  # no hyperplane separates the middle one
    with pytest.raises(NotSeparableError):
        HardMarginSVM().fit(X, y)
    assert HardMarginSVM(multi_class="crammer_singer").fit(X, y).score(X, y) == 1.0


def test_joint_hard_margin_names_the_rows_in_the_way():
    X = np.append(np.repeat([0.0, 10.0, 20.0], 5) + np.tile(np.arange(5) / 10.0, 3), 10.2)[:, None]
    y = np.append(np.repeat([0, 1, 2], 5), 2)
    with pytest.raises(NotSeparableError, match="all classes at once") as caught:
        HardMarginSVM(multi_class="crammer_singer").fit(X, y)
    assert caught.value.rows.tolist() == [15]


def test_many_classes_are_told_apart_jointly_unless_asked_otherwise(rng):
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 2)) + 2.0 * np.eye(3)[y][:, :2]
    joint, apart = (SoftMarginSVM(multi_class=m) for m in ("crammer_singer", "ovr"))
    assert_allclose(SoftMarginSVM().fit(X, y).coef_, joint.fit(X, y).coef_)
    squared, one = SoftMarginSVM(norm=2).fit(X, y), SoftMarginSVM(norm=2, multi_class="ovr")
    assert_allclose(squared.coef_, one.fit(X, y).coef_)
    curved = SoftMarginSVM(kernel="rbf").fit(X, y)
    assert_allclose(curved.dual_coef_, apart.set_params(kernel="rbf").fit(X, y).dual_coef_)


def test_squared_slacks_have_no_joint_form():
    with pytest.raises(ValueError, match="exclude each other"):
        SoftMarginSVM(norm=2, multi_class="crammer_singer").fit([[0.0], [1.0]], [0, 1])


def separable(rng, n=24, d=3, margin=0.3):
    X, normal = rng.standard_normal((n, d)), rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    y = (X @ normal > 0.0).astype(int)
    y[:2] = 0, 1
    X -= np.outer(X @ normal, normal)
    return X + np.outer((2 * y - 1) * (margin + rng.exponential(size=n)), normal), y


@pytest.mark.parametrize("shape", [(24, 3), (40, 2), (6, 10), (2, 1)], ids=str)
def test_hard_margin_is_the_quadratic_program(shape, rng):
    X, y = separable(rng, *shape)
    signs = 2 * y - 1
    solved = minimize(
        lambda v: 0.5 * v[:-1] @ v[:-1],
        np.zeros(X.shape[1] + 1),
        jac=lambda v: np.append(v[:-1], 0.0),
        constraints={
            "type": "ineq",
            "fun": lambda v: signs * (X @ v[:-1] + v[-1]) - 1.0,
            "jac": lambda v: signs[:, None] * np.column_stack([X, np.ones(len(X))]),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    w, b = solved.x[:-1], solved.x[-1]
    model = HardMarginSVM().fit(X, y)
    assert model.margin_ == pytest.approx(1.0 / np.linalg.norm(w), rel=1e-6)
    coef, length = model.coef_[0], np.linalg.norm(model.coef_)
    assert_allclose(coef / length, w / np.linalg.norm(w), atol=1e-5)
    assert_allclose(model.intercept_[0] / length, b / np.linalg.norm(w), atol=1e-5)
    scores = signs * model.decision_function(X)
    assert_allclose(scores[model.support_], 1.0, rtol=1e-9)
    assert scores.min() == pytest.approx(1.0, rel=1e-9)
    assert 1.0 / length == pytest.approx(model.margin_, rel=1e-9)
    assert_allclose(np.abs(model.project(X)).min(), model.margin_, rtol=1e-9)
    assert_allclose(model.shift_, 0.0, atol=1e-9 * model.margin_[0] ** 2)
    assert_allclose(model.support_vectors_, X[model.support_], atol=0.0)
    assert (np.abs(model.dual_coef_[0]) > 0.0).nonzero()[0].tolist() == model.support_.tolist()


def test_hard_margin_is_libsvm_with_a_large_C():
    X, y = make_graf_toy(random_state=0)
    X = X - X.mean(axis=0)
    theirs = SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y)
    model = HardMarginSVM().fit(X, y)
    assert model.support_.tolist() == sorted(theirs.support_)
    assert_allclose(model.coef_, theirs.coef_, rtol=1e-5)
    assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-5)
    assert_allclose(model.support_vectors_, theirs.support_vectors_[np.argsort(theirs.support_)])


@pytest.mark.parametrize("margin", [1e-3, 1e-5])
def test_narrow_margins(margin, rng):
    X, signs = rng.standard_normal((60, 3)), np.where(np.arange(60) % 2, 1, -1)
    X[:, 0] = signs * (margin + rng.exponential(size=60))
    X[1] = X[0]  # two samples face each other: their middle plane is the widest
    X[:2, 0] = -margin, margin
    y = (signs > 0).astype(int)
    model = HardMarginSVM().fit(X, y)
    assert model.margin_ == pytest.approx(margin, rel=1e-6)
    assert_allclose(np.abs(model.coef_[0]) / np.linalg.norm(model.coef_), [1, 0, 0], atol=1e-6)
    X[0, 0] = 2 * margin  # now it is beyond the other
    X[1:, 1:] = np.sign(X[1:, 1:]) * 1e3  # and the plane cannot tilt around them
    X[:2, 1:] = 0.0
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVM().fit(X, y)
    kept = np.setdiff1d(np.arange(60), caught.value.rows)
    assert HardMarginSVM().fit(X[kept], y[kept]).score(X[kept], y[kept]) == 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("unit", [1e-2, 1e-4, 1e-6])
def test_features_of_different_scale(unit, rng):
    X = rng.standard_normal((80, 3))
    y = (X[:, 1] > 0.0).astype(int)
    X[:, 1] = unit * (X[:, 1] + 0.1 * (2 * y - 1))  # the small feature alone separates
    model = HardMarginSVM().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.margin_ > 0.1 * unit


def test_separable_only_beyond_rounding(rng):
    X = rng.standard_normal((80, 3))
    y = (X[:, 1] > 0.0).astype(int)
    X[:, 1] *= 1e-12
    with pytest.raises(ValueError, match=r"rounding hides it\. Scale the features"):
        HardMarginSVM().fit(X, y)


def test_rows_in_the_way():
    rng = np.random.RandomState(3)
    X, y = separable(rng, 60, 2)
    y[[7, 21, 40]] = 1 - y[[7, 21, 40]]
    with pytest.raises(NotSeparableError, match=r"Without rows .* there would be one") as caught:
        HardMarginSVM().fit(X, y)
    rows = caught.value.rows
    assert {7, 21, 40} <= set(rows.tolist())
    kept = np.setdiff1d(np.arange(60), rows)
    assert HardMarginSVM().fit(X[kept], y[kept]).score(X[kept], y[kept]) == 1.0
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.rows.tolist() == rows.tolist()
    assert str(copy) == str(caught.value)


def test_many_rows_that_overlap_are_found_without_the_large_program(monkeypatch):
    X, y = make_classification(4000, 30, n_informative=8, flip_y=0.02, random_state=0)
    monkeypatch.setattr("protolearn.linear.svm_solver.samples_in_the_way", None)
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVM().fit(X, y)
    kept = np.setdiff1d(np.arange(len(X)), caught.value.rows)
    assert is_separable(X[kept], y[kept])
    assert len(kept) > 0.8 * len(X)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 12),
    level=st.floats(-6.0, 6.0),
    lattice=st.booleans(),
    weighted=st.booleans(),
)
def test_solutions_are_optimal(seed, n, d, level, lattice, weighted):
    rng = np.random.RandomState(seed)
    X = rng.randint(-2, 3, (n, d)) if lattice else rng.randn(n, d) * 10.0 ** rng.uniform(-2, 2, d)
    assume(np.ptp(X, axis=0).any())
    signs = np.where(rng.rand(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    rows = CenteredFrame.of(X.astype(float)).rows
    C = 10.0**level * (rng.uniform(0.1, 10.0, n) if weighted else np.ones(n))
    for solve, give in ((soft_margin_1, 0.0), (soft_margin_2, 1.0 / C)):
        alpha, _, offset, *_ = solve(rows, signs, C)
        normal = (alpha * signs) @ rows
        slack = np.maximum(1.0 - signs * (rows @ normal + offset), 0.0)
        cost = C @ (0.5 * slack**2 if np.any(give) else slack)
        primal = 0.5 * normal @ normal + cost
        dual = alpha.sum() - 0.5 * normal @ normal - 0.5 * np.sum(give * alpha**2)
        assert (alpha >= 0.0).all()
        assert np.any(give) or (alpha <= C).all()
        assert abs(alpha @ signs) <= 1e-8 * alpha.sum()
        assert primal - dual <= 1e-7 * primal


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_no_direction_at_all_is_best(scale):
    x = np.array([-2.0, 1.0, 0.0, 2.0, -1.0, 0.0, -1.0, 1.0])
    y = np.array([0, 1, 1, 1, 1, 1, 1, 0])
    model = SoftMarginSVM(C=scale**-2.0).fit(scale * x[:, None], y)
    # Every multiplier of the smaller class is at its cap, and an average of the larger one is -1/2.
    assert_allclose(model.prototypes_ / scale, [[-0.5], [-0.5]], atol=1e-9)


def test_equal_points_in_both_classes():
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVM().fit([[0.0], [1.0], [2.0], [1.0]], [0, 0, 1, 1])
    assert caught.value.rows.tolist() in ([1], [3])


def test_message_names_the_class_of_one_versus_rest():
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "a", "b", "b", "c", "c"]
    with pytest.raises(NotSeparableError, match="separates class 'b' from the rest"):
        HardMarginSVM().fit(X, y)


def test_message_names_at_most_ten_rows():
    error = NotSeparableError(np.arange(25))
    assert "rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 15 more" in str(error)
    assert "Without row 4 there would be one: look whether it is" in str(NotSeparableError([4]))


@pytest.mark.parametrize("norm", [1, 2])
def test_impossible_C_warns(norm):
    X, y = make_classification(100, 5, flip_y=0.2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="take a smaller C"):
        model = SoftMarginSVM(norm=norm, C=1e40).fit(X, y)
    easy = SoftMarginSVM(norm=norm, C=1e3).fit(X, y)
    assert model.score(X, y) > easy.score(X, y) - 0.03  # and is still of use


@pytest.mark.parametrize(
    "arguments", [{"C": 0.0}, {"C": np.inf}, {"C": "1"}, {"norm": 3}, {"norm": True}], ids=str
)
def test_bad_parameters(arguments):
    name = next(iter(arguments))
    with pytest.raises(ValueError, match=f"{name}="):
        SoftMarginSVM(**arguments).fit([[0.0], [1.0]], [0, 1])
