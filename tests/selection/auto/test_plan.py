"""Which rows a search learns from and holds out, and what its fits share."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, AutoPrototypeClassifier, KernelGLVQ, counterfactual, sample_margin
from protolearn._arrays import do_once, remember_work
from protolearn.folds import RowGroups
from protolearn.selection.auto import search_data
from protolearn.selection.auto.candidates import FAMILIES, candidates, members
from protolearn.selection.auto.search_data import affordable, plan_search

ALONE = RowGroups(None)


def labels(n_rows, n_classes=2, seed=0):
    return np.random.RandomState(seed).randint(n_classes, size=n_rows)


def every_part(plan):
    return [*plan.looks, *plan.others]


@pytest.mark.parametrize("n_folds", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("n_rows", [60, 3000, 12_000])
def test_no_fit_learns_from_what_it_leaves_out(n_rows, n_folds):
    y = labels(n_rows, 3)
    plan = plan_search(y, ALONE, n_folds, seed=0)
    for part in every_part(plan):
        held_out = np.concatenate(part.tests)
        assert not np.intersect1d(part.train, held_out).size
        assert len(part.tests) == len(part.folds)
        assert set(y[plan.rows][part.train]) == {0, 1, 2}
    singles = [part for part in every_part(plan) if len(part.folds) == 1]
    assert [part.folds[0] for part in singles] == list(range(len(singles)))
    for one in every_part(plan):  # a fold is the same rows in all parts, or some of them
        for fold, test in zip(one.folds, one.tests, strict=True):
            if fold < len(singles):
                assert np.isin(test, singles[fold].tests[0]).all()
    if plan.test is not None:
        assert not np.intersect1d(plan.test, plan.rows).size


def test_every_pair_of_folds_is_left_out_of_few_rows():
    plan = plan_search(labels(100), ALONE, 5, seed=0)
    looks = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    assert [part.folds for part in plan.looks] == looks
    pairs = {part.folds for part in every_part(plan) if len(part.folds) == 2}
    assert len(pairs) == 10
    assert plan.test is None
    assert_array_equal(plan.rows, np.arange(100))
    tested = np.concatenate([part.tests[0] for part in plan.others[-5:]])
    assert_array_equal(np.sort(tested), np.arange(100))


def test_more_rows_are_looked_at_in_part():
    plan = plan_search(labels(9000), ALONE, 5, seed=0)
    assert plan.test is None
    assert {len(part.folds) for part in plan.others} == {1}
    look, single = plan.looks[0], plan.others[0]
    assert len(look.train) + sum(map(len, look.tests)) == pytest.approx(2000, abs=2)
    assert len(single.train) + len(single.tests[0]) == 9000


def test_of_many_rows_some_are_set_aside():
    plan = plan_search(labels(30_000), ALONE, 5, seed=0)
    assert len(plan.test) == 6000
    assert len(plan.rows) == pytest.approx(10_000, abs=2)
    assert (len(plan.looks), len(plan.others)) == (2, 3)
    again = plan_search(labels(30_000), ALONE, 5, seed=0)
    assert_array_equal(plan.test, again.test)
    assert_array_equal(plan.rows, again.rows)


@pytest.mark.parametrize("n_classes", [2, 3000])
def test_rows_of_the_rarest_classes_are_not_set_aside(n_classes):
    y = np.append(np.arange(12_000) % n_classes, [n_classes, n_classes + 1, n_classes + 1])
    plan = plan_search(y, ALONE, 5, seed=0)
    assert len(plan.test) == pytest.approx(2400, abs=1)
    assert y[plan.test].max() < n_classes
    assert {12_000, 12_001, 12_002} <= set(plan.rows)


def test_groups_are_not_divided():
    groups = RowGroups(np.repeat(np.arange(4000), 3))
    plan = plan_search(np.repeat(labels(4000), 3), groups, 5, seed=0)
    assert not np.intersect1d(groups.codes[plan.test], groups.codes[plan.rows]).size
    for part in plan.others:
        codes = groups.codes[plan.rows]
        assert not np.intersect1d(codes[part.train], codes[part.tests[0]]).size


def test_the_slowest_candidates_are_left_out():
    tried = candidates(FAMILIES, 30, np.random.RandomState(0))
    few = plan_search(labels(500), ALONE, 5, seed=0)
    assert affordable(tried, few, 30, 2) == tried
    many = plan_search(labels(5000, 26), ALONE, 5, seed=0)
    kept = affordable(tried, many, 200, 26)
    assert 0 < len(kept) < len(tried)
    size = len(many.looks[0].train), 200, 26
    seconds = {id(one): one.expected_seconds(*size) for one in tried}
    slowest_kept = max(seconds[id(one)] for one in kept)
    assert all(seconds[id(one)] >= slowest_kept for one in tried if one not in kept)
    assert [one for one in tried if one in kept] == kept


def test_rows_set_aside_show_how_good_the_choice_is(monkeypatch):
    monkeypatch.setattr(search_data, "LARGE", 300)
    X, y = make_classification(500, 5, flip_y=0.2, random_state=0)
    model = AutoPrototypeClassifier(families=["linear", "GLVQ"], random_state=0).fit(X, y)
    test = model.held_out_folds_ == 0
    assert test.sum() == 100
    assert set(model.held_out_folds_) == {-1, 0}
    again = clone(model.best_estimator_).fit(X[~test], y[~test])
    said = model.classes_[model.held_out_proba_[test].argmax(axis=1)]
    assert_array_equal(said, again.predict(X[test]))
    assert model.best_score_ == pytest.approx(np.mean(said == y[test]))
    (chosen,) = [standing.model for standing in model.leaderboard_ if standing.chosen]
    assert model.held_out_models_ == [chosen]


@pytest.fixture(scope="module")
def wide():
    """Give few rows of many features, most of which tell nothing."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(120, 400)), labels(120)
    X[:, [3, 70, 200, 399]] += 2.0 * y[:, None]
    return X, y


