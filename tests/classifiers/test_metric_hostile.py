"""Learned metrics under scikit-learn's checks, and on bad and strange input."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from given_profile import in_all, run_check
from protolearn import GMLVQ, GRLVQ, LGMLVQ, LVQ1, LVQ3, MRSLVQ, PrototypeClassifier, ScaleWarning
from protolearn.checks import expected_failed_checks
from protolearn.distances import LocalMatrix, Matrix, Relevance
from protolearn.solvers import SGD

# Always: every kind of metric, a loop of a solver, a low rank, a penalty.
ESTIMATORS = in_all(
    GRLVQ(),
    GMLVQ(),
    LGMLVQ(),
    GMLVQ(rank=2, solver="adam", regularization=0.1, max_iter=10),
    thorough=[
        LGMLVQ(localized="prototype", solver="sgd", regularization=0.1),
        GMLVQ(rank=2),
        MRSLVQ(),
    ],
)
COMPOSED = in_all(thorough=[LVQ1(distance="matrix"), PrototypeClassifier(distance="relevance")])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    run_check(estimator, check)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("estimator", COMPOSED, ids=str)
def test_sklearn_checks_of_composed_estimators(estimator):
    check_estimator(estimator, expected_failed_checks=expected_failed_checks(estimator))


def test_only_the_weight_checks_are_excused():
    allowed = {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
    assert all(set(expected_failed_checks(e)) <= allowed for e in ESTIMATORS)
    assert not any(map(expected_failed_checks, (GRLVQ(), GMLVQ(), MRSLVQ())))


X4 = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]])
Y4 = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GMLVQ(rank=0), "rank=0"),
        (GMLVQ(rank=-2), "rank=-2"),
        (GMLVQ(rank=2.5), "rank=2.5"),
        (GMLVQ(rank="all"), "rank='all'"),
        (GMLVQ(regularization=-1.0), "regularization=-1.0"),
        (GMLVQ(regularization="a"), "regularization='a'"),
        (GMLVQ(beta=0.0), "beta=0.0"),
        (GRLVQ(beta=-1.0), "beta=-1.0"),
        (MRSLVQ(xi=0.0), "xi=0.0"),
        (LGMLVQ(localized="clas"), "localized='clas'"),
        (LGMLVQ(localized=None), "localized=None"),
        (PrototypeClassifier(distance=Relevance("each")), "localized='each'"),
        (PrototypeClassifier(distance="matrixx"), "Did you mean 'matrix'"),
        (LVQ1(distance="matrix", metric_rate=-1.0), "metric_rate=-1.0"),
        (LVQ1(distance=Matrix(rank=0)), "rank=0"),
    ],
    ids=str,
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X4, Y4)
    with pytest.raises(ValueError, match=message):
        type(model)(**model.get_params(deep=False)).partial_fit(X4, Y4, classes=[0, 1])


# Generated cases ---------------------------------------------------------------------------------

MODELS = [
    (GRLVQ, {}),
    (GMLVQ, {}),
    (GMLVQ, {"rank": 1}),
    (GMLVQ, {"rank": 3}),
    (GMLVQ, {"rank": 50}),
    (GMLVQ, {"regularization": 0.1}),
    (GMLVQ, {"regularization": 0.1, "rank": 2}),
    (LGMLVQ, {}),
    (LGMLVQ, {"localized": "prototype", "rank": 2}),
    (LGMLVQ, {"regularization": 0.5}),
    (MRSLVQ, {}),
    (MRSLVQ, {"rank": 1}),
    (PrototypeClassifier, {"distance": Relevance("prototype"), "margin": "difference"}),
    (PrototypeClassifier, {"distance": LocalMatrix(2), "margin": "log_odds", "decision": "soft"}),
    (LVQ1, {"distance": "matrix"}),
    (LVQ3, {"distance": "local_matrix"}),
    (LVQ1, {"distance": Matrix(2, 0.3)}),
]

EXPLAINED = [
    "fewer than its",  # prototypes than rows
    "zero everywhere",
    "has no row of positive weight",
    "The cost became",
    "The distances to the initial prototypes overflow",
    "leaves none to validate on",
]


@contextmanager
def only_convergence_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        yield


@st.composite
def classifiers(draw, sparse_rows=False):
    """Choose a model and its settings."""
    kinds = [(c, s) for c, s in MODELS if not (sparse_rows and c in (LVQ1, LVQ3))]
    cls, settings = draw(st.sampled_from(kinds))
    settings = {
        **settings,
        "prototypes_per_class": draw(st.sampled_from([1, 1, 2, {0: 2}, "auto"])),
        "max_iter": draw(st.sampled_from([1, 3, 6])),
        "early_stopping": draw(st.integers(0, 3)) == 3,
        "validation_fraction": 0.3,
        "class_weight": draw(st.sampled_from([None, None, "balanced"])),
        "random_state": draw(st.integers(0, 3)),
    }
    if cls not in (LVQ1, LVQ3):
        solvers = ["auto", "lbfgs", "adam", "momentum", *([] if sparse_rows else ["sgd"])]
        settings["solver"] = draw(st.sampled_from(solvers))
        settings["attraction"] = draw(st.sampled_from([0.0, 0.05]))
    return cls(**settings)


@st.composite
def datasets(draw, extreme=False):
    """Draw few rows: equal ones, constant and dependent columns, tiny classes, odd sizes."""
    n, d = draw(st.integers(4, 30)), draw(st.integers(1, 6))
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    y = rng.randint(draw(st.integers(2, 4)), size=n)
    if draw(st.booleans()):  # all classes but one have a single row
        few = draw(st.integers(1, 3))
        y = np.append(np.zeros(n - few, dtype=int), 1 + np.arange(few))
    y[:2] = [0, 1]
    X = rng.standard_normal((n, d)) + draw(st.sampled_from([0.0, 3.0])) * y[:, None]
    kind = draw(st.integers(0, 5))
    if kind == 1:
        X = X.round()  # many equal rows
    elif kind == 2:
        X[:] = X[rng.randint(max(n // 3, 1), size=n)]  # rows twice, in any class
    elif kind == 3:
        X[:, rng.randint(d)] = draw(st.sampled_from([0.0, 0.1, -1e5]))
    elif kind == 4:
        X[:, rng.randint(d)] = X @ rng.standard_normal(d)
    elif kind == 5:
        X[:] = draw(st.sampled_from([0.0, 0.1, 7.0]))  # nothing varies
    if extreme:
        size = 10.0 ** draw(st.integers(-150, 150))
        if draw(st.booleans()):
            size = 10.0 ** rng.randint(-150, 151, size=d)  # another one for each column
        return X * size, y
    return X * 10.0 ** draw(st.integers(-3, 3)) + draw(st.sampled_from([0.0, 0.0, -1e8])), y


def ordinary(X):
    """Tell whether squares of all values and of their differences are ordinary numbers."""
    spreads = np.ptp(X, axis=0)
    spreads = spreads[spreads > 0.0]
    if not len(spreads):
        return np.abs(X).max() < 1e100
    even = spreads.max() < 1e100 * spreads.min()
    return np.abs(X).max() < 1e100 and spreads.max() >= 1e-100 and even


def check_outcome(model, X, y, rows=None, weight=None):
    """Fit: either an error that explains, or a sound model."""
    rows = X if rows is None else rows
    with only_convergence_warnings():
        try:
            model.fit(rows, y, sample_weight=weight)
        except ValueError as error:
            text = str(error)
            if any(part in text for part in EXPLAINED):
                return
            if "rescale X" in text and not ordinary(X):
                return
            raise
        seen = rows if weight is None else rows[np.flatnonzero(weight)]
        assert np.isfinite(model.prototypes_).all()
        assert np.isfinite(model.loss_curve_).all()
        np.testing.assert_allclose(model.relevances_.sum(axis=-1), 1.0, rtol=1e-12)
        assert model.metric_.shape[-2:] == (X.shape[1], X.shape[1])
        np.testing.assert_allclose(model.predict_proba(seen).sum(axis=1), 1.0)
        assert np.isin(model.predict(seen), model.classes_).all()
        if len(np.unique(model.prototype_labels_)) > 1:
            assert np.isfinite(model.contributions(seen)).all()


@given(data=datasets(), model=classifiers())
def test_strange_rows(data, model):
    check_outcome(model, *data)


@given(data=datasets(extreme=True), model=classifiers())
def test_rows_of_extreme_size(data, model):
    check_outcome(model, *data)


@given(data=datasets(), model=classifiers(sparse_rows=True), seed=st.integers(0, 99))
def test_strange_sparse_rows(data, model, seed):
    (X, y), rng = data, np.random.RandomState(seed)
    X = X * (rng.uniform(size=X.shape) < 0.5)
    check_outcome(model, X, y, sparse.csr_array(X))


@given(data=datasets(), model=classifiers(), ratio=st.sampled_from([0, 3, 30]))
def test_weights_of_extreme_ratio(data, model, ratio):
    X, y = data
    rng = np.random.RandomState(len(X))
    weight = 10.0 ** rng.uniform(-ratio, ratio, len(X)) * (rng.uniform(size=len(X)) > 0.2)
    check_outcome(model, X, y, weight=weight)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("case", range(len(MODELS)))
def test_nothing_varies(case, value):
    cls, settings = MODELS[case]
    check_outcome(cls(random_state=0, **settings), np.full((6, 3), value), np.arange(6) % 2)


@pytest.mark.parametrize("rate", [1e3, 1e6])
@pytest.mark.parametrize("cls", [GRLVQ, GMLVQ, LGMLVQ, MRSLVQ])
def test_a_wild_learning_rate_leaves_a_sound_metric(cls, rate, iris):
    for metric_rate in (0.01, 10.0):
        model = cls(solver=SGD(learning_rate=rate, metric_rate=metric_rate), max_iter=3)
        model.set_params(random_state=0).fit(*iris)
        assert np.isfinite(model.prototypes_).all()
        np.testing.assert_allclose(model.relevances_.sum(axis=-1), 1.0, rtol=1e-12)
