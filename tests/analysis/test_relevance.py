"""Relevances with their uncertainty."""

import sys
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, MRSLVQ, PrototypeClassifier
from protolearn import relevance_profile as profile
from protolearn.analysis.relevance_refits import FOLDS, bootstrap, folds, match_prototypes, refit


@pytest.fixture(scope="module")
def six():
    """Two informative features, 1 and 4, of six, and a seventh that never varies."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 300)
    X = rng.normal(size=(600, 7))
    X[:, [1, 4]] += 2.0 * y[:, None]
    X[:, 6] = 2.5
    return X, y


@pytest.mark.parametrize("model", [GRLVQ(), GMLVQ()], ids=lambda m: type(m).__name__)
def test_intervals_tell_information_from_noise(six, model):
    X, y = six
    result = profile(model, X, y, n_resamples=30, random_state=0)
    informative = np.isin(np.arange(7), [1, 4])
    assert result.low[informative].min() > result.high[~informative].max()
    np.testing.assert_allclose(result.samples.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "model",
    [GRLVQ(), make_pipeline(StandardScaler(), GMLVQ()), make_pipeline(StandardScaler(), MRSLVQ())],
    ids=lambda m: type(m).__name__,
)
def test_a_constant_feature_never_counts(six, model):
    X, y = six
    result = profile(model, X, y, n_resamples=5, random_state=0)
    assert (result.samples[:, 6] == 0.0).all()
    assert result.relevances[6] == 0.0


def test_is_mean_and_percentiles_of_refits(iris):
    X, y = iris
    result = profile(GRLVQ(), X, y, n_resamples=11, level=0.8, random_state=3)
    assert result.samples.shape == (11, 4)
    ordered = np.sort(result.samples, axis=0)
    np.testing.assert_allclose(result.mean, result.samples.mean(axis=0))
    np.testing.assert_allclose(result.low, ordered[1])  # a tenth of the ten gaps
    np.testing.assert_allclose(result.high, ordered[9])
    assert result.level == 0.8


def test_fit_on_all_rows_is_that_of_a_clone(iris):
    X, y = iris
    model = GMLVQ(random_state=5)
    for given in (model, GMLVQ(random_state=5).fit(X[50:], y[50:])):
        before = vars(given).copy()
        result = profile(given, X, y, n_resamples=2, random_state=0)
        assert vars(given) == before
        np.testing.assert_array_equal(
            result.relevances, GMLVQ(random_state=5).fit(X, y).relevances_
        )


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (GMLVQ(rank=2, prototypes_per_class=2), "bootstrap"),
        (GRLVQ(), "folds"),
        (LVQ1(distance="relevance"), "bootstrap"),
    ],
    ids=["GMLVQ", "GRLVQ", "LVQ1"],
)
def test_seed_alone_decides(iris, model, method):
    X, y = iris
    pipe = make_pipeline(PCA(3), model)
    how = {"n_resamples": 4, "method": method, "random_state": 1}
    one, two = (profile(pipe, X, y, n_jobs=n, **how).samples for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, profile(pipe, X, y, **how).samples)
    assert (profile(pipe, X, y, **(how | {"random_state": 2})).samples != one).any()


def test_folds_are_training_parts(iris):
    X, y = iris
    needed = {0: 1, 1: 1, 2: 1}
    parts = list(folds(y, needed, 7, np.random.RandomState(0)))
    assert len(parts) == 7
    for rows in parts:
        assert (np.bincount(y[rows]) == 50 - 50 // FOLDS).all()
    left = [np.setdiff1d(np.arange(150), rows) for rows in parts[:FOLDS]]
    assert (np.sort(np.concatenate(left)) == np.arange(150)).all()
    narrow = profile(GRLVQ(), X, y, method="folds", n_resamples=20, random_state=0)
    wide = profile(GRLVQ(), X, y, n_resamples=20, random_state=0)
    assert np.ptp(narrow.samples, axis=0).sum() < np.ptp(wide.samples, axis=0).sum()


def test_bootstrap_keeps_what_classes_need():
    y = np.repeat([7, 8, 9], [2, 5, 40])
    seen = np.zeros(47)
    for rows in bootstrap(y, {7: 1, 8: 4, 9: 1}, 200, np.random.RandomState(0)):
        assert np.bincount(y[rows])[7:].tolist() == [2, 5, 40]
        assert len(np.unique(rows[y[rows] == 7])) == 2
        assert len(np.unique(rows[y[rows] == 8])) >= 4
        seen += np.bincount(rows, minlength=47)
    assert seen[:2].tolist() == [200, 200]
    assert np.abs(seen / 200 - 1.0).max() < 0.3  # no row is preferred


def test_one_row_in_a_class():
    X, y = [[0.0, 1.0], [5.0, 0.0], [6.0, 1.0], [5.5, 2.0]], ["a", "b", "b", "b"]
    result = profile(GRLVQ(), X, y, n_resamples=3, random_state=0)
    assert np.isfinite(result.samples).all()


def test_names_of_features(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    quick = {"n_resamples": 2, "random_state": 0}
    silent = FunctionTransformer(np.asarray)
    scaled = make_pipeline(StandardScaler(), GRLVQ())
    assert profile(GRLVQ(), X, y, **quick).feature_names == ("x0", "x1", "x2", "x3")
    assert profile(GRLVQ(), frame, y, **quick).feature_names == ("a", "b", "c", "d")
    assert profile(scaled, frame, y, **quick).feature_names == ("a", "b", "c", "d")
    assert profile(make_pipeline(GRLVQ()), frame, y, **quick).feature_names == ("a", "b", "c", "d")
    assert profile(make_pipeline(PCA(2), GRLVQ()), X, y, **quick).feature_names == ("pca0", "pca1")
    assert profile(make_pipeline(silent, GRLVQ()), frame, y, **quick).feature_names[0] == "x0"


def test_features_that_a_step_leaves_out_count_nothing(six):
    X, y = six
    X, noise = X[:60, [0, 1, 2, 3]], X[:60, 5]
    y = (X[:, 1] + noise > 0).astype(int)  # one feature tells; which is second is chance
    result = profile(make_pipeline(SelectKBest(k=2), GRLVQ()), X, y, n_resamples=20, random_state=0)
    assert "x1" in result.feature_names
    assert len(result.feature_names) > 2
    np.testing.assert_allclose(result.samples.sum(axis=1), 1.0)
    assert ((result.samples > 0).sum(axis=1) <= 2).all()
    assert result.mean[result.feature_names.index("x1")] == result.mean.max()


def test_weights_select_rows(iris):
    X, y = iris
    weight = np.where(np.arange(150) % 2, 2.0, 0.0)
    how = {"n_resamples": 4, "random_state": 0}
    weighted = profile(make_pipeline(StandardScaler(), GRLVQ()), X, y, sample_weight=weight, **how)
    selected = profile(make_pipeline(StandardScaler(), GRLVQ()), X[1::2], y[1::2], **how)
    np.testing.assert_allclose(weighted.samples, selected.samples, rtol=1e-3, atol=1e-5)
    heavy = profile(GRLVQ(), X, y, sample_weight=np.where(y == 0, 50.0, 1.0), **how)
    assert np.abs(heavy.mean - profile(GRLVQ(), X, y, **how).mean).max() > 0.01


def test_missing_and_sparse(iris):
    X, y = iris
    holes = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.1, np.nan, X)
    assert profile(GRLVQ(), holes, y, n_resamples=3, random_state=0).samples.shape == (3, 4)
    how = {"n_resamples": 3, "random_state": 0, "method": "folds"}
    sparse = profile(GMLVQ(solver="lbfgs"), csr_array(X), y, **how)
    dense = profile(GMLVQ(solver="lbfgs"), X, y, **how)
    np.testing.assert_allclose(sparse.samples, dense.samples, atol=0.02)


def test_local_metrics(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    result = profile(LGMLVQ(), X, names[y], n_resamples=3, random_state=0)
    assert result.group_names == tuple(names)
    assert result.samples.shape == (3, 3, 4)
    assert result.mean.shape == result.low.shape == result.relevances.shape == (3, 4)
    np.testing.assert_allclose(result.samples.sum(axis=2), 1.0)


def test_prototypes_are_matched_within_classes(iris):
    X, y = iris
    counts = {0: 1, 1: 3, 2: 2}
    model = LGMLVQ(localized="prototype", prototypes_per_class=counts, random_state=0)
    rows = type("Rows", (), {"X": X, "y": y, "weight": None})
    whole, other = refit(model, rows)[0], refit(model, rows)[0]
    for order in permutations([1, 2, 3]):
        shuffled = [0, *order, 5, 4]
        other.prototypes_ = whole.prototypes_[shuffled] + 1e-3
        place = match_prototypes(whole, other)
        np.testing.assert_array_equal(np.array(shuffled)[place], np.arange(6))
        assert (other.prototype_labels_[place] == whole.prototype_labels_).all()
    result = profile(model, X, y, n_resamples=2, random_state=0)
    assert result.group_names == ("0", "1, 1", "1, 2", "1, 3", "2, 1", "2, 2")


def test_matching_removes_permutations():
    """Each class in two places, told apart by another feature in each; their order is chance."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 0, 1], 60)
    X = rng.normal(size=(240, 2))
    X[60:120, 0] += 2.4
    X[180:, 1] += 2.4
    X[120:] += 10.0
    model = LGMLVQ(localized="prototype", prototypes_per_class=2, solver="lbfgs")
    result = profile(model, X, y, n_resamples=10, random_state=0)
    leader = result.relevances.argmax(axis=1)
    assert sorted(leader[:2]) == sorted(leader[2:]) == [0, 1]
    assert (result.samples.argmax(axis=2) == leader).mean() > 0.9


