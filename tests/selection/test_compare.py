"""Fitting models on the same splits: what is fitted, how it is named, what is refused."""

import numpy as np
import pytest
from numpy.lib.recfunctions import structured_to_unstructured
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from protolearn import GLVQ
from protolearn.selection.comparison import compare
from protolearn.selection.comparison_fits import with_seeds

MODELS = {"bayes": GaussianNB(), "knn": KNeighborsClassifier(1)}


@pytest.fixture(scope="module")
def small():
    """Sixty rows of iris."""
    X, y = load_iris(return_X_y=True)
    return X[::2][:60], y[::2][:60]


class Fails(ClassifierMixin, BaseEstimator):
    """Cannot learn from rows without row number 0."""

    def fit(self, X, y):
        if 0.0 not in X[:, 0]:
            raise ArithmeticError("the first row is missing")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_scores_are_those_of_scikit_learn(distinct_iris):
    iris = distinct_iris
    found = compare(MODELS, iris, cv=4, n_repeats=2, random_state=3)
    assert found.models == ("bayes", "knn")
    assert found.datasets == ("data",)
    splits = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    for j, model in enumerate(MODELS.values()):
        np.testing.assert_array_equal(found.scores[0, j], cross_val_score(model, *iris, cv=splits))
    assert (found.fit_times > 0).all()
    np.testing.assert_array_equal(found.train_sizes + found.test_sizes, 149)
    assert found.notes == ()
    assert not hasattr(MODELS["bayes"], "classes_")  # only clones are fitted


def test_data_sets_by_name(small):
    found = compare([GaussianNB()], ["iris", "wine"], cv=3, random_state=0)
    assert found.datasets == ("iris", "wine")
    one = compare([GaussianNB()], "wine", cv=3, random_state=0)
    np.testing.assert_array_equal(one.scores[0], found.scores[1])
    both = compare([GaussianNB()], {"small": small, "iris": load_iris(return_X_y=True)}, cv=3)
    assert both.datasets == ("small", "iris")


def test_names_of_a_list(small):
    models = [make_pipeline(StandardScaler(), GLVQ()), GaussianNB(), GaussianNB(var_smoothing=1.0)]
    assert compare(models, small, cv=2).models == ("GLVQ", "GaussianNB 1", "GaussianNB 2")


def test_splitters(small):
    found = compare(MODELS, small, cv=ShuffleSplit(3, test_size=20, random_state=0))
    assert found.test_sizes.tolist() == [[20, 20, 20]]
    pairs = list(KFold(4).split(small[0]))
    found = compare(MODELS, small, cv=pairs)
    np.testing.assert_array_equal(
        found.scores[0, 0], cross_val_score(GaussianNB(), *small, cv=pairs)
    )
    iris = load_iris(return_X_y=True)
    found = compare([GaussianNB()], {"small": small, "iris": iris}, cv=LeaveOneOut())
    np.testing.assert_array_equal(found.n_splits, [60, 150])
    np.testing.assert_array_equal(np.isnan(found.scores[0, 0]), np.arange(150) >= 60)
    assert not np.isnan(found.means).any()


def test_scoring(small):
    scorer = make_scorer(matthews_corrcoef)
    named, made, function = (
        compare(MODELS, small, cv=3, scoring=scoring, random_state=0)
        for scoring in ("matthews_corrcoef", scorer, lambda model, X, y: scorer(model, X, y))
    )
    np.testing.assert_array_equal(named.scores, made.scores)
    np.testing.assert_array_equal(named.scores, function.scores)
    assert named.scoring == "matthews_corrcoef"


def test_frames_and_text_labels(small):
    pd = pytest.importorskip("pandas")
    X, y = small
    named = pd.Series(np.array(["one", "two", "three"])[y], index=np.arange(60)[::-1])
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(60)[::-1])
    expected = compare(MODELS, small, cv=3, random_state=0)
    np.testing.assert_array_equal(
        compare(MODELS, (frame, named), cv=3, random_state=0).scores, expected.scores
    )


def test_seeds(small):
    """Models without a seed get one, by the split; it does not depend on the other models."""
    X, y = small
    hard = X[:, :2] + np.random.RandomState(0).randn(60, 2), y
    free, fixed = (RandomForestClassifier(3, random_state=seed) for seed in (None, 7))
    first = compare({"free": free, "fixed": fixed}, hard, cv=3, random_state=0)
    again = compare(
        {"fixed": fixed, "more": GaussianNB(), "free": free}, hard, cv=3, random_state=0
    )
    np.testing.assert_array_equal(first.scores[0, 0], again.scores[0, 2])
    np.testing.assert_array_equal(first.scores[0, 1], again.scores[0, 0])
    splits = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    np.testing.assert_array_equal(first.scores[0, 1], cross_val_score(fixed, *hard, cv=splits))
    by_state = [
        compare([free], hard, cv=3, random_state=np.random.RandomState(5)).scores for _ in range(2)
    ]
    np.testing.assert_array_equal(*by_state)


def test_seeds_of_a_split():
    model = make_pipeline(RandomForestClassifier(), RandomForestClassifier(random_state=7), GLVQ())

    def seeds(seed, number):
        found = with_seeds(model, seed, number).get_params()
        return [found[name] for name in sorted(found) if name.endswith("random_state")]

    glvq, first, second = seeds(0, 0)
    assert second == 7
    others = [seed for at in ((0, 0), (0, 1), (1, 0)) for seed in seeds(*at)[:2]]
    assert len(set(others)) == 6
    assert [glvq, first, second] == seeds(0, 0)
    assert model[0].random_state is None


