"""Leave one row of every class out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    cross_val_predict,
    cross_val_score,
)

from protolearn import GLVQ
from protolearn.selection.held_out import LeaveOneOutFromEachClass


def times_tested(y, **settings):
    """Give how often each row is tested."""
    splits = list(LeaveOneOutFromEachClass(**settings).split(y, y))
    return np.bincount(np.concatenate([test for _, test in splits]), minlength=len(y))


@given(
    st.lists(st.integers(2, 7), min_size=2, max_size=4),
    st.none() | st.integers(1, 20),
    st.none() | st.integers(0, 9),
)
def test_one_row_of_every_class(sizes, n_splits, seed):
    y = np.random.RandomState(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    cv = LeaveOneOutFromEachClass(n_splits, random_state=seed)
    splits = list(cv.split(np.zeros((len(y), 2)), y))
    assert len(splits) == cv.get_n_splits(None, y) == (n_splits or max(sizes))
    for train, test in splits:
        assert sorted(y[test]) == list(range(len(sizes)))
        assert sorted([*train, *test]) == list(range(len(y)))
    times = times_tested(y, n_splits=n_splits, random_state=seed)
    for c in range(len(sizes)):
        assert np.ptp(times[y == c]) <= 1
    if n_splits is None:
        assert times.min() >= 1


def test_order_and_seed():
    y = np.repeat([0, 1], [5, 3])
    plain = [test.tolist() for _, test in LeaveOneOutFromEachClass().split(y, y)]
    assert plain == [[0, 5], [1, 6], [2, 7], [3, 5], [4, 6]]
    seeded = LeaveOneOutFromEachClass(random_state=3)
    first, again = ([test.tolist() for _, test in seeded.split(y, y)] for _ in range(2))
    assert first == again != plain


class Majority(ClassifierMixin, BaseEstimator):
    """Say the most frequent class; the larger label if two are."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[::-1][counts[::-1].argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


def test_it_cures_the_bias_of_leave_one_out():
    # Left out, a row leaves its class in the minority, so plain leave-one-out is always wrong.
    X, y = np.zeros((20, 1)), np.tile([0, 1], 10)
    assert cross_val_score(Majority(), X, y, cv=LeaveOneOut()).mean() == 0.0
    assert cross_val_score(Majority(), X, y, cv=LeaveOneOutFromEachClass()).mean() == 0.5


def test_in_searches_of_scikit_learn(iris):
    X, y = iris[0][::5], iris[1][::5]
    cv = LeaveOneOutFromEachClass(4, random_state=0)
    search = GridSearchCV(GLVQ(random_state=0), {"prototypes_per_class": [1, 2]}, cv=cv).fit(X, y)
    assert search.n_splits_ == 4
    assert len(cross_val_score(GLVQ(), X, y, cv=cv)) == 4
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(GLVQ(), X, y[:, None].ravel(), cv=LeaveOneOutFromEachClass(4))


def test_text_labels_and_parameters():
    y = ["b", "a", "b", "a"]
    assert times_tested(y).tolist() == [1, 1, 1, 1]
    assert "n_splits=2" in repr(LeaveOneOutFromEachClass(2))
    scores = cross_val_score(DummyClassifier(), np.zeros((4, 1)), y, cv=LeaveOneOutFromEachClass())
    assert scores.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("y", "n_splits", "message"),
    [
        (["a", "a", "b"], None, "Class b has one row"),
        (["a", "a"], None, "y has 1 classes"),
        ([0.1, 0.2, 0.35], None, "Unknown label type"),
        (None, None, "y is None"),
        ([0, 0, 1, 1], 0, "n_splits=0 of LeaveOneOutFromEachClass must be an integer"),
        ([0, 0, 1, 1], 1.5, "n_splits=1.5"),
    ],
)
def test_errors(y, n_splits, message):
    with pytest.raises(ValueError, match=message):
        list(LeaveOneOutFromEachClass(n_splits).split(np.zeros((3 if y is None else len(y), 1)), y))