def test_table(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    result = profile(GRLVQ(), frame, y, n_resamples=5, random_state=0)
    title, head, *lines = str(result).splitlines()
    assert title == "Relevance in percent: 5 refits (bootstrap), 95 % interval"
    assert head.split() == ["feature", "mean", "low", "high", "all", "rows"]
    assert len({len(line) for line in [head, *lines]}) == 1
    order = np.argsort(-result.mean)
    assert [line[:12].strip() for line in lines] == [frame.columns[j] for j in order]
    numbers = [float(part) for part in lines[0][12:].split()]
    top = order[0]
    expected = [result.mean[top], result.low[top], result.high[top], result.relevances[top]]
    np.testing.assert_allclose(numbers, 100 * np.array(expected), atol=0.051)
    assert repr(result) == "<RelevanceProfile: 4 features, 5 refits (bootstrap)>"
    local = profile(LGMLVQ(), frame, y, n_resamples=2, random_state=0)
    assert "\n1:\nfeature" in str(local)


def test_long_table_is_cut():
    X = np.random.RandomState(0).normal(size=(40, 50))
    result = profile(GRLVQ(), X, X[:, 0] > 0, n_resamples=2, random_state=0)
    assert str(result).endswith("... and 20 features more")


def test_frame(iris, monkeypatch):
    X, y = iris
    result = profile(GRLVQ(), X, y, n_resamples=2, random_state=0)
    frame = result.to_frame()
    assert list(frame.columns) == ["relevance", "mean", "low", "high"]
    assert frame.loc["x2", "mean"] == result.mean[2]
    local = profile(LGMLVQ(), X, y, n_resamples=2, random_state=0)
    assert local.to_frame().loc[("1", "x3"), "high"] == local.high[1, 3]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        result.to_frame()


def test_progress(iris, capsys):
    X, y = iris
    profile(GRLVQ(verbose=2), X, y, n_resamples=2, random_state=0)
    assert not capsys.readouterr().out
    profile(GRLVQ(verbose=2), X, y, n_resamples=3, random_state=0, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[:1]] == ["[relevance_profile] refit"]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_resamples": 1}, "n_resamples=1 must be an integer of at least 2"),
        ({"level": 1.0}, r"level=1.0 must be a finite number in \(0, 1\)"),
        ({"method": "jackknife"}, "method='jackknife' must be one of 'bootstrap', 'folds'"),
        ({"verbose": -1}, "verbose=-1 must be an integer of at least 0"),
        ({"sample_weight": [1.0]}, "sample_weight has shape"),
    ],
)
def test_wrong_settings(iris, settings, message):
    with pytest.raises(ValueError, match=message):
        profile(GRLVQ(), *iris, **settings)


def test_models_without_relevances(iris):
    X, y = iris
    with pytest.raises(TypeError, match="LogisticRegression learns no relevances; give GRLVQ"):
        profile(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match=r"GLVQ with SquaredEuclidean\(\) learns no relevances"):
        profile(make_pipeline(StandardScaler(), GLVQ()), X, y)
    with pytest.raises(ValueError, match="'auto' may find other numbers of prototypes"):
        profile(LGMLVQ(localized="prototype", prototypes_per_class="auto"), X, y)
    assert profile(PrototypeClassifier(distance="matrix"), X, y, n_resamples=2).mean.shape == (4,)


def test_failures_name_the_resample():
    X = np.full((12, 2), np.nan)
    X[:, 0] = np.arange(12.0)
    X[0, 1] = 1.0  # seen in one row, which a resample may lack
    y = np.repeat([0, 1], 6)
    with pytest.raises(ValueError, match=r"Resample \d of 9: Feature 1 of X has no observed value"):
        profile(GRLVQ(), X, y, n_resamples=9, random_state=0)
    with pytest.raises(ValueError, match="Class 0 has 4 rows, too few for 5 folds"):
        profile(GRLVQ(), X[2:, :1], y[2:], method="folds")
