"""The hypothesis margin of linear classifiers: prototypes move, the shift stays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, RejectClassifier, certified_radius, hypothesis_margin
from protolearn.analysis.hypothesis_margins import margin_of_prediction
from protolearn.linear import RVM, SoftMarginSVM, is_joint
from protolearn.linear.discriminants import FisherPrototypes, MeanOfClass

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.sampled_from([0.0, 0.1, 1.0, 10.0])


def given_planes(plus, minus, shift, factor=None):
    """Make a fitted model of prototypes, rows for each problem of two classes."""
    model, factor = MeanOfClass(), np.ones(len(plus)) if factor is None else factor
    model.classes_ = np.arange(max(len(plus), 2))
    model.n_features_in_ = plus.shape[1]
    offset = 0.5 * (shift - np.sum(plus**2, axis=1) + np.sum(minus**2, axis=1))
    model.coef_, model.intercept_ = factor[:, None] * (plus - minus), factor * offset
    model.shift_ = shift
    if len(plus) == 1:
        model.prototypes_ = np.vstack([minus, plus])
    else:
        model.prototypes_, model.rest_prototypes_ = plus, minus
    return model


def random_planes(rng, n_problems, d, size):
    """Give prototypes, shifts and factors."""
    plus, minus = rng.randn(2, n_problems, d)
    if size > 0.0 and rng.rand() < 0.2:
        minus[0] = plus[0]  # the shift alone decides
    factor = np.exp(rng.randn(n_problems)) if n_problems > 1 else None
    return plus, minus, size * rng.randn(n_problems), factor


def class_scores(x, plus, minus, shift, factor=None):
    """Give the score of each class, of two classes zero and that of the second."""
    squares = np.sum((x - minus) ** 2, axis=1) - np.sum((x - plus) ** 2, axis=1) + shift
    scores = squares if factor is None else factor * squares
    return np.append(0.0, scores) if len(plus) == 1 else scores


def moved(x, points, signs, theta):
    """Move points by theta, towards x where the sign is -1, but not past it."""
    ways, out = points - x, points.copy()
    for i, (way, sign) in enumerate(zip(ways, signs, strict=True)):
        d = np.linalg.norm(way)
        direction = way / d if d > 0.0 else np.eye(len(x))[0]  # all are alike from the same place
        out[i] += direction * (theta if sign > 0 else -min(theta, d))
    return out


def lead_after(theta, x, y, k, planes):
    """Give the lead of y over k after the moves by theta that are worst for y (best: theta < 0)."""
    plus, minus, *rest = planes
    signs = np.where(np.arange(len(plus)) == y, 1, -1)
    if len(plus) == 1:  # the only row is of class 1
        signs = np.array([1 if y == 1 else -1])
    signs = signs * (1 if theta >= 0 else -1)
    plus, minus = moved(x, plus, signs, abs(theta)), moved(x, minus, -signs, abs(theta))
    scores = class_scores(x, plus, minus, *rest)
    return scores[y] - scores[k]


def by_roots(x, y, planes):
    """Give the margin by root finding over explicit moves."""
    others = [k for k in range(max(len(planes[0]), 2)) if k != y]
    return min(brentq(lead_after, -1e4, 1e4, (x, y, k, planes), xtol=1e-13) for k in others)


def planes_of(model, X):
    """Give prototypes, shifts and factors of a fitted model; factors by what it says about X."""
    plus, minus = model.prototypes_[1:], model.prototypes_[:1]
    if len(model.classes_) > 2:
        plus, minus = model.prototypes_, model.rest_prototypes_
    ours = np.array([class_scores(x, plus, minus, model.shift_)[-len(plus) :] for x in X])
    theirs = model.decision_function(X).reshape(ours.shape)
    factor = (ours * theirs).sum(axis=0) / (ours * ours).sum(axis=0)
    np.testing.assert_allclose(factor * ours, theirs, rtol=1e-7, atol=1e-10)
    return plus, minus, model.shift_, factor


@given(seed=SEEDS, n_problems=st.sampled_from([1, 3, 5]), d=st.integers(1, 6), size=SIZES)
def test_is_where_the_worst_moves_change_the_class(seed, n_problems, d, size):
    rng = np.random.RandomState(seed)
    planes = random_planes(rng, n_problems, d, size)
    model, X = given_planes(*planes), rng.choice([0.1, 1.0, 3.0]) * rng.randn(4, d)
    for y in model.classes_:
        margin = hypothesis_margin(model, X, np.full(4, y))
        np.testing.assert_array_equal(margin > 0.0, model.predict(X) == y)
        expected = [by_roots(x, y, planes) for x in X]
        np.testing.assert_allclose(margin, expected, rtol=1e-7, atol=1e-9)


@given(seed=SEEDS, n_problems=st.sampled_from([1, 3]), d=st.integers(1, 4), size=SIZES)
def test_no_smaller_moves_change_the_class_and_a_little_larger_ones_do(seed, n_problems, d, size):
    rng = np.random.RandomState(seed)
    plus, minus, *rest = planes = random_planes(rng, n_problems, d, size)
    model, x = given_planes(*planes), rng.randn(d)
    (y,), (margin,) = model.predict([x]), margin_of_prediction(model, [x])
    for _ in range(200):
        moves = rng.randn(2, n_problems, d)
        moves *= margin / np.linalg.norm(moves, axis=2, keepdims=True)
        moves *= rng.choice([1.0, rng.rand()]) * (1.0 - 1e-9)
        assert class_scores(x, plus + moves[0], minus + moves[1], *rest).argmax() == y
    rivals = [k for k in model.classes_ if k != y]
    after = [lead_after(margin * (1.0 - 1e-6), x, y, k, planes) for k in rivals]
    assert min(after) > 0.0
    after = [lead_after(margin * (1.0 + 1e-6), x, y, k, planes) for k in rivals]
    assert min(after) < 0.0


def given_points(points, shift, factor):
    """Make a fitted model that takes the least ``|x - p|^2 - S``."""
    model = MeanOfClass()
    model.classes_, model.n_features_in_ = np.arange(len(points)), points.shape[1]
    model.prototypes_, model.shift_ = points, shift
    model.coef_ = factor * (points - 3.0)  # seen from any origin
    model.intercept_ = 0.5 * factor * (shift - np.sum(points**2, axis=1)) + 7.0
    return model


def joint_lead_after(theta, x, y, k, points, shift):
    """Give the lead of y over k after the moves by theta that are worst for y."""
    signs = np.array([1, -1]) * (1 if theta >= 0 else -1)
    moved_to = moved(x, points[[y, k]], signs, abs(theta))
    own, rival = np.sum((x - moved_to) ** 2, axis=1) - shift[[y, k]]
    return rival - own


@given(seed=SEEDS, n_classes=st.integers(3, 5), d=st.integers(1, 6), size=SIZES)
def test_of_joint_solutions(seed, n_classes, d, size):
    rng = np.random.RandomState(seed)
    points, shift = rng.randn(n_classes, d), size * rng.randn(n_classes)
    if size > 0.0 and rng.rand() < 0.2:
        points[:] = points[0]  # the shifts alone decide
    model, X = given_points(points, shift, np.exp(rng.randn())), 2.0 * rng.randn(4, d)
    for y in model.classes_:
        margin = hypothesis_margin(model, X, np.full(4, y))
        np.testing.assert_array_equal(margin > 0.0, model.predict(X) == y)
        rivals = [k for k in model.classes_ if k != y]
        expected = [
            min(
                brentq(joint_lead_after, -1e4, 1e4, (x, y, k, points, shift), xtol=1e-13)
                for k in rivals
            )
            for x in X
        ]
        np.testing.assert_allclose(margin, expected, rtol=1e-7, atol=1e-9)


def test_of_several_class_means_is_that_of_the_nearest_prototype(iris):
    X, y = iris
    model = MeanOfClass().fit(X, y)
    lvq = GLVQ(init="means", random_state=0).fit(X, y)
    lvq.prototypes_ = model.prototypes_
    np.testing.assert_allclose(hypothesis_margin(model, X, y), hypothesis_margin(lvq, X, y))


FITTED = {
    "means": MeanOfClass(),
    "fisher": FisherPrototypes(),
    "svm": SoftMarginSVM(),
    "crammer singer": SoftMarginSVM(multi_class="crammer_singer"),
    "nearest": SoftMarginSVM(multi_class="nearest"),
    "rvm": RVM(),
}


@pytest.mark.parametrize("estimator", FITTED.values(), ids=FITTED)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fitted_models(iris, estimator, n_classes):
    X, y = iris[0][iris[1] < n_classes], np.array(["b", "c", "a"])[iris[1][iris[1] < n_classes]]
    model = make_pipeline(StandardScaler(), estimator).fit(3.0 * X + 1e3, y)
    margin = hypothesis_margin(model, 3.0 * X + 1e3, y)
    predicted = model.predict(3.0 * X + 1e3)
    np.testing.assert_array_equal(margin > 0.0, predicted == y)
    # Who moves the row moves all prototypes the other way.
    radius, right = certified_radius(model, 3.0 * X + 1e3), predicted == y
    assert (margin[right] <= radius[right] + 1e-12).all()
    last, Z = model[-1], model[0].transform(3.0 * X + 1e3)
    np.testing.assert_array_equal(hypothesis_margin(last, Z, y), margin)
    if is_joint(last):
        return
    planes = planes_of(last, Z)
    for i in range(0, len(Z), 10):
        code = last.classes_.tolist().index(y[i])
        np.testing.assert_allclose(margin[i], by_roots(Z[i], code, planes), rtol=1e-7)


def test_without_a_shift_it_is_that_of_two_prototypes(iris):
    X, y = iris[0][50:], iris[1][50:]
    linear = MeanOfClass().fit(X, y)
    d = np.linalg.norm(X[:, None] - linear.prototypes_, axis=2)
    expected = 0.5 * np.where(y == 2, d[:, 0] - d[:, 1], d[:, 1] - d[:, 0])
    np.testing.assert_allclose(hypothesis_margin(linear, X, y), expected, atol=1e-13)


def test_a_prototype_that_has_come_to_the_sample_comes_no_nearer():
    model = given_planes(np.array([[1.0]]), np.array([[-1.0]]), np.array([100.0]))
    # p- comes to the sample after 1, then (1 + theta)^2 = 100.
    np.testing.assert_allclose(hypothesis_margin(model, [[0.0]], [1]), [9.0], rtol=1e-14)
    np.testing.assert_allclose(hypothesis_margin(model, [[0.0]], [0]), [-9.0], rtol=1e-14)
    # p- is there from the start; or both are.
    np.testing.assert_allclose(hypothesis_margin(model, [[-1.0]], [1]), [8.0], rtol=1e-14)
    one = given_planes(np.array([[1.0]]), np.array([[1.0]]), np.array([4.0]))
    np.testing.assert_allclose(hypothesis_margin(one, [[1.0]], [1]), [2.0], rtol=1e-14)
    draw = given_planes(np.array([[1.0]]), np.array([[1.0]]), np.array([0.0]))
    np.testing.assert_array_equal(hypothesis_margin(draw, [[1.0], [3.0]], [1, 0]), [0.0, 0.0])


@pytest.mark.parametrize("size", [1e-100, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("n_problems", [1, 3])
def test_scales_with_the_data(size, n_problems, rng):
    plus, minus, shift, factor = random_planes(rng, n_problems, 3, 5.0)
    X = rng.randn(20, 3)
    y = rng.randint(max(n_problems, 2), size=20)
    expected = size * hypothesis_margin(given_planes(plus, minus, shift, factor), X, y)
    scaled = given_planes(size * plus, size * minus, size**2 * shift, factor)
    np.testing.assert_allclose(hypothesis_margin(scaled, size * X, y), expected, rtol=1e-10)


def test_is_the_confidence_of_linear_classifiers(iris):
    X, y = iris
    for kept in (y < 3, y > 0):
        model = RejectClassifier(MeanOfClass(), cost=0.2).fit(X[kept], y[kept])
        inner = model.model_
        expected = hypothesis_margin(inner, X, inner.predict(X))
        np.testing.assert_array_equal(model.confidence(X), expected)
        assert expected.min() >= 0.0
        assert 0.0 < model.reject_rate_ < 0.5


def test_errors(iris):
    X, y = iris
    with pytest.raises(NotFittedError):
        hypothesis_margin(MeanOfClass(), X, y)
    model = MeanOfClass().fit(X, y)
    with pytest.raises(ValueError, match=r"y contains \[7\]"):
        hypothesis_margin(model, X[:1], [7])
    with pytest.raises(ValueError, match="X has 2 rows and y has 1 labels"):
        hypothesis_margin(model, X[:2].tolist(), [0])
    with pytest.raises(ValueError, match="X has 2 features, but MeanOfClass"):
        hypothesis_margin(model, X[:, :2], y)
    without = MeanOfClass().fit(X, y)
    del without.prototypes_
    with pytest.raises(ValueError, match="MeanOfClass has no prototypes"):
        hypothesis_margin(without, X, y)
