"""Bad and strange input: a clear error, or finite prototypes."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from protolearn import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ, PrototypeClassifier
from protolearn.solvers import SGD

PRESETS = [GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ]
X4 = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]])
Y4 = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X4, [0, 0, 0, 0], "only one class, 0"),
        (X4, ["a"] * 4, "only one class, 'a'"),
        (np.where(X4 == 6.0, np.inf, X4), Y4, "infinity"),
        (np.where(X4 == 6.0, np.nan, X4), Y4, "NaN"),
        (X4[:0], Y4[:0], "minimum of 1 is required"),
        (X4[:, :0], Y4, "0 feature"),
        (X4, Y4[:3], "inconsistent numbers of samples"),
        (X4, [0.1, 0.2, 0.3, 0.4], "Unknown label type"),
        (X4[0], Y4[:1], "2D array"),
        (X4.astype(object).tolist() and [["a", "b"]] * 4, Y4, "could not convert string"),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        GLVQ().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prototypes_per_class": 3}, r"Class 0 has 2 rows, fewer than its 3 prototypes.*\{0: 2\}"),
        ({"prototypes_per_class": 0}, "must be a positive integer"),
        ({"prototypes_per_class": 1.5}, "must be a positive integer"),
        ({"prototypes_per_class": "many"}, "must be a positive integer"),
        ({"prototypes_per_class": {7: 2}}, r"names \[7\], which y does not contain"),
        ({"init": "kmean"}, "init='kmean' must be one of"),
        ({"init": np.zeros((3, 2))}, r"init has shape \(3, 2\), expected \(2, 2\)"),
        ({"init": np.full((2, 2), np.nan)}, "init contains NaN"),
        ({"beta": 0.0}, "beta=0.0"),
        ({"beta": -1}, "beta=-1"),
        ({"attraction": -0.1}, "attraction=-0.1"),
        ({"attraction": "a"}, "attraction='a'"),
        ({"scale": 0.0}, "scale=0.0"),
        ({"scale": "auto"}, "scale='auto'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"tol": -1e-3}, "tol=-0.001"),
        ({"tol": np.nan}, "tol=nan"),
        ({"solver": "newton"}, "solver='newton'"),
        ({"class_weight": "even"}, "class_weight"),
        ({"class_weight": {0: -1.0}}, "finite, non-negative weights"),
        ({"class_weight": {0: np.nan}}, "finite, non-negative weights"),
        ({"solver": None}, "must be one of 'auto', 'sgd'"),
        ({"scale": np.array([1.0, 2.0])}, "scale="),
        ({"scale": 5e-324}, "scale=5e-324"),
        ({"beta": 10**400}, "must be a finite number"),
        ({"max_iter": 10**400}, "max_iter=.* too large; at most 1000000000"),
        ({"init": [["a", "b"], ["c", "d"]]}, "an array of numbers"),
        ({"init": np.full((2, 2), 1e200)}, "initial prototypes overflow"),
        ({"callback": 3}, "callback=3 must be a function"),
        ({"verbose": "loud"}, "verbose='loud'"),
        ({"verbose": -1}, "verbose=-1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GLVQ(**parameters).fit(X4, Y4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"margin": "relativ"}, "Did you mean 'relative'"),
        ({"loss": 3}, "loss=3"),
        ({"distance": "euclid"}, "distance='euclid' of PrototypeClassifier must be one of"),
        ({"decision": "hard"}, "decision='hard'"),
    ],
)
def test_bad_axes(parameters, message):
    with pytest.raises(ValueError, match=message):
        PrototypeClassifier(**parameters).fit(X4, Y4)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1], "one weight a row"),
        ([1, 1, 1, -1], "non-negative"),
        ([1, 1, 1, np.nan], "finite"),
        ([0, 0, 0, 0], "zero everywhere"),
        ([1, 1, 0, 0], "Class 1 has no row of positive weight"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        GLVQ().fit(X4, Y4, sample_weight=weight)


@pytest.mark.parametrize(
    "model",
    [LOGM(beta=1e200), RSLVQ(xi=1e200), GLVQ(scale=1e-300), LOGM(solver="sgd", beta=1e300)],
)
def test_a_cost_that_is_not_finite(model):
    try:
        model.fit(X4, Y4)
    except ValueError as error:
        if "The cost became" not in str(error):
            raise
    else:
        assert np.isfinite(model.loss_curve_).all()


def test_weights_of_any_size():
    expected = LOGM().fit(X4, Y4).prototypes_
    for size in (1e308, 1e-300, 7):
        got = LOGM().fit(X4, Y4, sample_weight=[size] * 4).prototypes_
        np.testing.assert_allclose(got, expected)


def test_a_row_of_weight_zero_may_be_anything():
    X = np.vstack([X4, [[1e200, 0.0]]])
    got = LOGM().fit(X, [*Y4, 1], sample_weight=[1, 1, 1, 1, 0]).prototypes_
    np.testing.assert_allclose(got, LOGM().fit(X4, Y4).prototypes_)


def test_labels_as_objects():
    y = np.array(["b", "b", "a", "a"], dtype=object)
    with pytest.raises(ValueError, match="Class 'a' has no row of positive weight"):
        GLVQ().fit(X4, y, sample_weight=[1, 1, 0, 0])


def test_wrong_width_at_predict():
    with pytest.raises(ValueError, match="X has 3 features, but GLVQ is expecting 2"):
        GLVQ().fit(X4, Y4).predict(np.zeros((1, 3)))


@pytest.mark.parametrize("cls", PRESETS)
def test_equal_points_in_two_classes(cls):
    for X in (np.ones((6, 2)), np.repeat([[0.0, 1.0], [2.0, 3.0]], 3, axis=0)):
        y = np.arange(6) % 2
        for solver in ("auto", "sgd"):
            model = cls(prototypes_per_class=2, solver=solver, random_state=0).fit(X, y)
            assert np.isfinite(model.prototypes_).all()
            assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("cls", PRESETS)
def test_every_row_its_own_prototype(cls):
    model = cls(prototypes_per_class=2, init=X4, random_state=0).fit(X4, Y4)
    assert model.score(X4, Y4) == 1.0


def test_constant_feature_stays_constant(iris):
    X, y = iris
    X = np.hstack([X, np.full((150, 1), 3.0)])
    for solver in ("lbfgs", "sgd"):
        model = GLVQ(solver=solver, prototypes_per_class=2, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.prototypes_[:, 4], 3.0, atol=1e-9)


def test_equal_starts_part(iris):
    X, y = iris
    for init in ("means", "kmeans"):
        model = GLVQ(prototypes_per_class=3, init=init, random_state=0).fit(X, y)
        assert len(np.unique(model.prototypes_.round(6), axis=0)) == 9


def test_a_wild_learning_rate_leaves_finite_prototypes(iris):
    X, y = iris
    for cls in PRESETS:
        model = cls(solver=SGD(learning_rate=1e6), max_iter=5, random_state=0)
        model.fit(X, y)
        assert np.isfinite(model.prototypes_).all()


@st.composite
def hostile(draw):
    n = draw(st.integers(4, 30))
    d = draw(st.integers(1, 5))
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    X = rng.standard_normal((n, d))
    if draw(st.booleans()):
        X = X.round(draw(st.integers(0, 1)))  # many equal rows
    if draw(st.booleans()):
        X[:, rng.randint(d)] = draw(st.sampled_from([0.0, 1.0, -1e5]))
    X = X * 10.0 ** draw(st.integers(-140, 140)) + draw(st.sampled_from([0.0, 0.0, 1.0, -1e8]))
    y = rng.randint(draw(st.integers(2, 4)), size=n)
    y[:2] = [0, 1]
    return X, y


@given(
    data=hostile(),
    cls=st.sampled_from(PRESETS),
    solver=st.sampled_from(["auto", "sgd"]),
    init=st.sampled_from(["kmeans", "means", "kmeans++", "random"]),
    per_class=st.integers(1, 3),
    attraction=st.sampled_from([0.0, 0.05]),
)
def test_finite_prototypes_or_an_error(data, cls, solver, init, per_class, attraction):
    X, y = data
    model = cls(
        solver=solver,
        init=init,
        prototypes_per_class=per_class,
        attraction=attraction,
        max_iter=10,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, y)
        except ValueError as error:
            if "fewer than its" in str(error) or "rescale X" in str(error):
                return
            raise
        probabilities = model.predict_proba(X)
    assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.loss_curve_).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
