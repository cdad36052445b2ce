"""Bad and strange input: a clear error, or finite prototypes."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from protolearn import (
    GLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    OLVQ1,
    RSLVQ,
    SNPC,
    MarginLVQ,
    PrototypeClassifier,
    ScaleWarning,
)
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
        (np.where([[0], [1], [0], [0]], np.nan, X4), Y4, "Row 1 of X has only missing values"),
        (np.where([True, False], np.nan, X4), Y4, "Feature 0 of X has no observed value"),
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
        ({"class_weight": "bal"}, "class_weight='bal' must be 'balanced', a dict"),
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
        ({"class_weight": {0: -1.0}}, "zero, or from 1e-100 to 1e100"),
        ({"class_weight": {0: np.nan}}, "zero, or from 1e-100 to 1e100"),
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


@pytest.mark.parametrize("class_weight", [{0: 0.0}, {1: 0.0}, {0: 0.0, 1: 0.0}])
def test_class_weights_of_zero(class_weight):
    for model in (GLVQ(class_weight=class_weight), LVQ1(class_weight=class_weight)):
        for X in (X4, np.where(X4 == 6.0, np.nan, X4)):
            with pytest.raises(ValueError, match=r"o row (of|has a) positive weight"):
                model.fit(X, Y4)


def test_a_part_of_a_stream_that_has_no_weight():
    model = GLVQ(class_weight={0: 0.0, 1: 1.0, 2: 1.0})
    try:
        model.partial_fit(X4[:2], Y4[:2], classes=[0, 1, 2])
    except ValueError as error:
        if "weight" not in str(error):
            raise
    model.partial_fit(X4, [0, 1, 1, 2], classes=[0, 1, 2])
    assert model.n_prototypes_ == {0: 0, 1: 1, 2: 1}


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


# Generated cases: HYPOTHESIS_PROFILE=thorough makes 1500 of each ---------------------------------

RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
STARTS = ["kmeans", "means", "kmeans++", "random"]
PER_CLASS = [1, 1, 2, 3, {0: 2}, "auto"]
CLASS_WEIGHTS = ["balanced", None, None, {0: 1e-3}, {0: 1e9, 1: 1e-9}, {0: 0.0}]

EXPLAINED = [
    "fewer than its",  # prototypes than rows
    "has only missing values",
    "has no observed value",
    "has no row of positive weight",
    "zero everywhere",
    "The cost became",  # and what to do
    "The distances to the initial prototypes overflow",
]
"""What an error may say."""


@st.composite
def classifiers(draw, rules=True, sparse_rows=False, stream=False):
    """Choose a model and its settings."""
    cls = draw(st.sampled_from(PRESETS + (RULES if rules else [])))
    settings = {
        "init": draw(st.sampled_from(STARTS)),
        "prototypes_per_class": draw(st.sampled_from(PER_CLASS[:-1] if stream else PER_CLASS)),
        "max_iter": draw(st.sampled_from([1, 3, 6])),
        "early_stopping": not stream and draw(st.integers(0, 2)) == 2,
        "validation_fraction": draw(st.sampled_from([0.1, 0.4])),
        "class_weight": draw(st.sampled_from(CLASS_WEIGHTS[stream:])),
        "random_state": draw(st.integers(0, 3)),
    }
    if cls in PRESETS:
        solvers = ["auto", "adam", "momentum"]
        solvers += [] if sparse_rows else ["sgd"]
        solvers += [] if stream or cls is MarginLVQ else ["lbfgs"]
        settings["solver"] = draw(st.sampled_from(solvers))
        settings["attraction"] = draw(st.sampled_from([0.0, 0.05]))
    return cls(**settings)


@st.composite
def datasets(draw, extreme=True):
    """Draw few rows: equal ones, constant columns, tiny classes, odd sizes and offsets."""
    n, d = draw(st.integers(4, 30)), draw(st.integers(1, 6))
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    y = rng.randint(draw(st.integers(2, 4)), size=n)
    if draw(st.booleans()):  # all classes but one have a single row
        few = draw(st.integers(1, 3))
        y = np.append(np.zeros(n - few, dtype=int), 1 + np.arange(few))
    y[:2] = [0, 1]
    X = rng.standard_normal((n, d)) + draw(st.sampled_from([0.0, 3.0])) * y[:, None]
    if draw(st.booleans()):
        X = X.round(draw(st.integers(0, 1)))  # many equal rows
    if draw(st.booleans()):
        X[:] = X[rng.randint(max(n // 3, 1), size=n)]  # rows twice, in any class
    if draw(st.booleans()):
        X[:, rng.randint(d)] = draw(st.sampled_from([0.0, 1.0, -1e5]))
    size = 10.0 ** draw(st.integers(-150, 150) if extreme else st.integers(-3, 3))
    if extreme and draw(st.booleans()):
        size = 10.0 ** rng.randint(-150, 151, size=d)  # another one for each column
    X = X * size
    return X + draw(st.sampled_from([0.0, 0.0, 1.0, -1e8])), y


@contextmanager
def only_convergence_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        yield


def ordinary(X):
    """Tell whether squares of all values and of their differences are ordinary numbers."""
    values = X.data if sparse.issparse(X) else X[~np.isnan(X)]
    size = np.abs(values).max(initial=0.0)
    rows = X.toarray() if sparse.issparse(X) else X
    spreads = np.fmax.reduce(rows) - np.fmin.reduce(rows)
    spreads = spreads[spreads > 0.0]
    if not len(spreads):
        return size < 1e100
    even = spreads.max() < 1e100 * spreads.min()  # else a hole can leave next to nothing of a row
    return size < 1e100 and spreads.max() >= 1e-100 and even


def explained(error, model, X):
    """Tell whether an error says what is wrong, and may be right."""
    text = str(error)
    if "leaves none to validate on" in text:
        return model.early_stopping
    if "rescale X" in text:
        return not ordinary(X)
    return any(part in text for part in EXPLAINED)


def check_fitted(model, X):
    """Check what every fitted model has, and what it says about rows."""
    assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.loss_curve_).all()
    assert 0.0 < model.scale_ < np.inf
    assert sum(model.n_prototypes_.values()) == len(model.prototypes_)
    assert min(model.n_prototypes_.values()) >= 1
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.isin(model.predict(X), model.classes_).all()


def check_outcome(model, X, y, weight=None):
    """Fit: either an error that explains, or a sound model."""
    with only_convergence_warnings():
        try:
            model.fit(X, y, sample_weight=weight)
        except ValueError as error:
            if explained(error, model, X):
                return
            raise
        check_fitted(model, X if weight is None else X[np.flatnonzero(weight)])


@given(data=datasets(), model=classifiers())
def test_strange_rows(data, model):
    check_outcome(model, *data)


@given(data=datasets(extreme=False), model=classifiers())
def test_strange_rows_of_ordinary_size(data, model):
    check_outcome(model, *data)


@given(data=datasets(extreme=False), model=classifiers())
def test_rows_that_grow(data, model):
    check_outcome(model.set_params(prototypes_per_class="auto"), *data)


def remove(kind, X, y, rng):
    """Take values away in some manner."""
    n, d = X.shape
    if kind == "random":
        X[rng.uniform(size=X.shape) < rng.uniform()] = np.nan
    elif kind == "column of a class":
        X[y == rng.choice(y), rng.randint(d)] = np.nan
    elif kind == "almost whole rows":
        rows = np.flatnonzero(rng.uniform(size=n) < 0.5)
        X[rows] = np.where(np.arange(d) == rng.randint(d, size=(len(rows), 1)), X[rows], np.nan)
    elif kind == "row":
        X[rng.randint(n)] = np.nan
    elif kind == "column":
        X[:, rng.randint(d)] = np.nan
    elif kind == "all but one":
        X[np.arange(n) != rng.randint(n), rng.randint(d)] = np.nan
    return X


HOLES = ["random", "column of a class", "almost whole rows", "all but one"]


@given(
    data=datasets(),
    model=classifiers(),
    kinds=st.lists(st.sampled_from([*HOLES, *HOLES, "row", "column"]), min_size=1, max_size=3),
    keep=st.booleans(),
    seed=st.integers(0, 99),
)
def test_rows_with_holes(data, model, kinds, keep, seed):
    (X, y), rng = data, np.random.RandomState(seed)
    complete = X.copy()
    for kind in kinds:
        X = remove(kind, X, y, rng)
    if keep:  # something of every row and every column
        for i in np.flatnonzero(np.isnan(X).all(axis=1)):
            j = rng.randint(X.shape[1])
            X[i, j] = complete[i, j]
        for j in np.flatnonzero(np.isnan(X).all(axis=0)):
            X[0, j] = complete[0, j]
    check_outcome(model, X, y)


@given(
    data=datasets(extreme=False),
    model=classifiers(),
    zeros=st.sampled_from([0.0, 0.3, 0.9]),
    ratio=st.sampled_from([0, 3, 30, 300]),
    seed=st.integers(0, 99),
)
def test_weights_of_extreme_ratio(data, model, zeros, ratio, seed):
    X, y = data
    rng = np.random.RandomState(seed)
    weight = 10.0 ** rng.uniform(-ratio, ratio, len(X)) * (rng.uniform(size=len(X)) >= zeros)
    check_outcome(model, X, y, weight)


@given(
    data=datasets(extreme=False),  # sparse rows cannot be moved to their mean
    model=classifiers(rules=False, sparse_rows=True),
    empty=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    filled=st.sampled_from([0.1, 0.5, 1.0]),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_sparse_rows(data, model, empty, filled, weighted, seed):
    X, y = data
    rng = np.random.RandomState(seed)
    X = X * (rng.uniform(size=X.shape) < filled) * (rng.uniform(size=(len(X), 1)) >= empty)
    weight = rng.randint(0, 3, len(X)).astype(np.float64) if weighted else None
    check_outcome(model, sparse.csr_array(X), y, weight)


@given(
    data=datasets(extreme=False),
    model=classifiers(stream=True),
    holes=st.booleans(),
    sparse_part=st.booleans(),
    weighted=st.booleans(),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    seed=st.integers(0, 99),
)
def test_streams_of_strange_parts(data, model, holes, sparse_part, weighted, sizes, seed):
    (X, y), rng = data, np.random.RandomState(seed)
    classes = np.unique(y)
    takes_sparse = get_tags(model).input_tags.sparse
    rows = np.argsort(y, kind="stable") if seed % 2 else rng.permutation(len(X))
    parts = np.array_split(np.resize(rows, sum(sizes)), np.cumsum(sizes)[:-1])
    learned = []
    with only_convergence_warnings():
        for k, part in enumerate(parts):
            Z, weight = X[part], None
            if holes and k % 2:
                Z = remove("almost whole rows", Z.copy(), y[part], rng)
            elif sparse_part and takes_sparse:
                Z = sparse.csr_array(Z)
            if weighted:
                weight = rng.randint(0, 3, len(part)) * 10.0 ** rng.uniform(-9, 9, len(part))
            try:
                model.partial_fit(Z, y[part], classes=classes, sample_weight=weight)
            except ValueError as error:
                if explained(error, model, Z):
                    continue
                raise
            learned.append(part)
            assert np.isfinite(model.prototypes_).all()
            assert model.n_iter_ == len(learned) == len(model.loss_curve_)
            probabilities = model.predict_proba(X)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
            seen = [label for label, count in model.n_prototypes_.items() if count]
            assert set(model.predict(X)) <= set(seen)
            if len(seen) > 1:  # one class alone teaches nothing
                assert np.isfinite(model.loss_curve_[-1])
            assert (probabilities[:, ~np.isin(model.classes_, seen)] == 0.0).all()
