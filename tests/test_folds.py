"""Folds that keep equal rows and groups of rows undivided."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import AutoPrototypeClassifier, RejectClassifier, compare
from protolearn.folds import (
    RowGroups,
    deal_groups,
    group_keyword,
    hold_out_part,
    plain_folds,
    row_groups,
    stratified_folds,
)
from protolearn.report.page.evidence import by_folds
from protolearn.selection import (
    bias_variance,
    evaluate,
    nested_cross_validate,
    roc_over_folds,
)
from protolearn.selection.auto.search_data import plan_search

NEAREST = KNeighborsClassifier(1)


def coin(n=60, copies=5, seed=0):
    """Rows whose labels come from a coin, each several times, in any order."""
    rng = np.random.RandomState(seed)
    rows = rng.permutation(np.repeat(np.arange(n), copies))
    X, y = rng.randn(n, 4), rng.permutation(np.arange(n) % 2)
    return X[rows], y[rows], rows


def test_labels_of_a_coin_are_guessed_however_often_rows_are_given():
    """By heart, one nearest neighbour is right in all copies."""
    X, y, _ = coin()
    found = evaluate(NEAREST, X, y, cv=5, random_state=0)
    assert 0.3 < found.accuracy.value < 0.7
    assert found.accuracy.low < 0.5 < found.accuracy.high
    assert found.accuracy.high - found.accuracy.low > 0.2  # sixty rows, not three hundred
    assert found.notes[0] == "240 rows are copies of others; copies stay in the same fold."
    compared = compare([NEAREST], (X, y), cv=5, n_repeats=2, random_state=0)
    assert 0.3 < compared.means[0, 0] < 0.7
    assert str(compared).endswith(found.notes[0])
    nested = nested_cross_validate(
        GridSearchCV(NEAREST, {"p": [1, 2]}, cv=3), X, y, cv=5, random_state=0
    )
    assert 0.3 < nested.mean < 0.7
    assert 0.2 < roc_over_folds(NEAREST, X, y, cv=5, random_state=0).auc < 0.8
    assert 0.2 < bias_variance(NEAREST, X, y, n_resamples=5, random_state=0).error < 0.8
    page = by_folds(NEAREST, X, y, 5, 0, None)
    assert 0.3 < page.evaluation.accuracy.value < 0.7
    assert page.evaluation.notes[0] == found.notes[0]
    rejecting = RejectClassifier(NEAREST, cost=0.3, measure="probability").fit(X, y)
    assert not rejecting.accepted_error_ < 0.3


def test_automatic_choice_does_not_learn_copies_by_heart(capsys):
    X, y, _ = coin()
    settings = {"families": ["kernel", "linear"], "max_fits": 30, "random_state": 0}
    model = AutoPrototypeClassifier(verbose=1, **settings).fit(X, y)
    assert 0.3 < model.best_score_ < 0.7
    assert model.n_copies_ == 240
    shown = capsys.readouterr().out
    assert "240 rows are copies of others; copies stay in the same fold." in shown


def test_own_splitters_decide_by_themselves():
    X, y, _ = coin()
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    assert evaluate(NEAREST, X, y, cv=cv).accuracy.value > 0.95
    assert compare([NEAREST], (X, y), cv=cv, random_state=0).means[0, 0] > 0.95


def test_without_copies_nothing_changes(distinct_iris):
    X, y = distinct_iris
    together = row_groups(X)
    assert together == RowGroups(None, 0)
    assert together.notes == ()
    for n_repeats, splitter in (
        (1, StratifiedKFold(4, shuffle=True, random_state=3)),
        (1, RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=3)),
        (3, RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=3)),
    ):
        found = stratified_folds(y, 4, together, n_repeats=n_repeats, random_state=3)
        assert_same_folds(found, splitter.split(X, y))
    assert_same_folds(
        stratified_folds(y, 4, together, shuffle=False), StratifiedKFold(4).split(X, y)
    )
    plain = KFold(4, shuffle=True, random_state=3)
    assert_same_folds(plain_folds(len(y), 4, together, 3), plain.split(X))


def test_few_copies_change_the_folds_a_little(iris):
    X, y = iris  # rows 101 and 142 are equal
    together = row_groups(X)
    assert together.n_copies == 1
    moved = []
    for seed in range(10):
        found = stratified_folds(y, 5, together, random_state=seed)
        plain = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
        for (_, mine), (_, theirs) in zip(found, plain, strict=True):
            assert np.isin([101, 142], mine).sum() in (0, 2)
            assert np.bincount(y[mine]).tolist() == [10, 10, 10]
            moved.append(len(np.setdiff1d(mine, theirs)))
    assert set(moved) == {0, 1}


def assert_same_folds(found, expected):
    for mine, theirs in zip(found, list(expected), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 4), st.integers(5, 60))
def test_every_row_is_tested_once_and_no_group_is_divided(seed, n_folds, n_classes, n_groups):
    rng = np.random.RandomState(seed)
    codes = np.append(np.arange(n_groups), rng.randint(n_groups, size=rng.randint(100)))
    y = rng.randint(n_classes, size=len(codes))
    folds = stratified_folds(y, n_folds, RowGroups(codes), random_state=seed)
    np.testing.assert_array_equal(np.sort(np.concatenate([b for _, b in folds])), np.arange(len(y)))
    for train, test in folds:
        assert len(test)
        assert not np.isin(codes[test], codes[train]).any()
        assert len(train) + len(test) == len(y)
    again = stratified_folds(y, n_folds, RowGroups(codes), random_state=seed)
    assert_same_folds(folds, again)


def unevenness(y, folds):
    shares = np.array([np.bincount(y[test], minlength=3) for _, test in folds])
    return np.abs(shares - shares.mean(axis=0)).max()


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_spread_at_least_as_evenly_as_by_scikit_learn(seed):
    rng = np.random.RandomState(seed)
    codes = rng.randint(150, size=300)
    y = rng.choice(3, p=[0.6, 0.3, 0.1], size=300)
    mine = stratified_folds(y, 5, RowGroups(codes), random_state=seed)
    theirs = StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(codes, y, codes)
    assert unevenness(y, mine) <= 1.0
    assert unevenness(y, mine) <= unevenness(y, list(theirs))


def test_seeds_draw_other_folds():
    codes = np.arange(60) // 2
    y = codes % 2
    drawn = [deal_groups(y, codes, 3, np.random.RandomState(seed)) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    repeats = stratified_folds(y, 3, RowGroups(codes), n_repeats=2, random_state=0)
    assert len(repeats) == 6
    assert repeats[0][1].tolist() != repeats[3][1].tolist()


def test_groups_and_copies_that_cross_them_become_one():
    X = np.arange(8.0)[:, None]
    X[5] = X[0]  # a copy in another group
    together = row_groups(X, ["a", "a", "b", "b", "c", "c", "d", "e"])
    first, *rest = together.codes
    assert together.codes.tolist() == [first, first, rest[1], rest[1], first, first, *rest[5:]]
    assert len(set(together.codes)) == 4
    assert together.n_copies == 1
    assert together.notes == ("1 row is a copy of another; copies stay in the same fold.",)
    assert row_groups(X[:5], range(5)) == RowGroups(None, 0)


def structured(X):
    table = np.empty(len(X), dtype=[("a", float), ("b", "U9"), ("c", object)])
    table["a"], table["b"], table["c"] = X[:, 0], X[:, 1].astype(str), X[:, 2]
    return table


def frame(X):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(str), "c": X[:, 2] > 0})


FORMS = {
    "array": np.asarray,
    "single": lambda X: X.astype(np.float32),
    "integers": lambda X: (10 * X).astype(int),
    "list": np.ndarray.tolist,
    "objects": lambda X: X.astype(object),
    "sparse": sparse.csr_matrix,
    "sparse columns": sparse.csc_array,
    "structured": structured,
    "frame": frame,
    "texts": lambda X: [str(row) for row in X],
    "lists of different lengths": lambda X: [list(row[: 1 + int(row[0] > 0)]) for row in X],
    "columns at a time": lambda X: np.tile(X, 50_000),
    "pictures": lambda X: X[:, :, None].repeat(2, axis=2),
    "missing": lambda X: np.where(X > 0.5, np.nan, X),
}


@pytest.mark.parametrize("form", FORMS)
def test_copies_are_found_in_all_forms_of_rows(form):
    rng = np.random.RandomState(0)
    X = rng.randn(30, 3).round(2)
    X[20:] = X[:10]
    together = row_groups(FORMS[form](X))
    assert together.n_copies == 10
    assert (together.codes[20:] == together.codes[:10]).all()
    assert len(set(together.codes)) == 20


def test_rounding_makes_no_new_rows_and_no_copies():
    rng = np.random.RandomState(0)
    X = rng.randn(50, 3)
    noisy = np.r_[X, X * (1 + 1e-15), X + 1e-6]
    together = row_groups(noisy)
    assert together.n_copies == 50
    assert row_groups(X + 1e12).n_copies == 0  # far from zero, where 12 digits are too few
    assert row_groups(np.r_[X[:2], -0.0 * X[:1], 0.0 * X[:1]]).n_copies == 1
    assert row_groups(np.r_[X, [[np.inf, 0, 0]], [[np.inf, 0, 0]]]).n_copies == 1
    assert row_groups(10**15 + np.arange(9)[:, None]).n_copies == 0  # integers are exact
    assert row_groups(np.full((5, 2), np.nan)) == RowGroups(None, 0, 4)


def test_rows_of_a_few_categories_are_no_copies():
    """New rows equal known ones, too: who travelled on the Titanic has one of 16 forms."""
    rng = np.random.RandomState(0)
    X = np.stack([rng.randint(4, size=400), rng.randint(2, size=400), rng.rand(400) < 0.5], axis=1)
    together = row_groups(X)
    assert together.codes is None
    assert together.notes == (
        "384 rows equal others, as is to be expected of columns with so few values; they count as "
        "different rows.",
    )
    patients = row_groups(X, np.arange(400) // 4)
    np.testing.assert_array_equal(patients.codes, np.arange(400) // 4)
    rare = rng.randint(3, size=(60, 10))  # 59,049 forms: equal rows are copies
    assert row_groups(np.r_[rare, rare, rare]).n_copies >= 120
    assert row_groups(np.repeat(rng.randn(60, 1), 5, axis=0)).n_copies == 240
    zeros, y = np.zeros((20, 2)), np.arange(20) % 2
    assert row_groups(zeros) == RowGroups(None, 0, 19)
    assert evaluate(DummyClassifier(), zeros, y, cv=4).n_samples == 20


def test_fewer_groups_than_folds_are_refused():
    X, y, groups = np.arange(12.0)[:, None], np.arange(12) % 2, np.arange(12) // 4
    message = "5 folds cannot be made of 3 groups of rows: equal rows"
    with pytest.raises(ValueError, match=message):
        evaluate(NEAREST, X, y, cv=5, groups=groups)
    with pytest.raises(ValueError, match=f"Data set 'data': {message}"):
        compare([NEAREST], (X, y), cv=5, groups=groups)


def test_part_that_is_held_out_divides_no_group():
    rng = np.random.RandomState(0)
    codes, y = rng.randint(60, size=300), rng.randint(3, size=300)
    for stratify in (True, False):
        train, test = hold_out_part(y, 0.3, RowGroups(codes), stratify=stratify, random_state=0)
        assert not np.isin(codes[test], codes[train]).any()
        assert len(test) == pytest.approx(90, abs=6)  # a group has five rows
    shares = np.bincount(y[test]) / np.bincount(y)
    np.testing.assert_allclose(shares, 0.3, atol=0.12)
    lone = np.repeat([0, 1], [50, 2])
    train, test = hold_out_part(lone, 0.3, RowGroups(lone), stratify=False, random_state=0)
    assert sorted([len(train), len(test)]) == [2, 50]


def test_groups_reach_folds_and_models():
    X, y, rows = coin()
    X = X + 1e-3 * np.random.RandomState(1).randn(*X.shape)  # no copies, but nearly
    assert evaluate(NEAREST, X, y, cv=5, random_state=0).accuracy.value > 0.95
    found = evaluate(NEAREST, X, y, cv=5, groups=rows, random_state=0)
    assert 0.3 < found.accuracy.value < 0.7
    assert found.accuracy.high - found.accuracy.low > 0.2
    by_user = evaluate(NEAREST, X, y, cv=GroupKFold(5), groups=rows)
    assert 0.3 < by_user.accuracy.value < 0.7
    for groups in (rows, {"data": rows}):
        compared = compare([NEAREST], (X, y), cv=5, groups=groups, random_state=0)
        assert 0.3 < compared.means[0, 0] < 0.7
    settings = {"families": ["KernelGLVQ"], "max_fits": 10, "random_state": 0}
    assert 0.3 < AutoPrototypeClassifier(**settings).fit(X, y, groups=rows).best_score_ < 0.7
    search = AutoPrototypeClassifier(**settings)
    nested = nested_cross_validate(search, X, y, cv=2, groups=rows, random_state=0)
    assert (nested.inner_scores < 0.75).all()
    assert (
        group_keyword(make_pipeline(StandardScaler(), search)) == "autoprototypeclassifier__groups"
    )
    assert group_keyword(NEAREST) is None
    inside = compare([search], (X, y), cv=2, groups=rows, random_state=0)
    assert 0.3 < inside.means[0, 0] < 0.7


def test_wrong_groups_are_refused():
    X, y, rows = coin(10, 2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        evaluate(NEAREST, X, y, cv=3, groups=rows[:5])
    with pytest.raises(ValueError, match="groups belongs to one data set, but there are 2"):
        compare([NEAREST], ["iris", "wine"], groups=rows)
    with pytest.raises(ValueError, match=r"groups names \['x'\]; the data sets are 'data'"):
        compare([NEAREST], (X, y), groups={"x": rows})


def test_classes_of_few_different_rows_are_never_held_out_by_the_search():
    y = np.repeat([0, 1, 2], [20, 20, 9])
    codes = np.r_[np.arange(40), np.repeat([40, 41], [5, 4])]  # two rows and their copies
    plan = plan_search(y, RowGroups(codes), n_folds=5, seed=0)
    for train, tests, _ in (*plan.looks, *plan.others):
        assert not np.isin(np.concatenate(tests), np.arange(40, 49)).any()
        assert np.isin(np.arange(40, 49), train).all()


def test_regression_keeps_copies_together(rng):
    X, y = rng.randn(40, 2), rng.randn(40)
    X, y = np.r_[X, X], np.r_[y, y]
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    assert (nested_cross_validate(search, X, y, cv=4, random_state=0).n_test == 20).all()


def test_many_rows_take_little_time():
    X, y = make_classification(20_000, 20, random_state=0)
    X[10_000:12_000] = X[:2_000]
    folds = stratified_folds(y, 5, row_groups(X), random_state=0)
    assert unevenness(y, folds) <= 1.0
