"""Fits that a scale could spoil: tiny slopes, prototypes outside the data, units, outliers."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_profile import long_test
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LOGM,
    LVQ1,
    MCE,
    MRSLVQ,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    ScaleWarning,
    datasets,
)
from protolearn.solvers import SGD

DATA = Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent")

needs_data = pytest.mark.skipif(
    not (DATA / "20ng.npz").is_file(),
    reason="set PROTOLEARN_DATA to the folder of benchmark data",
)


def z_scored(load):
    X, y = load(return_X_y=True) if callable(load) else datasets.load(load)
    return StandardScaler().fit_transform(X), y


def warnings_of(model, X, y, kind=ScaleWarning):
    """Fit; return the messages of one kind of warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(w.message) for w in caught if issubclass(w.category, kind)]


# When L-BFGS stops -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def words():
    """3,000 rows of 1,000 words in 20 classes, none of which has words of its own."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, 20, 3000)
    rate = np.full((20, 1000), 0.05)
    for row in rate:
        row[rng.choice(1000, 100, replace=False)] = 0.075
    return (rng.uniform(size=(3000, 1000)) < rate[y]).astype(np.float64), y


@pytest.mark.parametrize(
    ("form", "attraction", "least"), [(np.asarray, 0.0, 0.99), (csr_array, 0.003, 0.96)]
)
def test_many_classes_and_features_have_tiny_slopes_and_are_learned(words, form, attraction, least):
    """Every derivative begins below tol: an absolute test would stop at the class means.

    Without attraction ten iterations without progress would end it at 0.926, on an edge of the cost
    where winners change. With attraction 0.966 is what 1,000 iterations reach at any ``tol``.
    """
    X, y = form(words[0]), words[1]
    model = LOGM(attraction=attraction, random_state=0)
    assert not warnings_of(model, X, y, ConvergenceWarning)
    assert model.solver_ == "lbfgs"
    assert model.n_iter_ > 50
    assert model.score(X, y) > least  # the class means: 0.77


@long_test
@needs_data
def test_newsgroups_are_learned_to_the_end():
    (X, y), (T, t) = (datasets.load("20ng", part) for part in ("train", "test"))
    weigh = TfidfTransformer(sublinear_tf=True).fit(X)
    for attraction in (0.0, 0.003):
        model = LOGM(attraction=attraction, random_state=0).fit(weigh.transform(X), y)
        assert model.score(weigh.transform(T), t) > 0.83


@pytest.mark.parametrize("factor", [1.0, 1e-3, 1e3])
def test_a_start_that_is_the_end_takes_few_iterations(factor):
    X, y = z_scored(load_iris)
    first = RSLVQ(random_state=0, tol=1e-6).fit(factor * X, y)
    again = RSLVQ(init=first.prototypes_, scale=first.scale_).fit(factor * X, y)
    assert again.n_iter_ <= 5
    assert again.loss_curve_[-1] == pytest.approx(first.loss_curve_[-1], rel=1e-4)


def test_iterations_are_those_that_were_made(iris):
    X, y = iris
    assert GLVQ(max_iter=1).fit(X, y).n_iter_ == 1
    model = GLVQ(tol=1.0)
    (message,) = warnings_of(model, X, y, ConvergenceWarning)
    assert message.startswith("GLVQ has not moved its initial prototypes")
    assert model.n_iter_ == len(model.loss_curve_) == 0
    means = [X[y == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.prototypes_, means, rtol=1e-12)


@pytest.mark.parametrize("solver", ["lbfgs", SGD()])
def test_classes_that_do_not_differ_move_nothing(solver):
    X, y = np.ones((40, 2)), np.repeat([0, 1], 20)
    model = GLVQ(solver=solver, max_iter=1)
    messages = warnings_of(model, X, y, ConvergenceWarning)
    assert any("has not moved its initial prototypes" in message for message in messages)


# Prototypes outside the data ---------------------------------------------------------------------


@pytest.mark.parametrize("cls", [LOGM, RSLVQ, MRSLVQ])
@pytest.mark.parametrize(
    "load", [load_breast_cancer, load_wine, pytest.param("sonar", marks=needs_data)]
)
def test_the_default_attraction_keeps_prototypes_among_the_data(cls, load):
    X, y = z_scored(load)
    model = cls(random_state=0)
    assert not warnings_of(model, X, y)
    assert np.abs(model.prototypes_).max() < 2.0 * np.abs(X).max()
    assert model.outside_.max() < 10.0


def test_without_attraction_they_leave_and_the_fit_says_so():
    X, y = z_scored(load_breast_cancer)
    model = LOGM(attraction=0.0, random_state=0, tol=1e-5)
    (message,) = warnings_of(model, X, y)
    assert f"A prototype of LOGM lies {model.outside_.max():.3g} times" in message
    assert "attraction=0.01" in message
    assert model.outside_.max() > 10.0


@pytest.mark.parametrize("cls", [LOGM, RSLVQ, MRSLVQ])
def test_how_strong_the_default_attraction_is(cls, iris):
    X, y = iris
    holes = X.copy()
    holes[3, 1] = np.nan
    for rows, alpha in ((X, 0.003), (holes, 0.003 + 0.5 / X.size)):
        found = [
            cls(attraction=a, max_iter=5, random_state=0).fit(rows, y).prototypes_
            for a in (None, alpha, 0.0)
        ]
        np.testing.assert_array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])


def test_the_share_of_missing_values_counts_weights(iris):
    X, y = iris
    X, weight = X.copy(), np.ones(len(y))
    X[3, :2], X[5, 1], weight[3], weight[5] = np.nan, np.nan, 2.0, 0.5
    missing = (2 * 2.0 + 0.5) / (weight.sum() * X.shape[1])
    found = [
        RSLVQ(attraction=a, max_iter=5).fit(X, y, sample_weight=weight).prototypes_
        for a in (None, 0.003 + 0.5 * missing)
    ]
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize("cls", [LOGM, RSLVQ, GMLVQ, MRSLVQ])
def test_missing_values_cost_no_more_than_mean_imputation(cls):
    X, y = z_scored(load_wine)
    gains = []
    for seed in range(3):
        holes = np.where(np.random.RandomState(seed).uniform(size=X.shape) < 0.2, np.nan, X)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        scores = [
            cross_val_score(model, holes, y, cv=folds).mean()
            for model in (cls(random_state=0), make_pipeline(SimpleImputer(), cls(random_state=0)))
        ]
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 0.0  # LOGM and RSLVQ without attraction -0.04


@pytest.mark.parametrize("cls", [GMLVQ, MRSLVQ])
def test_a_matrix_is_learned_in_epochs_where_values_are_missing(cls, iris):
    X, y = iris
    holes = X.copy()
    holes[3, 1] = np.nan
    assert cls(max_iter=2).fit(X, y).solver_ == "lbfgs"
    assert cls(max_iter=2).fit(holes, y).solver_ == "adam"
    assert cls(max_iter=2, solver="lbfgs").fit(holes, y).solver_ == "lbfgs"


def test_outside_is_the_formula(iris):
    X, y = iris
    X = np.hstack([X, np.full((len(X), 1), 3.0)])  # a feature that never varies
    W = np.array([X[0], X.max(axis=0), X.min(axis=0)])
    W[0, 1], W[1, 2], W[2] = X[:, 1].max() + 2.5 * np.ptp(X[:, 1]), -100.0, X.mean(axis=0)
    model = GLVQ(init=W, solver=SGD(1e-12, schedule="constant"), max_iter=1).fit(X, y)
    far = (X[:, 2].min() + 100.0) / np.ptp(X[:, 2])
    np.testing.assert_allclose(model.outside_, [2.5, far, 0.0], rtol=1e-6)
    model.partial_fit(X, y)
    assert not hasattr(model, "outside_")
    assert not hasattr(KernelGLVQ(max_iter=2).fit(X, y), "outside_")


def test_rows_in_parts_know_their_ranges(iris):
    X, y = iris
    whole = GLVQ(random_state=0).fit(X, y)
    parts = GLVQ(random_state=0).fit(lambda: iter([(X[:80], y[:80]), (X[80:], y[80:])]))
    np.testing.assert_allclose(parts.outside_, whole.outside_, atol=1e-6)


# Units and outliers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [GLVQ(), MCE(), LVQ1(), PrototypeClassifier(distance="minkowski")]
)
def test_one_feature_of_large_numbers_is_reported_once(model):
    X, y = load_wine(return_X_y=True)
    model.set_params(random_state=0, max_iter=2)
    (message,) = warnings_of(model, X, y)
    assert message.startswith("Feature 12 makes up 99.8% of the variance of the 13 features of X")
    assert "make_pipeline(StandardScaler(), model)" in message
    assert not warnings_of(model, StandardScaler().fit_transform(X), y)


def test_it_is_reported_for_sparse_and_incomplete_rows():
    X, y = load_wine(return_X_y=True)
    (message,) = warnings_of(GLVQ(max_iter=2), csr_array(X), y)
    assert message.startswith("Feature 12 makes up 99.8%")
    X[np.random.RandomState(0).uniform(size=X.shape) < 0.2] = np.nan
    (message,) = warnings_of(GLVQ(max_iter=2), X, y)
    assert message.startswith("Feature 12 makes up 99.8%")


@pytest.mark.parametrize("model", [GRLVQ(), GMLVQ(), PrototypeClassifier(distance="mahalanobis")])
def test_metrics_with_a_scale_for_each_feature_are_not_concerned(model):
    assert not warnings_of(model.set_params(max_iter=2), *load_wine(return_X_y=True))


@pytest.mark.parametrize("load", [load_digits, load_iris])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_of_one_unit_are_not_reported(load, form):
    X, y = load(return_X_y=True)
    assert not warnings_of(GLVQ(max_iter=2), form(X), y)


def test_counts_of_words_are_not_reported(words):
    X, y = words
    counts = np.random.RandomState(0).poisson(X * np.linspace(0.2, 3.0, X.shape[1]))
    assert not warnings_of(GLVQ(max_iter=2), csr_array(counts.astype(np.float64)), y)


@pytest.mark.parametrize("cls", [GLVQ, GMLVQ, LVQ1])
def test_a_gross_outlier_is_reported_once(cls):
    X, y = z_scored(load_wine)
    assert not warnings_of(cls(max_iter=2), X, y)
    X[17] *= 1e4
    model = cls(max_iter=2, random_state=0)
    (message,) = warnings_of(model, X, y)
    assert message.startswith("A few rows are so far from their class")
    assert model.distances(X).min(axis=1).argmax() == 17  # as the message says


def test_weights_and_few_rows_are_no_outliers():
    X, y = z_scored(load_wine)
    weight = np.where(np.arange(len(X)) % 60, 1e-6, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        GLVQ(max_iter=2).fit(X, y, sample_weight=weight)
        GLVQ(max_iter=2).fit([[0.0], [1.0], [0.0], [1e6]], [0, 0, 1, 1])


RAW = {"wine": 12, "vehicle": 11, "wdbc": 23, "heart": 4, "diabetes": 4, "pima": 4}
"""Sets of mixed units, with the feature that decides."""


@needs_data
@pytest.mark.parametrize(
    "name", [name for name in datasets.names() if name not in ("mnist", "20ng", "semeval2013")]
)
def test_which_sets_are_reported(name):
    """Pixels, grey values and counts of one unit are not, nor is any set after scaling."""
    X, y = datasets.load(name, "train") if name == "usps" else datasets.load(name)
    messages = warnings_of(GLVQ(max_iter=1), X, y)
    found = [message.split(" makes")[0] for message in messages]
    assert found == ([f"Feature {RAW[name]}"] if name in RAW else [])
    assert not warnings_of(GLVQ(max_iter=1), StandardScaler().fit_transform(X), y)
