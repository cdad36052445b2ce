"""What the learners of one unit have in common; and data that nobody wants."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from protolearn import Adaline, AdaTron, BayesPoint, MinOver, Pocket, Rosenblatt

THRESHOLDS = ("clamped", "free", False)
SHORT = {
    Rosenblatt: {},
    Pocket: {},
    Adaline: {"tol": 1e-3},
    BayesPoint: {"n_estimators": 3},
    MinOver: {},
    AdaTron: {},
}

every_learner = pytest.mark.parametrize("learner", SHORT, ids=lambda each: each.__name__)
every_threshold = pytest.mark.parametrize("fit_intercept", THRESHOLDS)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def is_random(learner):
    return "random_state" in learner().get_params()


def new(learner, fit_intercept="clamped", **parameters):
    seed = {"random_state": 0} if is_random(learner) else {}
    all_of_them = {"max_iter": 50, **SHORT[learner], **seed, **parameters}
    return learner(fit_intercept=fit_intercept, **all_of_them)


def data(n_classes=2, n=60, d=3):
    rng = np.random.RandomState(0)
    y = np.arange(n) % n_classes
    return rng.standard_normal((n, d)) + 2.5 * np.eye(d)[y], y


def same(first, second, **tolerance):
    assert_allclose(first.coef_, second.coef_, **{"rtol": 1e-12, **tolerance})
    assert_allclose(first.intercept_, second.intercept_, **{"rtol": 1e-12, **tolerance})


# More than two classes, and what is told about them ----------------------------------------------


@every_learner
@every_threshold
def test_each_class_from_the_rest(learner, fit_intercept):
    """Units that learn from the same source of random numbers, one after the other."""
    X, y = data(3)
    whole = new(learner, fit_intercept).fit(X, y)
    rng = np.random.RandomState(0)
    for k in range(3):
        model = new(learner, fit_intercept)
        if is_random(learner):
            model.set_params(random_state=rng)
        model.fit(X, y == k)
        assert_allclose(whole.coef_[k], model.coef_[0], rtol=1e-12)
        assert_allclose(whole.intercept_[k], model.intercept_[0], rtol=1e-12)
        assert_array_equal(whole.embedding_strengths_[k], model.embedding_strengths_[0])
    assert_array_equal(whole.predict(X), whole.decision_function(X).argmax(axis=1))
    assert whole.coef_.shape == (3, 3)
    assert whole.intercept_.shape == (3,)
    assert whole.embedding_strengths_.shape == (3, 60)
    assert_array_equal(whole.support_, np.flatnonzero(whole.embedding_strengths_.any(axis=0)))


@every_learner
@every_threshold
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stabilities(learner, fit_intercept, n_classes):
    """The potential over the length; with a clamped threshold this is part of the length."""
    X, y = data(n_classes)
    model = new(learner, fit_intercept).fit(X, y)
    expected = []
    for x, label in zip(X, y, strict=True):
        units = []
        for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
            side = 1 if label == (1 if n_classes == 2 else k) else -1
            length = np.sqrt(w @ w + (b**2 if fit_intercept == "clamped" else 0))
            units.append(side * (w @ x + b) / length)
        expected.append(min(units))
    assert_allclose(model.stabilities(X, y), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.stability_, min(expected), rtol=1e-9)
    flipped = model.stabilities(X[:5], (y[:5] + 1) % n_classes)
    assert (flipped != model.stabilities(X[:5], y[:5])).all()


@every_learner
def test_unknown_labels(learner):
    X, y = data()
    model = new(learner).fit(X, y)
    with pytest.raises(ValueError, match=r"y has the label 7, but \w+ was fitted with \[0, 1\]"):
        model.stabilities(X, np.where(y == 1, 7, 0))
    with pytest.raises(ValueError, match="y has the label 'a'"):
        model.stabilities(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="inconsistent"):
        model.stabilities(X, y[:-1])
    with pytest.raises(ValueError, match="features"):
        model.stabilities(X[:, :2], y)
    with pytest.raises(NotFittedError):
        new(learner).stabilities(X, y)


# Labels, containers, copies ----------------------------------------------------------------------


@every_learner
@every_threshold
def test_labels_of_any_kind(learner, fit_intercept):
    X, y = data(3)
    numbers = new(learner, fit_intercept).fit(X, y)
    for names in (np.array(["a", "bb", "c"]), np.array(["a", "bb", "c"], dtype=object)):
        words = new(learner, fit_intercept).fit(X, names[y])
        same(words, numbers)
        assert_array_equal(words.predict(X), names[numbers.predict(X)])
        assert_array_equal(words.stabilities(X, names[y]), numbers.stabilities(X, y))
    truth = new(learner, fit_intercept).fit(X, y == 1)
    assert truth.predict(X).dtype == bool


@every_learner
def test_containers(learner):
    X, y = data()
    X = X.astype(np.float32)
    model = new(learner).fit(X, y)
    frame = pd.DataFrame(X, columns=["one", "two", "three"])
    for rows in (X.astype(float), X.tolist(), np.asfortranarray(X), frame):
        same(new(learner).fit(rows, y.tolist()), model)
    named = new(learner).fit(frame, pd.Series(y))
    assert_array_equal(named.feature_names_in_, ["one", "two", "three"])
    assert_array_equal(named.predict(frame), model.predict(X))
    assert named.stabilities(frame, pd.Series(y)).shape == (60,)


@every_learner
@every_threshold
def test_the_data_are_left_alone(learner, fit_intercept):
    X, y = data()
    X.flags.writeable = y.flags.writeable = False
    kept = X.copy()
    new(learner, fit_intercept).fit(X, y)
    assert_array_equal(X, kept)


@every_learner
@every_threshold
def test_fit_twice_and_copies(learner, fit_intercept):
    X, y = data(3)
    model = new(learner, fit_intercept).fit(X, y)
    kept = {name: pickle.dumps(value) for name, value in vars(model).items()}
    model.fit(*data(2)).fit(X, y)
    assert {name: pickle.dumps(value) for name, value in vars(model).items()} == kept
    same(pickle.loads(pickle.dumps(model)), model)
    assert_array_equal(pickle.loads(pickle.dumps(model)).stabilities(X, y), model.stabilities(X, y))
    same(clone(model).fit(X, y), model)


# Parameters --------------------------------------------------------------------------------------


@every_learner
@pytest.mark.parametrize("given", ["Clamped", None, 0, 1, np.array([1]), ["free"]], ids=repr)
def test_a_threshold_of_three_kinds(learner, given):
    with pytest.raises(ValueError, match=r"must be 'clamped' .* 'free' .* or False \(none\)"):
        new(learner, given).fit(*data())


@every_learner
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_iter": 0}, "max_iter=0 of {} must be an integer of at least 1"),
        ({"max_iter": 2.0}, "max_iter=2.0 of {} must be an integer"),
        ({"max_iter": True}, "max_iter=True of {} must be an integer"),
        ({"verbose": -1}, "verbose=-1 of {} must be an integer"),
        ({"verbose": "yes"}, "verbose='yes' of {} must be an integer"),
    ],
)
def test_bad_parameters(learner, parameters, message):
    with pytest.raises(ValueError, match=message.format(learner.__name__)):
        new(learner, **parameters).fit(*data())


@every_learner
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [1.0]], [1, 1], "at least 2 classes in the data, but there is only one class: 1"),
        ([[np.nan], [1.0]], [0, 1], "NaN"),
        ([[np.inf], [1.0]], [0, 1], "infinity"),
        ([[0.0], [1.0]], [0.5, 1.5], "Unknown label type"),
        ([[1e200], [1.0]], [0, 1], r"rescale X"),
        ([[1e-200], [0.0]], [0, 1], r"rescale X"),
        ([[1.0]], [1], "minimum of 2"),
    ],
)
def test_bad_data(learner, X, y, message):
    with pytest.raises(ValueError, match=message):
        new(learner).fit(X, y)


# Data that nobody wants --------------------------------------------------------------------------


@st.composite
def hostile(draw):
    """Equal rows, constant columns, a class of one row, units of any size."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    X = draw(
        arrays(np.float64, (n, d), elements=st.integers(-2, 2).map(float) | st.floats(-1e3, 1e3))
    )
    X *= 10.0 ** np.array(draw(st.lists(st.integers(-100, 100), min_size=d, max_size=d)))
    X += 10.0 ** draw(st.integers(-10, 100)) if draw(st.booleans()) else 0.0
    X[draw(st.integers(0, n - 1))] = X[draw(st.integers(0, n - 1))]
    y = draw(arrays(np.int64, n, elements=st.integers(0, draw(st.integers(0, 2)))))
    y[:2] = 0, 1
    return X, y


