"""Two prototypes and a shift: what holds for every linear classifier, on ugly data."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import NearestCentroid

from protolearn import (
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    SoftMarginSVM,
)
from protolearn.separability import NotSeparableError


@st.composite
def problems(draw):
    """Make small data with ties, constant features, extreme units and offsets."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 15))
    rng = np.random.RandomState(draw(st.integers(0, 10_000)))
    lattice = draw(st.booleans())
    X = rng.randint(-2, 3, (n, d)).astype(float) if lattice else rng.standard_normal((n, d))
    if draw(st.booleans()):
        X[:, 0] = 0.1
    X += draw(st.sampled_from([0.0, 0.0, 1e6]))
    assume(np.ptp(X, axis=0).any())
    y = rng.randint(0, 2, n)
    y[:2] = 0, 1
    return X, y, 10.0 ** draw(st.sampled_from([-100, -3, 0, 0, 5, 100]))


def fitted(model, X, y):
    try:
        return model.fit(X, y)
    except NotSeparableError:
        return None


@given(problems())
def test_canonical_form(problem):
    X, y, scale = problem
    X, signs = X * scale, 2 * y - 1
    size = np.abs(X).max()
    C = scale**-2.0
    for model in (
        MeanOfClass(),
        FisherPrototypes(),
        FisherPrototypes(ridge=0.5 * scale**2),
        HardMarginSVM(),
        SoftMarginSVM(C=C),
        SoftMarginSVM(norm=2, C=C),
    ):
        model = fitted(model, X, y)
        if model is None:
            continue
        gamma, (minus, plus) = model.dual_coef_[0], model.prototypes_
        assert abs(gamma.sum()) < 1e-12
        if isinstance(model, FisherPrototypes):
            assert np.abs(gamma).sum() == pytest.approx(2.0) or not gamma.any()
        else:
            assert np.abs(gamma).sum() == pytest.approx(2.0, abs=1e-12)
            assert (gamma * signs >= 0.0).all()  # in the hulls of the classes
        if gamma.any():
            assert_allclose(np.maximum(gamma, 0.0) @ X, plus, atol=1e-12 * size)
            assert_allclose(np.maximum(-gamma, 0.0) @ X, minus, atol=1e-12 * size)
        unit, factor = size**2, 1.0
        if isinstance(model, (HardMarginSVM, SoftMarginSVM)):  # in the scale of the margin
            apart, length = np.linalg.norm(plus / size - minus / size), np.linalg.norm(model.coef_)
            factor = apart / length * size if apart > 1e-9 else np.nan
        if np.isnan(factor):
            continue
        assert_allclose(factor * model.coef_[0], plus - minus, atol=1e-12 * size)
        level = (plus / size) @ (plus / size) - (minus / size) @ (minus / size)
        shift = 2.0 * factor * model.intercept_[0] / unit + level
        assert_allclose(model.shift_[0] / unit, shift, atol=1e-12, rtol=1e-9)
        far = np.sum(((X - minus) / size) ** 2, axis=1) - np.sum(((X - plus) / size) ** 2, axis=1)
        half = 0.5 * (far + model.shift_[0] / unit)
        assert_allclose(factor * model.decision_function(X) / unit, half, atol=1e-12, rtol=1e-9)
        if isinstance(model, (MeanOfClass, HardMarginSVM)):
            spread = np.ptp(X / size, axis=0).max() ** 2
            assert_allclose(model.shift_[0] / unit, 0.0, atol=1e-9 * spread)


@given(problems())
def test_units_make_no_difference(problem):
    X, y, scale = problem
    for norm, ridge in ((1, 0.0), (2, 1.0)):
        for model, rescaled in (
            (SoftMarginSVM(norm=norm), SoftMarginSVM(norm=norm, C=scale**-2.0)),
            (
                FisherPrototypes(ridge=ridge),
                FisherPrototypes(ridge=min(ridge * scale**2 * scale**2, 1e300)),
            ),
        ):
            if isinstance(rescaled, FisherPrototypes) and ridge and abs(np.log10(scale)) > 70:
                continue  # the fourth power cannot be represented
            there = rescaled.fit(X * scale, y).prototypes_ / scale
            here = model.fit(X, y).prototypes_
            assert_allclose(there, here, atol=1e-5 * np.ptp(X, axis=0).max(initial=1e-9))


def test_no_direction_between_equal_means():
    model = FisherPrototypes().fit([[0.1, 0.7], [0.3, 0.2], [0.1, 0.7], [0.3, 0.2]], [0, 0, 1, 1])
    assert not model.coef_.any()
    assert not model.decision_function([[5.0, 5.0]]).any()