def test_of_very_many_features_the_most_telling_are_seen(wide):
    X, y = wide
    model = AutoPrototypeClassifier(families=["GLVQ"], max_fits=40, random_state=0).fit(X, y)
    n_seen = model.best_params_["n_features"]
    assert n_seen in (25, 100)
    assert model.best_score_ > 0.85
    settings = {k: v for k, v in model.best_params_.items() if k not in ("model", "n_features")}
    last = GLVQ(random_state=model.best_estimator_[-1].random_state, **settings)
    again = make_pipeline(StandardScaler(), SelectKBest(f_classif, k=n_seen), last).fit(X, y)
    assert_array_equal(model.decision_function(X), again.decision_function(X))
    found = counterfactual(model.best_estimator_, X[:4])
    assert_array_equal(model.predict(found.points), found.label)
    seen = model.best_estimator_[1].get_support()
    assert_array_equal(found.points[:, ~seen], X[:4][:, ~seen])
    assert np.isfinite(sample_margin(model.best_estimator_, X[:4])).all()


def test_features_are_chosen_without_the_rows_that_are_held_out():
    """Of 2,000 features without meaning some look telling, but not on other rows."""
    rng = np.random.RandomState(1)
    X, y = rng.normal(size=(80, 2000)), rng.permutation(np.arange(80) % 2)
    model = AutoPrototypeClassifier(families=["MeanOfClass"], random_state=0).fit(X, y)
    assert abs(model.best_score_ - 0.5) < 3 * 0.5 / np.sqrt(80)
    assert model.score(X, y) > 0.9  # though they tell all about these


def test_linear_models_see_all_features_too():
    assert {one.n_features for one in members("linear", 1000)} == {None, 25, 100}
    assert {one.n_features for one in members("fixed", 1000)} == {25, 100}
    assert {one.n_features for one in members("fixed", 300)} == {None}


def test_work_is_done_once():
    calls = []

    def work(a, k, rng):
        calls.append(k)
        return a.sum() + rng.uniform()

    a, rngs = np.arange(6.0), [np.random.RandomState(3) for _ in range(3)]
    plain = work(a, 1, np.random.RandomState(3))
    with remember_work():
        found = [do_once(work, a.copy(), 1, rng=rng) for rng in rngs[:2]]
        assert found == [plain, plain]
        assert rngs[0].uniform() == rngs[1].uniform()  # as if both had drawn
        do_once(work, a, 2, rng=np.random.RandomState(3))
        do_once(work, a.reshape(2, 3), 1, rng=np.random.RandomState(3))
        do_once(work, a, 1, rng=np.random.RandomState(4))
    assert calls == [1, 1, 2, 1, 1]
    do_once(work, a, 1, rng=rngs[2])
    assert len(calls) == 6


@pytest.mark.parametrize(
    "model", [GLVQ(prototypes_per_class=3), KernelGLVQ(gamma=0.1, prototypes_per_class=2)]
)
def test_shared_work_changes_nothing(model):
    X, y = make_classification(80, 4, random_state=0)
    alone = clone(model).set_params(random_state=0).fit(X, y).decision_function(X)
    with remember_work():
        for _ in range(2):
            shared = clone(model).set_params(random_state=0).fit(X, y)
            assert_array_equal(shared.decision_function(X), alone)
