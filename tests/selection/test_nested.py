"""Nested cross-validation tells the truth."""

from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import norm, uniform
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from given_profile import long_test
from protolearn import GLVQ
from protolearn.selection.intervals import fold_interval
from protolearn.selection.nested import nested_cross_validate

GRID = {"prototypes_per_class": [1, 2]}


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(GLVQ(random_state=0), GRID, cv=3)


def two_gaussians(n, rng, distance=2.0):
    y = np.arange(n) % 2
    return rng.randn(n, 2) + distance * y[:, None] * [1.0, 0.0], y


def test_it_is_a_plain_loop(distinct_iris, search):
    X, y = distinct_iris
    result = nested_cross_validate(search, X, y, cv=4, random_state=1)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    for i, (train, test) in enumerate(folds):
        fitted = GridSearchCV(GLVQ(random_state=0), GRID, cv=3).fit(X[train], y[train])
        assert result.scores[i] == fitted.score(X[test], y[test])
        assert result.inner_scores[i] == fitted.best_score_
        assert result.best_params[i] == fitted.best_params_
        assert (result.n_train[i], result.n_test[i]) == (len(train), len(test))
    assert result.mean == result.scores.mean()
    assert result.optimism == result.inner_scores.mean() - result.mean
    expected = fold_interval(result.scores, result.n_train, result.n_test, 0.8)
    assert result.measure == "accuracy"
    assert result.interval(0.8) == expected.within(0.0, 1.0)
    assert expected.low < result.mean < expected.high


def test_text_and_frame(iris, search):
    result = nested_cross_validate(search, *iris, cv=3, random_state=0)
    lines = str(result).splitlines()
    assert lines[0].startswith(f"Nested estimate of accuracy {result.mean:.4f}, 95 % interval")
    assert f"optimism of {result.optimism:+.4f}" in lines[1]
    assert lines[2].startswith("fold  1")
    assert "prototypes_per_class=" in lines[2]
    frame = result.to_frame()
    assert list(frame) == [
        "score",
        "inner_score",
        "n_train",
        "n_test",
        "param_prototypes_per_class",
    ]
    np.testing.assert_array_equal(frame["score"], result.scores)
    assert repr(result) == f"<NestedResult: 3 outer folds, mean {result.mean:.4f}>"


@long_test
def test_nested_estimate_agrees_with_a_large_test_set():
    """On two Gaussians the outer scores are those of 20,000 new rows, up to chance."""
    rng = np.random.RandomState(0)
    X_new, y_new = two_gaussians(20_000, rng)
    best = norm.cdf(1.0)
    search = GridSearchCV(GLVQ(random_state=0), {"prototypes_per_class": [1, 3]}, cv=3)
    gaps, truths = [], []
    for seed in range(10):
        result = nested_cross_validate(search, *two_gaussians(90, rng), cv=3, random_state=seed)
        truth = np.mean([fitted.score(X_new, y_new) for fitted in result.estimators])
        gaps.append(result.mean - truth)
        truths.append(truth)
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert error < 0.02  # so that the next line says something
    assert abs(np.mean(gaps)) < 2.5 * error
    assert best - 0.06 < np.mean(truths) < best + 0.005


def test_search_promises_too_much_on_noise_and_the_nested_estimate_does_not():
    rng = np.random.RandomState(0)
    coin = DummyClassifier(strategy="uniform")
    search = GridSearchCV(coin, {"random_state": range(15)}, cv=2)
    outer, optimism = [], []
    for seed in range(4):
        X, y = np.zeros((60, 1)), rng.permutation(np.arange(60) % 2)
        result = nested_cross_validate(search, X, y, cv=4, random_state=seed)
        outer.append(result.mean)
        optimism.append(result.optimism)
    chance = 0.5 / np.sqrt(4 * 60)
    assert abs(np.mean(outer) - 0.5) < 2.5 * chance
    assert np.mean(optimism) > 2.5 * chance


def test_other_searches_and_measures(distinct_iris):
    X, y = distinct_iris
    svc = RandomizedSearchCV(SVC(), {"C": uniform(0.1, 10)}, n_iter=3, cv=3, random_state=0)
    pipe = make_pipeline(StandardScaler(), svc)
    result = nested_cross_validate(pipe, X, y, cv=3, scoring="accuracy", random_state=0)
    assert all(set(params) == {"C"} for params in result.best_params)
    assert np.isfinite(result.optimism)
    plain = cross_val_score(pipe, X, y, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    np.testing.assert_array_equal(result.scores, plain)


def test_different_measures_have_no_optimism(iris, search):
    result = nested_cross_validate(search, *iris, cv=3, scoring="neg_log_loss", random_state=0)
    assert np.isnan(result.optimism)
    assert "optimism" not in str(result)
    assert (result.inner_scores > 0.8).all()
    assert (result.scores < 0.0).all()


@pytest.mark.parametrize(
    ("measure", "ends"),
    [
        ("accuracy", (0.0, 1.0)),
        ("f1_macro", (0.0, 1.0)),
        ("neg_log_loss", (-np.inf, 0.0)),
        ("r2", (-np.inf, 1.0)),
        (None, (-np.inf, np.inf)),
    ],
)
def test_intervals_end_where_measures_do(iris, search, measure, ends):
    result = nested_cross_validate(search, *iris, cv=2, random_state=0)
    wild = replace(result, scores=np.array([-50.0, 50.0]), measure=measure)
    low, high = wild.interval()
    wide = fold_interval(wild.scores, wild.n_train, wild.n_test, 0.95)
    assert (low, high) == (max(wide.low, ends[0]), min(wide.high, ends[1]))


def test_search_without_a_best_score(iris):
    simplest = GridSearchCV(GLVQ(random_state=0), GRID, cv=3, refit=lambda results: 0)
    result = nested_cross_validate(simplest, *iris, cv=3, random_state=0)
    assert np.isnan(result.inner_scores).all()
    assert np.isnan(result.optimism)
    assert all(params == {"prototypes_per_class": 1} for params in result.best_params)


def test_regression_has_plain_folds(rng):
    X, y = rng.randn(40, 2), rng.randn(40)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    result = nested_cross_validate(search, X, y, cv=3, random_state=0)
    plain = cross_val_score(search, X, y, cv=KFold(3, shuffle=True, random_state=0))
    np.testing.assert_array_equal(result.scores, plain)
    assert result.measure == "r2"


def test_any_splitter_and_two_workers(iris, search):
    cv = StratifiedKFold(3)
    one = nested_cross_validate(search, *iris, cv=cv)
    with parallel_config("threading"):
        two = nested_cross_validate(search, *iris, cv=list(cv.split(*iris)), n_jobs=2)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_errors(iris, search):
    with pytest.raises(ValueError, match=r"GLVQ has no best_params_ after fit.*cross_validate"):
        nested_cross_validate(GLVQ(), *iris, cv=2)
    with pytest.raises(ValueError, match="has several measures; give one"):
        nested_cross_validate(search, *iris, cv=2, scoring=["accuracy", "f1_macro"])
    with pytest.raises(ValueError, match="give the random_state to the splitter"):
        nested_cross_validate(search, *iris, cv=KFold(3), random_state=0)
    with pytest.raises(ValueError, match="cv=1 must be an integer of at least 2"):
        nested_cross_validate(search, *iris, cv=1)
