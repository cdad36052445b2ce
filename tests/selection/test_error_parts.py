"""Bias and variance by resampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from protolearn import GLVQ
from protolearn.selection.bias_variance_parts import bias_variance, label_parts, squared_parts


def votes(n_classes):
    return st.integers(0, 2**31 - 1).map(
        lambda seed: (
            np.random.RandomState(seed).randint(n_classes, size=(7, 12)),
            np.random.RandomState(seed + 1).randint(n_classes, size=12),
        )
    )


@given(votes(2))
def test_domingos_rule_for_two_classes(case):
    predictions, y = case
    parts = label_parts(predictions, y, None)
    assert parts.error == pytest.approx((predictions != y).mean(), abs=1e-14)
    total = parts.bias + parts.unbiased_variance - parts.biased_variance
    assert parts.error == pytest.approx(total, abs=1e-14)
    assert parts.variance == pytest.approx(parts.unbiased_variance + parts.biased_variance)
    assert parts.corrected == pytest.approx(parts.biased_variance, abs=1e-14)


@given(votes(4))
def test_several_classes(case):
    predictions, y = case
    parts = label_parts(predictions, y, None)
    total = parts.bias + parts.unbiased_variance - parts.corrected
    assert parts.error == pytest.approx(total, abs=1e-14)
    assert 0.0 <= parts.corrected <= parts.biased_variance + 1e-14
    for j in range(len(y)):  # the main prediction is a mode, the first of them
        values, counts = np.unique(predictions[:, j], return_counts=True)
        assert parts.main_prediction[j] == values[counts.argmax()]


def test_parts_by_hand():
    predictions = np.array([list("aab"), list("aab"), list("bbb"), list("cbb")])
    parts = label_parts(predictions, np.array(list("aaa")), None)
    # Main predictions are a, a (tied with b) and b; wrong only in the last row.
    assert parts.main_prediction.tolist() == ["a", "a", "b"]
    assert parts.bias == pytest.approx(1 / 3)
    assert parts.unbiased_variance == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    assert parts.biased_variance == 0.0
    assert parts.error == pytest.approx((0.5 + 0.5 + 1.0) / 3)


def test_squared_error_is_bias_and_variance(rng):
    predictions, target = rng.randn(9, 5, 3), rng.randn(5, 3)
    parts = squared_parts(predictions, target)
    assert parts.error == pytest.approx(parts.bias + parts.variance, rel=1e-13)
    assert parts.variance == pytest.approx(predictions.var(axis=0).sum(axis=1).mean())


def test_biehl_figure_6_1(rng):
    """Polynomials of degree 1, 3 and 7 for x^3: bias falls, variance rises."""
    x, grid = rng.uniform(-1, 1, size=(3000, 1)), np.linspace(-1, 1, 41)[:, None]
    y = x[:, 0] ** 3 + 0.2 * rng.randn(3000)
    parts = {}
    for degree in (1, 3, 7):
        model = make_pipeline(PolynomialFeatures(degree), LinearRegression())
        parts[degree] = bias_variance(
            model,
            x,
            y,
            X_test=grid,
            y_test=grid[:, 0] ** 3,
            train_size=30,
            n_resamples=200,
            random_state=0,
        )
        found = parts[degree]
        assert found.error == pytest.approx(found.bias + found.variance, rel=1e-12)
        assert found.squared == (found.error, found.bias, found.variance)
        assert np.isnan(found.corrected)
    # The best line for x^3 under a uniform density is 3 x / 5.
    assert parts[1].bias == pytest.approx(np.square(grid**3 - 0.6 * grid).mean(), rel=0.1)
    assert parts[1].bias > 10 * parts[3].bias
    assert parts[1].variance < parts[3].variance < parts[7].variance
    assert parts[3].error < parts[1].error
    assert parts[3].error < parts[7].error
    assert str(parts[3]).startswith("200 refits, 41 test rows\nsquared error")


def test_refits_are_those_of_a_loop(iris):
    X, y = iris
    test = np.arange(0, 150, 4)
    seen = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append((X, y))
            return super().fit(X, y)

    parts = bias_variance(
        Spy(random_state=0), X, y, X_test=X[test], y_test=y[test], n_resamples=6, random_state=0
    )
    assert [np.bincount(labels).tolist() for _, labels in seen] == [[50, 50, 50]] * 6
    assert any(len(np.unique(rows, axis=0)) < 120 for rows, _ in seen)  # with replacement
    expected = [DecisionTreeClassifier(random_state=0).fit(*s).predict(X[test]) for s in seen]
    np.testing.assert_array_equal(parts.predictions, expected)
    proba = np.array(
        [DecisionTreeClassifier(random_state=0).fit(*s).predict_proba(X[test]) for s in seen]
    )
    gaps = np.square(proba - np.eye(3)[y[test]]).sum(axis=2)
    assert parts.squared.error == pytest.approx(gaps.mean())
    assert parts.squared.error == pytest.approx(parts.squared.bias + parts.squared.variance)


def test_more_neighbours_less_variance(rng):
    y = np.arange(1200) % 2
    X = rng.randn(1200, 2) + 1.5 * y[:, None]
    settings = {"train_size": 60, "n_resamples": 30, "test_size": 0.5, "random_state": 0}
    one, many = (bias_variance(KNeighborsClassifier(k), X, y, **settings) for k in (1, 15))
    assert one.variance > 2 * many.variance
    assert one.error > many.error


def test_other_ways_to_call(iris):
    X, y = iris
    model = GLVQ(random_state=0)
    one = bias_variance(model, X, y, n_resamples=4, train_size=0.5, random_state=1)
    with parallel_config("threading"):
        two = bias_variance(model, X, y, n_resamples=4, train_size=0.5, random_state=1, n_jobs=2)
    np.testing.assert_array_equal(one.predictions, two.predictions)
    assert one.predictions.shape == (4, 45)
    assert "squared error of probabilities" in str(one)
    assert repr(one).startswith("<BiasVariance: error ")
    assert bias_variance(SVC(), X, y, n_resamples=3, random_state=0).squared is None
    few = bias_variance(model, X, y, n_resamples=2, train_size=3, random_state=0)
    assert np.isfinite(few.squared.error)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_resamples": 1}, "n_resamples=1 must be an integer of at least 2"),
        ({"train_size": 1.5}, r"train_size=1.5 must be a finite number in \(0, 1\)"),
        ({"train_size": 105}, "or more is too large; at most 104"),
        ({"test_size": 0.0}, "test_size=0.0"),
        ({"X_test": [[0.0] * 4]}, "Only X_test is given"),
        ({"X_test": [[0.0] * 4], "y_test": [7]}, r"y_test contains \[7\], which y does not"),
    ],
)
def test_errors(iris, settings, message):
    with pytest.raises(ValueError, match=message):
        bias_variance(GLVQ(), *iris, **{"n_resamples": 2, **settings})


def test_models_that_do_not_fit(iris):
    with pytest.raises(ValueError, match="KMeans is neither a classifier nor a regressor"):
        bias_variance(KMeans(), *iris)
    with pytest.raises(ValueError, match="SVC takes a matrix of kernel values"):
        bias_variance(SVC(kernel="precomputed"), *iris)