def test_jobs(small):
    models = {"forest": RandomForestClassifier(3), "glvq": GLVQ()}
    one, two = (compare(models, small, cv=3, random_state=0, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.scores, two.scores)


def test_a_fit_that_fails(small):
    X, y = small
    X = X + np.arange(60)[:, None] - X[:1]  # a zero in the first row alone
    models = {"good": GaussianNB(), "bad": Fails()}
    cv = KFold(3)
    with pytest.raises(RuntimeError, match=r"'bad' failed on data set 'd', split 0 ") as caught:
        compare(models, {"d": (X, y)}, cv=cv)
    assert "ArithmeticError: the first row is missing" in str(caught.value)
    assert "in fit" in caught.value.__notes__[0]  # where it happened
    with pytest.warns(FitFailedWarning, match=r"'bad' failed on data set 'd', split 0 "):
        found = compare(models, {"d": (X, y)}, cv=cv, error_score=np.nan)
    assert np.isnan(found.scores[0, 1]).tolist() == [True, False, False]
    with pytest.warns(FitFailedWarning, match="Its score is 0"):
        found = compare(models, {"d": (X, y)}, cv=cv, error_score=0)
    assert found.scores[0, 1, 0] == 0.0


def test_failures_can_be_told_apart(small):
    with pytest.warns(FitFailedWarning) as caught:
        compare({"good": GaussianNB(), "bad": Fails()}, small, cv=3, error_score=np.nan)
    told = {(one.message.model, one.message.reason) for one in caught}
    assert told == {("bad", "ArithmeticError: the first row is missing")}


def test_structured_rows(small):
    X, y = small
    rows = np.empty(len(X), dtype=[(name, float) for name in "abcd"])
    for j, name in enumerate("abcd"):
        rows[name] = X[:, j]
    plain = compare(MODELS, small, cv=3, random_state=0)
    columns = FunctionTransformer(structured_to_unstructured)
    models = {name: make_pipeline(columns, model) for name, model in MODELS.items()}
    found = compare(models, (rows, y), cv=3, random_state=0)
    np.testing.assert_array_equal(found.scores, plain.scores)


def test_progress_bar(small, capsys):
    with pytest.raises(RuntimeError, match="the first row is missing"):
        compare({"[bold]bad": Fails()}, {"set": small}, cv=3, verbose=1)
    shown = capsys.readouterr()
    assert "set: [bold]bad" in shown.err
    assert "0/3" in shown.err
    compare(MODELS, small, cv=3, verbose=True)
    shown = capsys.readouterr()
    assert "finished" in shown.err
    assert "6/6" in shown.err
    assert shown.out == ""
    compare(MODELS, small, cv=3)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": GaussianNB()}, r"models=GaussianNB\(\) must be a dict .* or a list"),
        ({"models": {}}, "models is empty"),
        ({"models": [GaussianNB]}, "is the class GaussianNB; give an object of it"),
        ({"models": [LinearRegression()]}, "expected a classifier"),
        ({"models": {"svm": "SVC"}}, "Model 'svm' is 'SVC'"),
        ({"models": {3: GaussianNB()}}, "name 3 of a model must be a string"),
        ({"datasets": []}, "datasets is empty"),
        ({"datasets": ["iris", "iris"]}, "must be different names"),
        ({"datasets": "irs"}, "Unknown data set 'irs'"),
        ({"datasets": np.eye(3)}, "datasets of type ndarray must be a dict of pairs"),
        ({"datasets": {"d": np.eye(3)}}, r"'d' must be a pair \(X, y\)"),
        ({"datasets": {"d": (np.eye(3), [0, 1])}}, "'d': .*inconsistent numbers of samples"),
        ({"datasets": {"d": (np.eye(4), [0.5, 1.5, 2.5, 3.5])}}, "'d': Unknown label type"),
        ({"datasets": {"d": (np.eye(4), [0, 0, 1, 1])}}, "'d': .*n_splits=10 greater than"),
        ({"cv": 1}, "cv=1 must be an integer of at least 2"),
        ({"cv": "five"}, "cv='five' must be a number of folds"),
        ({"cv": []}, "no splits"),
        ({"cv": GroupKFold(3)}, "'data': The 'groups' parameter should not be None"),
        ({"cv": KFold(3), "n_repeats": 2}, "n_repeats=2 is for an integer cv"),
        (
            {"cv": [([0, 1, 60], [2])], "datasets": ["iris", "wine"]},
            "belongs to one data set, but there are 2",
        ),
        ({"n_repeats": 0}, "n_repeats=0 must be an integer of at least 1"),
        ({"scoring": None}, "scoring=None must be the name of one score"),
        ({"scoring": "acuracy"}, "acuracy"),
        ({"scoring": ["accuracy"]}, "must be the name of one score"),
        ({"error_score": "nan"}, "error_score='nan' must be 'raise' or a number"),
        ({"verbose": -1}, "verbose=-1 must be an integer of at least 0"),
        ({"random_state": -1}, "random_state=-1 must be an integer of at least 0"),
    ],
)
def test_bad_input(small, change, message):
    with pytest.raises(ValueError, match=message):
        compare(**{"models": MODELS, "datasets": small, **change})