@every_learner
@given(hostile(), st.sampled_from(THRESHOLDS))
def test_hostile_data(learner, data, fit_intercept):
    """Finite numbers or a clear error; no warnings of NumPy."""
    X, y = data
    model = new(learner, fit_intercept, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, y)
        except ValueError as error:
            if "rescale X" not in str(error):
                raise
            return
        stabilities = model.stabilities(X, y)
        scores = model.decision_function(X)
    for values in (model.coef_, model.intercept_, model.embedding_strengths_, stabilities, scores):
        assert np.isfinite(values).all()
    assert np.isfinite(model.stability_)
    u = model.embedding_strengths_
    assert learner is Adaline or (u >= 0).all()
    for k in range(len(u)):
        S = np.where(y == (1 if len(u) == 1 else k), 1.0, -1.0)
        N = X.shape[1] + (fit_intercept == "clamped")
        size = np.abs(u[k]).sum() * np.abs(X).max(axis=0) / N
        slack = 1e-9 if learner is Adaline else 1e-12
        assert (np.abs(model.coef_[k] - (u[k] * S) @ X / N) <= slack * size).all()


@pytest.mark.parametrize("learner", [Rosenblatt, Pocket, BayesPoint])
def test_equal_rows_of_both_classes_cancel(learner):
    """Relative to their mean they left rounding errors, which counted as weights."""
    model = new(learner, "free").fit([[0.0], [0.0], [0.0], [0.0], [1.0]], [0, 1, 0, 0, 0])
    assert 0.0 < model.embedding_strengths_.sum() < 1e3
    assert_allclose(model.coef_, np.rint(6 * model.coef_) / 6, atol=1e-15)


@pytest.mark.parametrize("learner", [Rosenblatt, Pocket, BayesPoint])
def test_whole_numbers_stay_whole(learner):
    """Relative to their mean a potential of zero was a positive rounding error."""
    X, y = [[2, 0], [0, -1], [-1, -1]], [0, 1, 0]
    assert new(learner, "free").fit(X, y).stability_ > 0.1


@every_learner
@every_threshold
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_units(learner, fit_intercept, scale):
    """A factor of all inputs changes nothing but the lengths; a clamped input has its own."""
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = new(learner, fit_intercept).fit(X * scale, y)
        if fit_intercept == "clamped":
            assert np.isfinite(model.coef_).all()
            return
        plain = new(learner, fit_intercept).fit(X, y)
    assert_allclose(model.stability_, scale * plain.stability_, rtol=1e-6)
    assert_array_equal(model.predict(X * scale), plain.predict(X))