def test_all_samples_are_one_point():
    X, y = np.full((5, 2), 3.7), [0, 0, 0, 1, 1]
    for model in (SoftMarginSVM(), SoftMarginSVM(norm=2)):
        assert model.fit(X, y).predict([[9.0, -9.0]]).tolist() == [0]  # the larger class
        assert_allclose(model.prototypes_, 3.7)
    assert_allclose(MeanOfClass().fit(X, y).prototypes_, 3.7)
    with pytest.raises(NotSeparableError):
        HardMarginSVM().fit(X, y)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_several_class_means_are_the_nearest_centroid(iris, weighted, rng):
    X, y = iris
    X, y = X[20:], y[20:]  # classes of different size
    weight = rng.randint(0, 4, len(X)) if weighted else np.ones(len(X), int)
    model = MeanOfClass().fit(X, y, weight if weighted else None)
    theirs = NearestCentroid().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(model.prototypes_, theirs.centroids_, atol=1e-13)
    rows = X.mean(axis=0) + 3.0 * rng.standard_normal((2000, 4))
    assert (model.predict(rows) == theirs.predict(rows)).all()
    assert not model.shift_.any()
    assert_allclose(model.dual_coef_ @ X, model.prototypes_, atol=1e-13)
    near = cdist(rows, model.prototypes_, "sqeuclidean")
    scores = model.decision_function(rows)
    assert_allclose(
        scores - scores[:, :1], 0.5 * (near[:, :1] - near), atol=1e-11
    )  # differences of scores are halves of those of squared distances


JOINT = {
    "mean": MeanOfClass(),
    "fisher": FisherPrototypes(),
    "fisher ridge": FisherPrototypes(ridge=1e4),
    "nearest fisher": FisherPrototypes(multi_class="nearest"),
    "crammer singer": SoftMarginSVM(multi_class="crammer_singer"),
    "nearest svm": SoftMarginSVM(multi_class="nearest"),
    "nearest boosting": BoostedPrototypes(C=1.0, multi_class="nearest"),
}


@pytest.mark.parametrize("name", JOINT)
def test_joint_form(name, iris, rng):
    X, y = iris
    model = clone(JOINT[name]).fit(X, y)
    assert not hasattr(model, "rest_prototypes_")
    gamma = model.dual_coef_
    assert (gamma >= 0.0).all()
    assert_allclose(gamma.sum(axis=1), 1.0)
    assert_allclose(gamma @ X, model.prototypes_, atol=1e-12)
    if not name.startswith("nearest"):
        assert not gamma.min(axis=0).any()
    rows = np.vstack([X, X.mean(axis=0) + 10.0 * rng.standard_normal((500, 4))])
    away = cdist(rows, model.prototypes_, "sqeuclidean") - model.shift_
    assert (model.classes_[away.argmin(axis=1)] == model.predict(rows)).all()
    assert abs(model.shift_.sum()) < 1e-12
    axes = model.project(rows)  # distances between prototypes and classes are seen in the axes
    assert axes.shape == (len(rows), 2)
    assert_allclose(cdist(*[model.project(model.prototypes_)] * 2), cdist(*[model.prototypes_] * 2))


def test_the_nearest_prototype_of_each_class_against_the_rest(iris):
    X, y = iris
    for plain, by_nearest in (
        (SoftMarginSVM(norm=2), SoftMarginSVM(norm=2, multi_class="nearest")),
        (BoostedPrototypes(C=1.0), BoostedPrototypes(C=1.0, multi_class="nearest")),
    ):
        rest = plain.fit(X, y).prototypes_
        assert_allclose(by_nearest.fit(X, y).prototypes_, rest, atol=1e-12)
        expected = cdist(X, rest).argmin(axis=1)
        assert (by_nearest.predict(X) == expected).all()
        assert not by_nearest.shift_.any()


def test_two_classes_after_three_leave_no_rest(iris):
    X, y = iris
    model = SoftMarginSVM(multi_class="ovr").fit(X, y)
    assert model.rest_prototypes_.shape == (3, 4)
    assert not hasattr(model.fit(X[:100], y[:100]), "rest_prototypes_")


@pytest.mark.parametrize(
    "model", [MeanOfClass(), FisherPrototypes(), SoftMarginSVM()], ids=["mean", "fisher", "svm"]
)
def test_zero_weights_leave_rows_out(model, rng):
    X, y = rng.standard_normal((30, 3)), np.arange(30) % 2
    weight = rng.uniform(0.5, 2.0, 30)
    weight[:10] = 0.0
    whole = model.fit(X, y, weight)
    gamma, prototypes, support = whole.dual_coef_, whole.prototypes_, whole.support_
    part = model.fit(X[10:], y[10:], weight[10:])
    assert not gamma[0, :10].any()
    assert_allclose(gamma[0, 10:], part.dual_coef_[0], atol=1e-14)
    assert_allclose(prototypes, part.prototypes_, atol=1e-14)
    assert_allclose(support, part.support_ + 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 0, 0]}, "at least 2 classes"),
        ({"sample_weight": [1.0, 0.0, 1.0]}, "Class 1 has no row of positive weight"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "non-negative"),
        ({"sample_weight": [1.0, 1.0]}, "expected one weight a row"),
        ({"X": [[1e200], [0.0], [1.0]]}, "beyond double precision"),
        ({"y": [0.1, 0.2, 0.3]}, "Unknown label type"),
    ],
)
def test_bad_data(arguments, message):
    given_data = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 0], **arguments}
    with pytest.raises(ValueError, match=message):
        MeanOfClass().fit(**given_data)
