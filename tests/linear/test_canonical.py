"""Two prototypes and a shift: what holds for every linear classifier, on ugly data."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from protolearn import FisherPrototypes, HardMarginSVM, MeanOfClass, SoftMarginSVM
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
        assert_allclose(model.coef_[0], plus - minus, atol=1e-12 * size)
        unit = size**2
        level = (plus / size) @ (plus / size) - (minus / size) @ (minus / size)
        shift = 2.0 * model.intercept_[0] / unit + level
        assert_allclose(model.shift_[0] / unit, shift, atol=1e-12, rtol=1e-9)
        far = np.sum(((X - minus) / size) ** 2, axis=1) - np.sum(((X - plus) / size) ** 2, axis=1)
        half = 0.5 * (far + model.shift_[0] / unit)
        assert_allclose(model.decision_function(X) / unit, half, atol=1e-12, rtol=1e-9)
        if isinstance(model, (MeanOfClass, HardMarginSVM)):
            spread = np.ptp(X / size, axis=0).max() ** 2
            assert_allclose(model.shift_[0] / unit, 0.0, atol=1e-9 * spread)


@given(problems())
def test_units_make_no_difference(problem):
    X, y, scale = problem
    for norm, ridge in ((1, 0.0), (2, 1.0)):
        for model, rescaled in (
            (SoftMarginSVM(norm), SoftMarginSVM(norm, C=scale**-2.0)),
            (FisherPrototypes(ridge), FisherPrototypes(min(ridge * scale**2 * scale**2, 1e300))),
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


def test_one_versus_rest_attributes(iris):
    X, y = iris
    model = MeanOfClass().fit(X, y)
    assert model.coef_.shape == model.prototypes_.shape == model.rest_prototypes_.shape == (3, 4)
    assert model.dual_coef_.shape == (3, 150)
    for k in range(3):
        assert_allclose(model.prototypes_[k], X[y == k].mean(axis=0), atol=1e-14)
        assert_allclose(model.rest_prototypes_[k], X[y != k].mean(axis=0), atol=1e-14)
    assert_allclose(model.shift_, 0.0, atol=1e-14)
    distances = [
        np.sum((X - rest) ** 2, axis=1) - np.sum((X - own) ** 2, axis=1)
        for own, rest in zip(model.prototypes_, model.rest_prototypes_, strict=True)
    ]
    assert_allclose(model.decision_function(X), 0.5 * np.transpose(distances), atol=1e-12)


def test_two_classes_after_three_leave_no_rest(iris):
    X, y = iris
    model = MeanOfClass().fit(X, y)
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
